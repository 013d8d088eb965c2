-- How long requests waited: one row for each resource of a ticket that was taken out of the queue, granted or not.
create table @schema@.waits (
  id       bigint generated always as identity primary key,
  grant_id uuid not null,
  name     text collate "C" not null,
  scope    text collate "C" not null,
  since    timestamptz not null,
  until    timestamptz not null
);
create index wait_until on @schema@.waits (until);

-- When the ticket was drawn. Tickets of before say when they were last heard of.
alter table @schema@.tickets add column since timestamptz;
update @schema@.tickets set since = refreshed_at;
alter table @schema@.tickets alter column since set default pg_catalog.clock_timestamp(), alter column since set not null;
