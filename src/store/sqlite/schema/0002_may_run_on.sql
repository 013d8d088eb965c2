-- What may still be running where nobody can stop it. Of a lease: what a run by force left; it lingers when its holder is done.
alter table leases add column may_run_on text;
-- Of a command below: it stays in the line, so that nobody beside it is let in, and inherits the lease.
alter table joins add column may_run_on text;
alter table joins add column remote integer not null default 0;
