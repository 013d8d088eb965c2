-- Commands below a holder that have left its line by their own word: the same settling, asked again, answers as it did.
-- The lease is that of the time; its row stays in the ledger, and takes these along when it is pruned.
create table left_joins (
  grant_id text    not null,
  lease    integer not null,
  key_hash text    not null,
  primary key (grant_id, lease)
) strict, without rowid;
create index left_join_lease on left_joins (lease);

-- When it is stale nobody takes it over without a person's word.
alter table leases add column ask integer not null default 0;
