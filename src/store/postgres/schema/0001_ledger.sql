-- The ledger of the PostgreSQL store, version 1. Moments are the server's own; spans are milliseconds. `@schema@` is
-- the schema's name. Names and scopes compare byte for byte, whatever the database's locale.

create table @schema@.meta (
  key   text not null primary key,
  value text not null
);

-- One row per resource that ever was: the token counter, and the lock that everybody takes who changes anything about
-- the resource. Never deleted.
create table @schema@.resources (
  name       text collate "C" not null check (octet_length(name) between 3 and 1024),
  scope      text collate "C" not null check (octet_length(scope) between 1 and 1024),
  last_token bigint not null default 0,
  primary key (name, scope)
) with (fillfactor = 50);

-- One row per resource and grant. Live while ended_at is null.
create table @schema@.leases (
  id             bigint generated always as identity primary key,
  scope          text collate "C" not null,
  name           text collate "C" not null,
  token          bigint      not null,
  grant_id       uuid        not null,
  key_hash       text        not null,
  session        uuid        not null,
  label          text        not null,
  host           text        not null,
  host_id        text        not null,
  pid            bigint,                         -- null when no command runs
  operation      text        not null,
  rule           text,
  state          text        not null check (state in ('held', 'kept', 'quarantined', 'remote')),
  explicit       boolean     not null default false, -- held by `locked acquire`
  takeable       boolean     not null default false, -- kept, and others may take it at once
  revoked        boolean     not null default false, -- marked for stealing
  remote         boolean     not null default false, -- its effect does not stop with its process
  adopted        boolean     not null default false, -- taken over from its own session
  settled        boolean     not null default false, -- its holder had its say
  reason         text,
  live_device    bigint,
  live_inode     bigint,
  files          jsonb       not null default '[]',
  debt           jsonb       not null default '[]', -- unproven files of predecessors
  ttl_ms         bigint      not null check (ttl_ms > 0),
  hold_ttl_ms    bigint,                         -- the explicit hold to hand back to
  hold_operation text,
  within_grant   uuid,                           -- the grant whose command asked for this one
  bad            text,                           -- a command below left a file bad: quarantined at the end
  may_run_on     text,                           -- what a run by force left running: lingers at the end
  expires_at     timestamptz,                    -- null: does not expire
  acquired_at    timestamptz not null,
  renewed_at     timestamptz not null,
  ended_at       timestamptz,
  ended_as       text check (ended_as in ('completed', 'failed', 'expired', 'stolen', 'human-action')),
  note           text,
  check ((ended_at is null) = (ended_as is null))
) with (fillfactor = 70);

-- The mutual exclusion.
create unique index lease_live on @schema@.leases (name, scope) where ended_at is null;
create index lease_grant on @schema@.leases (grant_id);
create index lease_session on @schema@.leases (session) where ended_at is null;
create index lease_owing on @schema@.leases (id) where ended_at is null and debt <> '[]';
create index lease_ended on @schema@.leases (ended_at, id) where ended_at is not null;
create index lease_ended_name on @schema@.leases (name, ended_at, id) where ended_at is not null;

-- The queue: the id is the place. It is drawn under the locks of all that the ticket waits for.
create table @schema@.tickets (
  id           bigint generated always as identity primary key,
  grant_id     uuid        not null unique,
  session      uuid        not null,
  holder       text        not null,
  host_id      text        not null,
  live_device  bigint,
  live_inode   bigint,
  within_grant uuid,
  silence_ms   bigint      not null check (silence_ms > 0),
  refreshed_at timestamptz not null
) with (fillfactor = 70);
create index ticket_session on @schema@.tickets (session);
create index ticket_within on @schema@.tickets (id) where within_grant is not null;

create table @schema@.ticket_resources (
  name   text collate "C" not null,
  scope  text collate "C" not null,
  ticket bigint not null references @schema@.tickets on delete cascade,
  primary key (name, scope, ticket)
);
create index ticket_resource_ticket on @schema@.ticket_resources (ticket);

-- Commands below a holder that joined its lease: a line, each link with one successor at most.
create table @schema@.joins (
  id           bigint generated always as identity primary key,
  lease        bigint not null,
  within_grant uuid   not null,                  -- the link before
  grant_id     uuid   not null,
  key_hash     text   not null,
  session      uuid   not null,
  label        text   not null,
  host         text   not null,
  host_id      text   not null,
  pid          bigint,
  operation    text   not null,
  live_device  bigint,
  live_inode   bigint,
  files        jsonb  not null default '[]',
  remote       boolean not null default false,   -- its effect does not stop with its process
  may_run_on   text                              -- settled, and something of it may still run: it stays in the line
);
create unique index join_line on @schema@.joins (lease, within_grant);
create index join_grant on @schema@.joins (grant_id);

-- One chain per (scope, path).
create table @schema@.receipts (
  id        bigint generated always as identity primary key,
  lease     bigint not null,
  scope     text collate "C" not null,
  path      text collate "C" not null,
  base      text,
  new       text   not null,
  blob      text,
  branch    text,
  host      text   not null,
  worktree  text,
  token     bigint not null,
  holder    text   not null,
  kind      text   not null,
  at        timestamptz not null
);
create index receipt_chain on @schema@.receipts (scope, path, id);
create index receipt_lease on @schema@.receipts (lease, id);
-- A settling that is sent twice leaves one receipt.
create unique index receipt_once on @schema@.receipts (lease, scope, path, new, coalesce(base, ''), kind);
