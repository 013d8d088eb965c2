-- When a session last ended something: what it did is its activity, and the ledger may be long.
create index lease_ended_session on leases (session, ended_at) where ended_at is not null;
