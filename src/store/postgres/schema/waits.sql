-- A ticket that leaves the queue leaves a trace of how long it stood there. Order: before the delete, which takes the
-- ticket's resources along.

create or replace function @schema@.note_wait() returns trigger
language plpgsql volatile as $body$
begin
  insert into @schema@.waits (grant_id, name, scope, since, until)
  select old.grant_id, r.name, r.scope, old.since, greatest(pg_catalog.clock_timestamp(), old.since)
    from @schema@.ticket_resources r where r.ticket = old.id;
  return old;
end $body$;

create or replace trigger note_wait before delete on @schema@.tickets for each row execute function @schema@.note_wait();

-- Requests that stood in the queue, granted or not, with how long.
create or replace view @schema@.waited as
  select w.scope, w.name as resource, w.since, w.until, floor(extract(epoch from w.until - w.since) * 1000)::bigint as waited_ms,
         exists (select 1 from @schema@.leases l where l.grant_id = w.grant_id and l.name = w.name and l.scope = w.scope) as granted
    from @schema@.waits w;

grant select on @schema@.waited to locked_reader;
