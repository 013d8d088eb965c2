-- Commands below a holder that have left its line by their own word: the same settling, asked again, answers as it did.
-- The lease is that of the time; its row stays in the ledger, and takes these along when it is pruned.
create table @schema@.left_joins (
  grant_id uuid   not null,
  lease    bigint not null,
  key_hash text   not null,
  primary key (grant_id, lease)
);
create index left_join_lease on @schema@.left_joins (lease);

-- When it is stale nobody takes it over without a person's word.
alter table @schema@.leases add column ask boolean not null default false;

-- Functions whose arguments have changed: the new ones would stand beside them.
drop function if exists @schema@.parts(uuid, text, uuid, jsonb);
drop function if exists @schema@.hold(uuid, text, uuid, jsonb);
drop function if exists @schema@.queue_up(@schema@.leases, text[], text[], bigint, timestamptz);
drop function if exists @schema@.ask(@schema@.leases, text, bigint, bigint, text[], text[], uuid[]);
drop function if exists @schema@.give(
  @schema@.leases, text, bigint, text[], text[], @schema@.leases[], text[], uuid[], timestamptz);
drop function if exists @schema@.acquire_any(
  uuid, text, uuid, jsonb, bigint, bigint, text, bigint, text, text, text, bigint, text, text, uuid, bigint, bigint, jsonb, boolean, uuid[]);
drop function if exists @schema@.acquire_otherwise(
  uuid, text, uuid, jsonb, bigint, bigint, text, bigint, text, text, text, bigint, text, text, uuid, bigint, bigint, jsonb, boolean, uuid[]);
drop function if exists @schema@.acquire_v1(
  uuid, text, uuid, jsonb, bigint, bigint, text, bigint, text, text, text, bigint, text, text, uuid, bigint, bigint, jsonb, boolean, uuid[]);
