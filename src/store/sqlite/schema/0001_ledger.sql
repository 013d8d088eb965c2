-- The ledger of the embedded store. Times named *_ms are milliseconds on the boot clock of the boot beside them; times
-- named *_at are milliseconds since 1970 on the wall clock, for showing.

create table meta (
  key   text not null primary key,
  value text not null
) strict, without rowid;

-- One row per resource that ever was: the token counter. Never deleted.
create table resources (
  scope      text    not null,
  name       text    not null,
  last_token integer not null,
  primary key (scope, name)
) strict, without rowid;

-- One row per resource and grant. Live while ended_at is null.
create table leases (
  id             integer primary key autoincrement,
  scope          text    not null,
  name           text    not null,
  token          integer not null,
  grant_id       text    not null,
  key_hash       text    not null,
  session        text    not null,
  label          text    not null,
  host           text    not null,
  host_id        text    not null,
  pid            integer,                      -- null when no command runs
  operation      text    not null,
  rule           text,
  state          text    not null check (state in ('held', 'kept', 'quarantined', 'remote')),
  explicit       integer not null default 0,   -- held by `locked acquire`
  takeable       integer not null default 0,   -- kept, and others may take it at once
  revoked        integer not null default 0,   -- marked for stealing
  remote         integer not null default 0,   -- its effect does not stop with its process
  adopted        integer not null default 0,   -- taken over from its own session
  settled        integer not null default 0,   -- its holder had its say
  reason         text,
  live_device    integer,
  live_inode     integer,
  files          text    not null default '[]',
  debt           text    not null default '[]', -- unproven files of predecessors
  ttl_ms         integer not null,
  hold_ttl_ms    integer,                      -- the explicit hold to hand back to
  hold_operation text,
  within_grant   text,                         -- the grant whose command asked for this one
  bad            text,                         -- a command below left a file bad: quarantined at the end
  boot           text    not null,
  expires_ms     integer,                      -- null: does not expire
  acquired_at    integer not null,
  renewed_at     integer not null,
  ended_at       integer,
  ended_as       text,
  note           text
) strict;

-- The mutual exclusion.
create unique index lease_live on leases (scope, name) where ended_at is null;
create index lease_grant on leases (grant_id);
create index lease_ended on leases (ended_at, id) where ended_at is not null;
create index lease_ended_name on leases (name, ended_at, id) where ended_at is not null;

-- The queue: the id is the place.
create table tickets (
  id           integer primary key autoincrement,
  grant_id     text    not null unique,
  holder       text    not null,
  host_id      text    not null,
  live_device  integer,
  live_inode   integer,
  within_grant text,
  silence_ms   integer not null,
  boot         text    not null,
  refreshed_ms integer not null
) strict;

create table ticket_resources (
  scope  text    not null,
  name   text    not null,
  ticket integer not null,
  primary key (scope, name, ticket)
) strict, without rowid;
create index ticket_resource_ticket on ticket_resources (ticket);

-- Commands below a holder that joined its lease: a line, each link with one successor at most.
create table joins (
  id           integer primary key autoincrement,
  lease        integer not null,
  within_grant text    not null,               -- the link before
  grant_id     text    not null,
  key_hash     text    not null,
  session      text    not null,
  label        text    not null,
  host         text    not null,
  host_id      text    not null,
  pid          integer,
  operation    text    not null,
  live_device  integer,
  live_inode   integer,
  files        text    not null default '[]'
) strict;
create unique index join_line on joins (lease, within_grant);
create index join_grant on joins (grant_id);

-- One chain per (scope, path).
create table receipts (
  id        integer primary key autoincrement,
  lease     integer not null,
  scope     text    not null,
  path      text    not null,
  base      text,
  new       text    not null,
  blob      text,
  branch    text,
  host      text    not null,
  worktree  text,
  token     integer not null,
  holder    text    not null,
  kind      text    not null,
  at        integer not null
) strict;
create index receipt_chain on receipts (scope, path, id);
-- A settling that is sent twice leaves one receipt.
create unique index receipt_once on receipts (lease, scope, path, new, coalesce(base, ''), kind);
