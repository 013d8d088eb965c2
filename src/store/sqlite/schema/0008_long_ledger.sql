-- What every status asks for, in a ledger of a million ended leases: when a session last ended something (which is its activity)
-- and what was left to a person.
create index lease_ended_session on leases (session, ended_at) where ended_at is not null;
create index lease_left on leases (ended_at, id) where ended_as = 'human-action';
