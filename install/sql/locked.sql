begin;

-- Before anything is made: one applier at a time, roles, and a schema that is ours. Runs in the transaction of what
-- follows.

select pg_advisory_xact_lock(hashtextextended('locked schema locked', 0));

do $body$
declare
  wanted text;
  owner name;
begin
  if current_setting('server_version_num')::integer < 140000 then
    raise exception using errcode = '0A000', message = 'locked: PostgreSQL 14 or later is needed';
  end if;
  -- Roles belong to the whole cluster: another database may make them at this very moment.
  foreach wanted in array array['locked_owner', 'locked_client', 'locked_reader'] loop
    if not exists (select 1 from pg_roles where rolname = wanted) then
      begin
        execute format('create role %I nologin', wanted);
      exception when duplicate_object or unique_violation then null;
      end;
    end if;
  end loop;
  if exists (select 1 from pg_roles where rolname = 'locked_owner' and (rolcanlogin or rolsuper or rolcreaterole or rolcreatedb or rolbypassrls)) then
    raise exception using errcode = '42501', message = 'locked: the role locked_owner may do more than own the schema',
      hint = 'alter role locked_owner nologin nosuperuser nocreaterole nocreatedb nobypassrls';
  end if;
  select r.rolname into owner from pg_namespace n join pg_roles r on r.oid = n.nspowner where n.nspname = 'locked';
  if owner <> 'locked_owner' then
    raise exception using errcode = '42501', message = 'locked: the schema locked belongs to somebody else',
      hint = 'name another schema for locked';
  end if;
  if not pg_has_role(current_user, 'locked_owner', 'member') then
    execute format('grant locked_owner to %I', current_user);
    perform set_config('locked.lent', 'yes', true);
  end if;
end $body$;

create schema if not exists "locked" authorization locked_owner;
set local role locked_owner;
-- Functions and tables name each other; they are all there at the end.
set local check_function_bodies = off;


-- The ledger of the PostgreSQL store, version 1. Moments are the server's own; spans are milliseconds. `"locked"` is
-- the schema's name. Names and scopes compare byte for byte, whatever the database's locale.

create table "locked".meta (
  key   text not null primary key,
  value text not null
);

-- One row per resource that ever was: the token counter, and the lock that everybody takes who changes anything about
-- the resource. Never deleted.
create table "locked".resources (
  name       text collate "C" not null check (octet_length(name) between 3 and 1024),
  scope      text collate "C" not null check (octet_length(scope) between 1 and 1024),
  last_token bigint not null default 0,
  primary key (name, scope)
) with (fillfactor = 50);

-- One row per resource and grant. Live while ended_at is null.
create table "locked".leases (
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
create unique index lease_live on "locked".leases (name, scope) where ended_at is null;
create index lease_grant on "locked".leases (grant_id);
create index lease_session on "locked".leases (session) where ended_at is null;
create index lease_owing on "locked".leases (id) where ended_at is null and debt <> '[]';
create index lease_ended on "locked".leases (ended_at, id) where ended_at is not null;
create index lease_ended_name on "locked".leases (name, ended_at, id) where ended_at is not null;

-- The queue: the id is the place. It is drawn under the locks of all that the ticket waits for.
create table "locked".tickets (
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
create index ticket_session on "locked".tickets (session);
create index ticket_within on "locked".tickets (id) where within_grant is not null;

create table "locked".ticket_resources (
  name   text collate "C" not null,
  scope  text collate "C" not null,
  ticket bigint not null references "locked".tickets on delete cascade,
  primary key (name, scope, ticket)
);
create index ticket_resource_ticket on "locked".ticket_resources (ticket);

-- Commands below a holder that joined its lease: a line, each link with one successor at most.
create table "locked".joins (
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
create unique index join_line on "locked".joins (lease, within_grant);
create index join_grant on "locked".joins (grant_id);

-- One chain per (scope, path).
create table "locked".receipts (
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
create index receipt_chain on "locked".receipts (scope, path, id);
create index receipt_lease on "locked".receipts (lease, id);
-- A settling that is sent twice leaves one receipt.
create unique index receipt_once on "locked".receipts (lease, scope, path, new, coalesce(base, ''), kind);

-- How long requests waited: one row for each resource of a ticket that was taken out of the queue, granted or not.
create table "locked".waits (
  id       bigint generated always as identity primary key,
  grant_id uuid not null,
  name     text collate "C" not null,
  scope    text collate "C" not null,
  since    timestamptz not null,
  until    timestamptz not null
);
create index wait_until on "locked".waits (until);

-- When the ticket was drawn. Tickets of before say when they were last heard of.
alter table "locked".tickets add column since timestamptz;
update "locked".tickets set since = refreshed_at;
alter table "locked".tickets alter column since set default pg_catalog.clock_timestamp(), alter column since set not null;

-- Commands below a holder that have left its line by their own word: the same settling, asked again, answers as it did.
-- The lease is that of the time; its row stays in the ledger, and takes these along when it is pruned.
create table "locked".left_joins (
  grant_id uuid   not null,
  lease    bigint not null,
  key_hash text   not null,
  primary key (grant_id, lease)
);
create index left_join_lease on "locked".left_joins (lease);

-- When it is stale nobody takes it over without a person's word.
alter table "locked".leases add column ask boolean not null default false;

-- Functions whose arguments have changed: the new ones would stand beside them.
drop function if exists "locked".parts(uuid, text, uuid, jsonb);
drop function if exists "locked".hold(uuid, text, uuid, jsonb);
drop function if exists "locked".queue_up("locked".leases, text[], text[], bigint, timestamptz);
drop function if exists "locked".ask("locked".leases, text, bigint, bigint, text[], text[], uuid[]);
drop function if exists "locked".give(
  "locked".leases, text, bigint, text[], text[], "locked".leases[], text[], uuid[], timestamptz);
drop function if exists "locked".acquire_any(
  uuid, text, uuid, jsonb, bigint, bigint, text, bigint, text, text, text, bigint, text, text, uuid, bigint, bigint, jsonb, boolean, uuid[]);
drop function if exists "locked".acquire_otherwise(
  uuid, text, uuid, jsonb, bigint, bigint, text, bigint, text, text, text, bigint, text, text, uuid, bigint, bigint, jsonb, boolean, uuid[]);
drop function if exists "locked".acquire_v1(
  uuid, text, uuid, jsonb, bigint, bigint, text, bigint, text, text, text, bigint, text, text, uuid, bigint, bigint, jsonb, boolean, uuid[]);

-- Whether a content has a receipt, whatever its path.
create index receipt_new on "locked".receipts (scope, new);
create index receipt_blob on "locked".receipts (scope, blob) where blob is not null;


-- Which sessions work on what, in their own words.
create table "locked".sessions (
  session  uuid        not null primary key,
  name     text        not null,
  domain   text        not null,
  task     text        not null,
  label    text        not null,
  host     text        not null,
  began_at timestamptz not null,
  seen_at  timestamptz not null,
  ended_at timestamptz
);

-- Words for who holds something. They go when they are heard.
create table "locked".words (
  id      bigint generated always as identity primary key,
  session uuid        not null,                  -- for whom
  holder  text        not null,                  -- from whom
  about   text        not null,
  word    text        not null,
  at      timestamptz not null
);
create index word_session on "locked".words (session, id);

-- What was counted and is not in the ledger any more.
create table "locked".tally (
  what  text   not null primary key,
  count bigint not null
);

-- The issue that a lease is for, which check asks about. In rows of before it stands at the end of the operation alone.
alter table "locked".leases add column issue text;
-- That of the explicit hold which a command has adopted, to hand back to, and the rule of that hold.
alter table "locked".leases add column hold_issue text;
alter table "locked".leases add column hold_rule text;

-- What every status asks for, in a ledger of a million ended leases: when a session last ended something (which is its activity)
-- and what was left to a person.
create index lease_ended_session on "locked".leases (session, ended_at) where ended_at is not null;
create index lease_left on "locked".leases (ended_at, id) where ended_as = 'human-action';

-- What a row says of itself at a moment. Small and pure, so that the planner inlines them.

-- The one clock. Whoever judges time reads it after the locks are had: an earlier moment would be as old as the wait.
create or replace function "locked".clock() returns timestamptz
language sql volatile as $body$
  select pg_catalog.clock_timestamp()
$body$;

-- Milliseconds since 1970, for showing and for tokens.
create or replace function "locked".ms(moment timestamptz) returns bigint
language sql immutable as $body$
  select floor(extract(epoch from moment) * 1000)::bigint
$body$;

create or replace function "locked".span(ms bigint) returns interval
language sql immutable as $body$
  select ms * interval '1 millisecond'
$body$;

create or replace function "locked".who(session uuid, label text) returns text
language sql immutable as $body$
  select left(session::text, 8) || ' (' || label || ')'
$body$;

-- The issue that stands behind an operation, as `terms::Issue` writes it.
create or replace function "locked".issue_of(operation text) returns text
language sql immutable as $body$
  select substring(operation from ' for ((?:[A-Za-z0-9_.][-A-Za-z0-9_.]*/){1,2}[A-Za-z0-9_.][-A-Za-z0-9_.]*#[0-9]+)$')
$body$;

-- The issue that a lease is for; rows of before have it behind the operation alone.
create or replace function "locked".issue(l "locked".leases) returns text
language sql immutable as $body$
  select coalesce(l.issue, "locked".issue_of(l.operation))
$body$;

-- The same of what its session holds by its own word: under a command that has adopted it, the hold's.
create or replace function "locked".own_issue(l "locked".leases) returns text
language sql immutable as $body$
  select case when l.hold_ttl_ms is null then "locked".issue(l) else coalesce(l.hold_issue, "locked".issue_of(l.hold_operation)) end
$body$;

-- A command runs under it.
create or replace function "locked".runs(l "locked".leases) returns boolean
language sql immutable as $body$
  select l.state = 'held' and not l.explicit
$body$;

-- Its session has it without a running command.
create or replace function "locked".rests(l "locked".leases) returns boolean
language sql immutable as $body$
  select l.state in ('kept', 'quarantined') or (l.state = 'held' and l.explicit)
$body$;

-- A command with a remote effect ended unsettled; nobody may come in until a TTL has passed over that.
create or replace function "locked".lingers(l "locked".leases, t timestamptz) returns boolean
language sql immutable as $body$
  select l.state = 'held' and not l.explicit and l.remote
    and coalesce(l.expires_at <= t and l.expires_at + l.ttl_ms * interval '1 millisecond' > t, false)
$body$;

-- How long it still lasts, in milliseconds; zero when expired, null when it does not expire.
create or replace function "locked".expires_in(l "locked".leases, t timestamptz) returns bigint
language sql immutable as $body$
  select case when l.expires_at is null then null
              when "locked".lingers(l, t) then "locked".ms(l.expires_at) + l.ttl_ms - "locked".ms(t)
              else greatest(0, "locked".ms(l.expires_at) - "locked".ms(t)) end
$body$;

-- One reason after another, each once however often it is told.
create or replace function "locked".moreover(before text, why text) returns text
language sql immutable as $body$
  select case when before is null then why
              when position(why in before) > 0 then before
              else left(before || '; ' || why, 4000) end
$body$;

-- A reason for the row's new state. Who took it away, and why, is never lost over what comes after.
create or replace function "locked".because(l "locked".leases, why text) returns text
language sql immutable as $body$
  select case when l.revoked then "locked".moreover(l.reason, why) else why end
$body$;

-- How it ends: what was taken away and failed, as a command does that is stopped, was stolen.
create or replace function "locked".ended(l "locked".leases, how text) returns text
language sql immutable as $body$
  select case when l.revoked and how = 'failed' then 'stolen' else how end
$body$;

-- The state that people see.
create or replace function "locked".seen_as(l "locked".leases, t timestamptz) returns text
language sql immutable as $body$
  select case when l.state = 'quarantined' then 'quarantined'
              when "locked".lingers(l, t) then 'remote'
              when l.expires_at <= t then 'expired'
              when l.state = 'remote' then 'remote'
              when l.revoked then 'revoked'
              else l.state end
$body$;

-- The waiter has not been heard of for so long that others pass it.
create or replace function "locked".silent(k "locked".tickets, t timestamptz) returns boolean
language sql immutable as $body$
  select k.refreshed_at + k.silence_ms * interval '1 millisecond' < t
$body$;

-- A refresh is worth a write: half of the silence that others grant it has passed.
create or replace function "locked".needs_refresh(k "locked".tickets, t timestamptz) returns boolean
language sql immutable as $body$
  select k.refreshed_at + (k.silence_ms / 2) * interval '1 millisecond' <= t
$body$;

-- What a live lease means to who asks for its resource. The order of the arms is the rule: a quarantine yields to a
-- restore alone, what has expired belongs to nobody, unless a person must say so first, and a running command of one's own
-- session is in the way like anyone's.
create or replace function "locked".fate(l "locked".leases, q "locked".leases, claim text, t timestamptz) returns text
language sql immutable as $body$
  select case
    when l.grant_id = q.grant_id and l.key_hash = q.key_hash then 'ours'
    when l.state = 'quarantined' then case when claim = 'restore' then 'restore' else 'blocks' end
    when "locked".lingers(l, t) then 'blocks'
    when l.expires_at <= t and (not l.ask or l.revoked or l.session = q.session) then 'reclaim'
    when l.expires_at <= t then 'blocks'
    when l.state = 'kept' and l.takeable and not l.revoked and not l.ask then 'take'
    when l.session = q.session and "locked".rests(l) and not l.revoked then 'adopt'
    else 'blocks' end
$body$;

-- What may be asked: every argument that comes from outside passes here. Texts for people are cut, everything that
-- decides is refused with a sentence that says what is wrong.

create or replace function "locked".refuse(what text) returns void
language plpgsql volatile as $body$
begin
  raise exception using errcode = '22023', message = 'locked: ' || what;
end $body$;

-- A text for people, at most 2,000 characters.
create or replace function "locked".shown(told text) returns text
language sql immutable as $body$
  select left(told, 2000)
$body$;

-- The hash that is kept of a lease key: SHA-256 of its 32 bytes, which come as 64 hex digits.
create or replace function "locked".hash(key text) returns text
language plpgsql immutable as $body$
begin
  if key is null or key !~ '^[0-9a-f]{64}$' then
    perform "locked".refuse('key must be 64 hex digits: 32 random bytes');
  end if;
  return encode(sha256(decode(key, 'hex')), 'hex');
end $body$;

-- A list of records within its limits.
create or replace function "locked".records(what text, given jsonb, most integer) returns jsonb
language plpgsql immutable as $body$
begin
  if given is null or jsonb_typeof(given) <> 'array' then
    perform "locked".refuse(what || ' must be a JSON array');
  elsif jsonb_array_length(given) > most then
    perform "locked".refuse(format('%s: %s are too many, at most %s', what, jsonb_array_length(given), most));
  elsif octet_length(given::text) > 4194304 then
    perform "locked".refuse(what || ' is longer than 4 MiB');
  end if;
  return given;
end $body$;

-- A span within its limits: at least a millisecond, at most thirty days.
create or replace function "locked".lasting(what text, ms bigint) returns bigint
language plpgsql immutable as $body$
begin
  if ms is null or ms < 1 or ms > 2592000000 then
    perform "locked".refuse(what || ' must be between 1 ms and 30 days');
  end if;
  return ms;
end $body$;

-- Resources as two arrays in byte order of name, then scope: the order in which everybody takes their locks.
create or replace function "locked".wanted(resources jsonb, out names text[], out scopes text[])
language plpgsql immutable as $body$
begin
  perform "locked".records('resources', resources, 256);
  select coalesce(array_agg(w.name order by w.name collate "C", w.scope collate "C"), '{}'),
         coalesce(array_agg(w.scope order by w.name collate "C", w.scope collate "C"), '{}')
    into names, scopes
    from (select distinct r ->> 'name' as name, r ->> 'scope' as scope from jsonb_array_elements(resources) r) w;
  if exists (select 1 from unnest(names, scopes) as w(name, scope)
             where w.name is null or w.name !~ '^[a-z0-9_-]+:[^[:space:][:cntrl:]]+$' or octet_length(w.name) > 512
                or w.scope is null or w.scope !~ '^[^[:cntrl:]]+$' or octet_length(w.scope) > 1024) then
    perform "locked".refuse('each resource is {"scope": …, "name": "kind:name"}, printable, the name at most 512 bytes');
  end if;
end $body$;

-- Grants are confirmed only when they will survive a crash of the server. Only ever raised.
create or replace function "locked".durable() returns void
language plpgsql volatile as $body$
begin
  if current_setting('synchronous_commit') in ('off', 'local') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end $body$;

-- The functions lock rows and then read what others committed meanwhile, so each statement needs a view of its own.
create or replace function "locked".ready() returns void
language plpgsql volatile as $body$
begin
  if pg_is_in_recovery() then
    raise exception using errcode = '25006', message = 'locked: this server is a standby';
  elsif current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception using errcode = '25001', message = 'locked: the transaction is not read committed',
      hint = 'alter role … set default_transaction_isolation = ''read committed''';
  end if;
  perform "locked".durable();
end $body$;

-- Locks the rows of these resources in byte order, those that are missing made first where asked.
create or replace function "locked".lock(names text[], scopes text[], make boolean) returns void
language plpgsql volatile as $body$
begin
  if make then
    insert into "locked".resources (name, scope)
    select w.name, w.scope from unnest(names, scopes) as w(name, scope)
    order by w.name collate "C", w.scope collate "C"
    on conflict do nothing;
  end if;
  perform 1 from "locked".resources r
  join unnest(names, scopes) as w(name, scope) on r.name = w.name and r.scope = w.scope
  order by r.name, r.scope for update of r;
end $body$;

-- Debt: files that predecessors may have written and nobody has proven yet. It travels from lease to lease until a
-- holder records its files anew or settles. One record: {token, holder, operation, host, files, own?, grant?}. `own`: of
-- this session itself, which went on with it. `grant`: a command may have run under it, and what is left of it must end
-- before the next one starts.

create or replace function "locked".is_own(d jsonb) returns boolean
language sql immutable as $body$
  select coalesce((d ->> 'own')::boolean, false)
$body$;

-- The debts with one more: files that somebody may have written who is not there to say. No files, no debt.
create or replace function "locked".owing(debts jsonb, token bigint, holder text, operation text, host text, files jsonb)
returns jsonb language sql immutable as $body$
  select case when files = '[]' then debts else debts || jsonb_build_array(jsonb_build_object(
    'token', token, 'holder', holder, 'operation', operation, 'host', host, 'files', files)) end
$body$;

-- What the successor of an unsettled row owes: the row's own debt, the files that it may have written, and the grant
-- under which a command may have run. A file whose record says nothing new is not repeated, and who still owes to
-- others has started nothing, so that a crash that comes again and again does not make the record grow.
create or replace function "locked".left_by(l "locked".leases) returns jsonb
language plpgsql immutable as $body$
declare
  debts jsonb;
  fresh jsonb;
  ran boolean;
begin
  -- What a command below the holder left is under the holder's own token: then the holder did run.
  ran := "locked".runs(l) and not exists (
    select 1 from jsonb_array_elements(l.debt) d where not "locked".is_own(d) and (d ->> 'token')::bigint <> l.token);
  select coalesce(jsonb_agg(x.d - 'own' order by x.n), '[]') into debts
    from jsonb_array_elements(l.debt) with ordinality x(d, n);
  select coalesce(jsonb_agg(x.f order by x.n), '[]') into fresh
    from jsonb_array_elements(l.files) with ordinality x(f, n)
    where not exists (select 1 from jsonb_array_elements(debts) d, jsonb_array_elements(d -> 'files') g
                      where d ->> 'host' = l.host and g = x.f);
  if ran or fresh <> '[]' then
    debts := debts || jsonb_build_array(jsonb_build_object(
      'token', l.token, 'holder', "locked".who(l.session, l.label), 'operation', l.operation, 'host', l.host,
      'files', fresh) || case when ran then jsonb_build_object('grant', l.grant_id) else '{}' end);
  end if;
  return debts;
end $body$;

-- The same when the row's own session goes on with it. What came to it from others is still to be proven: left_by puts the
-- row's own files behind what it owed already.
create or replace function "locked".kept_by_own(l "locked".leases) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select coalesce(jsonb_agg(case when (l.debt -> (x.n::integer - 1)) is null or "locked".is_own(l.debt -> (x.n::integer - 1))
                                   then x.d || '{"own": true}' else x.d end order by x.n), '[]')
    from jsonb_array_elements("locked".left_by(l)) with ordinality x(d, n));
end $body$;

-- All of it as its own: who restores looks at each file.
create or replace function "locked".all_own(l "locked".leases) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select coalesce(jsonb_agg(x.d || '{"own": true}' order by x.n), '[]')
    from jsonb_array_elements("locked".left_by(l)) with ordinality x(d, n));
end $body$;

-- What it owes to others: files that nobody has proven.
create or replace function "locked".to_others(debts jsonb) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select coalesce(jsonb_agg(x.d order by x.n), '[]')
    from jsonb_array_elements(debts) with ordinality x(d, n) where not "locked".is_own(x.d) and x.d -> 'files' <> '[]');
end $body$;

-- What stays when the holder has proven what it had to prove.
create or replace function "locked".unpaid(debts jsonb) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select coalesce(jsonb_agg(x.d order by x.n), '[]')
    from jsonb_array_elements(debts) with ordinality x(d, n) where "locked".is_own(x.d));
end $body$;

-- For views: a row's own files and those that it owes from its own host.
create or replace function "locked".all_files(l "locked".leases) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select l.files || coalesce((
      select jsonb_agg(f.f order by x.n, f.n)
      from jsonb_array_elements(l.debt) with ordinality x(d, n), jsonb_array_elements(x.d -> 'files') with ordinality f(f, n)
      where x.d ->> 'host' = l.host), '[]'));
end $body$;

-- A grant's answer with what its debts mean to the new holder: to prove, to end, and known to its own session.
create or replace function "locked".told(answer jsonb, debts jsonb, name text, scope text) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select answer || jsonb_build_object(
      'unsettled', (answer -> 'unsettled') || coalesce(jsonb_agg(e.told order by e.n) filter (where not e.own and e.files <> '[]'), '[]'),
      'carried', (answer -> 'carried') || coalesce(jsonb_agg(e.told order by e.n) filter (where e.own), '[]'),
      'reclaimed', (answer -> 'reclaimed') || coalesce(jsonb_agg(e.grant_id order by e.n) filter (where not e.own and e.grant_id is not null), '[]'))
    from (select x.n, "locked".is_own(x.d) as own, x.d -> 'files' as files, x.d -> 'grant' as grant_id,
                 (x.d - 'own' - 'grant') || jsonb_build_object('name', name, 'scope', scope) as told
          from jsonb_array_elements(debts) with ordinality x(d, n)) e);
end $body$;

-- Nesting: a command below a holder joins its lease instead of waiting for its own ancestor. The joins of a lease are a
-- line: the holder, the command that joined it, the command below that one, and so on. Each link has at most one
-- successor at a time, so siblings exclude each other. Ancestry is what the rows say: a grant remembers within which
-- grant it was asked for.

-- The grants above a request, the nearest first. Ended ones count too: what they stood in may still run, and only a
-- running lease is ever joined. Bounded: what somebody put in an environment must not make us run in circles.
create or replace function "locked".chain(within_grant uuid) returns uuid[]
language plpgsql stable as $body$
declare
  above uuid[] := '{}';
  link uuid := within_grant;
begin
  while link is not null and link <> all (above) and cardinality(above) < 512 loop
    above := above || link;
    select x.within_grant into link from (
      select l.within_grant from "locked".leases l where l.grant_id = link and l.within_grant is not null
      union all
      select j.within_grant from "locked".joins j where j.grant_id = link) x limit 1;
  end loop;
  return above;
end $body$;

-- How a nested request stands with a lease in its way: `stranger`, no ancestor of ours holds it; `may join`, below that
-- grant; `joined` already, and the answer was lost; `sibling`, a command beside us has joined, and we wait for it.
create or replace function "locked".line(l "locked".leases, above uuid[], q "locked".leases, out stands text, out below uuid)
language plpgsql stable as $body$
declare
  j "locked".joins%rowtype;
begin
  if not "locked".runs(l) or l.grant_id <> all (above) then
    stands := 'stranger';
    return;
  end if;
  below := l.grant_id;
  loop
    select * into j from "locked".joins x where x.lease = l.id and x.within_grant = below;
    if not found then
      stands := 'may join';
      return;
    elsif j.grant_id = q.grant_id and j.key_hash = q.key_hash then
      stands := 'joined';
      return;
    elsif j.grant_id <> all (above) then
      stands := 'sibling';
      return;
    end if;
    below := j.grant_id;
  end loop;
end $body$;

-- Joins, for at least this long.
create or replace function "locked".join_line(l "locked".leases, below uuid, q "locked".leases, lasts bigint, t timestamptz)
returns void language plpgsql volatile as $body$
begin
  insert into "locked".joins (lease, within_grant, grant_id, key_hash, session, label, host, host_id, pid, operation,
                             live_device, live_inode, files, remote)
  values (l.id, below, q.grant_id, q.key_hash, q.session, q.label, q.host, q.host_id, q.pid, q.operation,
          q.live_device, q.live_inode, q.files, q.remote);
  -- What is done elsewhere for the command below is done under the holder's lease.
  update "locked".leases x
     set remote = x.remote or q.remote,
         expires_at = case when x.expires_at is not null then greatest(x.expires_at, t + "locked".span(lasts)) end
   where x.id = l.id;
end $body$;

-- Takes a join out of the line; what stood below it stands below its predecessor now.
create or replace function "locked".leave_line(j "locked".joins) returns void
language plpgsql volatile as $body$
declare
  predecessor uuid;
begin
  delete from "locked".joins x where x.id = j.id returning x.within_grant into predecessor;
  update "locked".joins x set within_grant = predecessor where x.lease = j.lease and x.within_grant = j.grant_id;
end $body$;

-- A join has had its say: it leaves the line, and is remembered, in case the answer to that is lost.
create or replace function "locked".part_from(j "locked".joins) returns void
language plpgsql volatile as $body$
begin
  insert into "locked".left_joins (grant_id, lease, key_hash) values (j.grant_id, j.lease, j.key_hash) on conflict do nothing;
  perform "locked".leave_line(j);
end $body$;

-- Something of the join may still be running: it stays in the line until that is over or the lease is.
create or replace function "locked".stay(j "locked".joins, why text) returns void
language plpgsql volatile as $body$
begin
  update "locked".joins x set may_run_on = why, pid = null where x.id = j.id;
  update "locked".leases l set remote = true where l.id = j.lease;
end $body$;

-- A dead join leaves the line, and its files become a debt of the lease.
create or replace function "locked".bury(j "locked".joins) returns void
language plpgsql volatile as $body$
begin
  perform "locked".leave_line(j);
  update "locked".leases l
     set debt = "locked".owing(l.debt, l.token, "locked".who(j.session, j.label), j.operation, j.host, j.files)
   where l.id = j.lease;
end $body$;

-- The joins of a lease that is over for all of them: what they may have written is owed by who takes it over.
create or replace function "locked".bury_all(l "locked".leases) returns "locked".leases
language plpgsql volatile as $body$
declare
  j "locked".joins%rowtype;
begin
  for j in select * from "locked".joins x where x.lease = l.id order by x.id loop
    perform "locked".bury(j);
  end loop;
  select * into l from "locked".leases x where x.id = l.id;
  return l;
end $body$;

-- The join has the lease now, in a row of its own under the same token. The holder's row has ended. What may still be
-- running of the join is given one TTL from here, and more when its keeper says so.
create or replace function "locked".inherit(l "locked".leases, j "locked".joins, t timestamptz) returns void
language plpgsql volatile as $body$
declare
  heir bigint;
begin
  insert into "locked".leases (scope, name, token, grant_id, key_hash, session, label, host, host_id, pid, operation, state,
                              settled, reason, remote, live_device, live_inode, files, debt, bad, may_run_on, ttl_ms, hold_ttl_ms,
                              hold_operation, hold_issue, hold_rule, issue, within_grant, expires_at, acquired_at, renewed_at, revoked, ask)
  select x.scope, x.name, x.token, j.grant_id, j.key_hash, j.session, j.label, j.host, j.host_id, j.pid, j.operation,
         case when j.may_run_on is null then 'held' else 'remote' end, j.may_run_on is not null,
         -- What was taken from the holder is taken from who goes on with it.
         case when j.may_run_on is not null then "locked".because(x, j.may_run_on) when x.revoked then x.reason end,
         x.remote, j.live_device, j.live_inode, j.files,
         (select coalesce(jsonb_agg(d.d - 'own' order by d.n), '[]') from jsonb_array_elements(x.debt) with ordinality d(d, n)), x.bad, x.may_run_on, x.ttl_ms, x.hold_ttl_ms, x.hold_operation,
         x.hold_issue, x.hold_rule, x.issue,
         x.grant_id, case when j.may_run_on is null then x.expires_at else t + "locked".span(x.ttl_ms) end, t, t, x.revoked, x.ask
  from "locked".leases x where x.id = l.id
  returning id into heir;
  delete from "locked".joins x where x.id = j.id;
  update "locked".joins x set lease = heir where x.lease = l.id;
end $body$;

-- Would waiting close a circle? True when one who stands in our way waits, over however many others, for a command above
-- us. `place` is the number of our ticket: of a circle only the youngest request is refused, so that the others go on.
-- Stable: it reads one moment of the tables, so that two states never make a circle that was not there.
create or replace function "locked".closes(above uuid[], in_the_way uuid[], place bigint, t timestamptz) returns boolean
language plpgsql stable as $body$
declare
  waiting uuid[];
  more uuid[];
  seen uuid[] := '{}';
  holder uuid;
begin
  -- What a command above us holds is joined; only who joined it before us is in the way.
  select array_agg(w) into waiting from unnest(in_the_way) w
   where w <> all (above)
     and (exists (select 1 from "locked".leases l where l.grant_id = w and l.ended_at is null)
          or exists (select 1 from "locked".joins j where j.grant_id = w));
  while cardinality(waiting) > 0 loop
    holder := waiting[1];
    waiting := waiting[2:];
    if holder = any (above) then
      return true;
    end if;
    continue when holder = any (seen);
    seen := seen || holder;
    select array_agg(h.grant_id) into more
      from (select k.id, "locked".chain(k.within_grant) as chain from "locked".tickets k
            where k.within_grant is not null and k.id < place and not "locked".silent(k, t)) k
      join "locked".ticket_resources r on r.ticket = k.id
      join "locked".leases l on l.name = r.name and l.scope = r.scope and l.ended_at is null
      cross join lateral (select l.grant_id union all
                          select j.grant_id from "locked".joins j where j.lease = l.id) h
     where holder = any (k.chain) and h.grant_id <> all (k.chain);
    waiting := waiting || more;
  end loop;
  return false;
end $body$;

-- The queue: one ticket per waiting request over all its resources.

-- How many wait for this resource.
create or replace function "locked".waiters(of_name text, of_scope text, t timestamptz) returns integer
language plpgsql stable as $body$
begin
  return (
    select count(*)::integer from "locked".ticket_resources r join "locked".tickets k on k.id = r.ticket
    where r.name = of_name and r.scope = of_scope and not "locked".silent(k, t));
end $body$;

-- Joins the queue at its end; who comes first by a person's word, before everybody.
create or replace function "locked".queue_up(
  q "locked".leases, names text[], scopes text[], silence bigint, first boolean, t timestamptz)
returns void language plpgsql volatile as $body$
declare
  place bigint;
begin
  if (select count(*) >= 4096 from (select 1 from "locked".tickets k where k.session = q.session limit 4096) x) then
    perform "locked".refuse('this session waits for 4,096 grants already');
  end if;
  place := nextval(pg_get_serial_sequence('"locked".tickets', 'id')) * case when first then -1 else 1 end;
  insert into "locked".tickets (id, grant_id, session, holder, host_id, live_device, live_inode, within_grant, silence_ms, refreshed_at)
  overriding system value
  values (place, q.grant_id, q.session, "locked".who(q.session, q.label), q.host_id, q.live_device, q.live_inode, q.within_grant, silence, t);
  insert into "locked".ticket_resources (name, scope, ticket) select w.name, w.scope, place from unnest(names, scopes) as w(name, scope);
end $body$;

-- Takes the silent ones among these tickets out. One that somebody has in hand is heard again or gone already.
create or replace function "locked".drop_silent(names text[], scopes text[], place bigint, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  delete from "locked".tickets k where k.id in (
    select x.id from "locked".tickets x
     where x.id < place and "locked".silent(x, t)
       and exists (select 1 from "locked".ticket_resources r join unnest(names, scopes) as w(name, scope)
                   on r.name = w.name and r.scope = w.scope where r.ticket = x.id)
     order by x.id for update skip locked);
end $body$;

-- Older requests that share a resource, oldest first. One that also waits for what we adopt, or for what a command above
-- us runs under, cannot go before us anyhow (it waits for us), so passing it is not barging; holding back for it would
-- be a deadlock. `ours` marks the resources that we adopt or join.
create or replace function "locked".ahead(names text[], scopes text[], ours boolean[], above uuid[], place bigint, t timestamptz)
returns bigint[] language plpgsql stable as $body$
begin
  return (
    with mine as (select * from unnest(names, scopes, ours) as w(name, scope, ours)),
    passed as (
      select r.ticket from "locked".ticket_resources r join mine w on r.name = w.name and r.scope = w.scope where w.ours
      union all
      select r.ticket from "locked".leases l
        join "locked".ticket_resources r on r.name = l.name and r.scope = l.scope
       where l.grant_id = any (above) and l.ended_at is null and "locked".runs(l)
    )
    select coalesce(array_agg(k.id order by k.id), '{}') from "locked".tickets k
     where k.id in (select r.ticket from "locked".ticket_resources r join mine w on r.name = w.name and r.scope = w.scope)
       and k.id < place and not "locked".silent(k, t) and k.id not in (select p.ticket from passed p));
end $body$;

-- Tells those who listen that something may be free, where somebody waits for it. Said at the commit.
create or replace function "locked".tell(of_name text, of_scope text) returns void
language plpgsql volatile as $body$
begin
  if exists (select 1 from "locked".ticket_resources r where r.name = of_name and r.scope = of_scope) then
    perform pg_notify('locked', of_scope || ' ' || of_name);
  end if;
end $body$;

create or replace function "locked".leave_queue_v1(grant_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
begin
  perform "locked".ready();
  delete from "locked".tickets k where k.grant_id = leave_queue_v1.grant_id;
  return '{"answer": "left"}';
end $body$;

-- The chains of receipts: read whole, by their newest link, or by content.

create or replace function "locked".link(r "locked".receipts) returns jsonb
language sql stable as $body$
  select jsonb_build_object('scope', r.scope, 'path', r.path, 'base', r.base, 'new', r.new, 'blob', r.blob,
    'branch', r.branch, 'host', r.host, 'host_id', (select l.host_id from "locked".leases l where l.id = r.lease),
    'worktree', r.worktree, 'token', r.token, 'holder', r.holder, 'kind', r.kind, 'at', "locked".ms(r.at))
$body$;

-- The chain of one path, newest first.
create or replace function "locked".receipts_v1(scope text, path text, most integer default 100000) returns jsonb
language sql volatile security definer set search_path = pg_catalog, pg_temp as $body$
  select coalesce(jsonb_agg("locked".link(x) order by x.id desc), '[]')
    from (select r.* from "locked".receipts r where r.scope = receipts_v1.scope and r.path = receipts_v1.path
           order by r.id desc limit most) x
$body$;

-- The chains of these paths, one after the other, each newest first.
create or replace function "locked".chains_v1(scope text, paths jsonb) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
begin
  return (select coalesce(jsonb_agg("locked".link(x) order by p.n, x.id desc), '[]')
    from jsonb_array_elements_text("locked".records('paths', paths, 4096)) with ordinality p(p, n)
    cross join lateral (select r.* from "locked".receipts r where r.scope = chains_v1.scope and r.path = p.p
                         order by r.id desc limit 100000) x);
end $body$;

-- The newest version of each of these files, null where its path has no chain. Who is granted a lease asks under its locks:
-- an answer from before them could be old.
create or replace function "locked".heads(files jsonb) returns jsonb
language sql stable as $body$
  select coalesce(jsonb_agg((select r.new from "locked".receipts r
           where r.scope = f.f ->> 'scope' and r.path = f.f ->> 'key' order by r.id desc limit 1) order by f.n), '[]')
    from jsonb_array_elements(files) with ordinality f(f, n)
$body$;

-- The receipts of these contents, by digest or by git's name, under whatever path: of each path and content the newest.
-- That a person has accepted a version as a base proves nothing of it.
create or replace function "locked".receipts_of_v1(scope text, digests jsonb default '[]', blobs jsonb default '[]') returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  named text[];
  stored text[];
begin
  select coalesce(array_agg(d), '{}') into named from jsonb_array_elements_text("locked".records('digests', digests, 1000)) d;
  select coalesce(array_agg(b), '{}') into stored from jsonb_array_elements_text("locked".records('blobs', blobs, 1000)) b;
  return (select coalesce(jsonb_agg("locked".link(x)), '[]')
    from (select distinct on (r.path, r.new) r.* from "locked".receipts r
           where r.scope = receipts_of_v1.scope and (r.new = any (named) or r.blob = any (stored)) and r.kind <> 'accepted'
           order by r.path, r.new, r.id desc limit 10000) x);
end $body$;

-- A grant in the tables: the predecessor's row ends, the token grows, the new row stands.

-- Ends a row. `own`: by its holder's word, which a later question of the same grant is told; else by a successor's. What was
-- noted of it while it lived stands before that.
create or replace function "locked".finish(row_id bigint, how text, why text, own boolean, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  update "locked".leases l
     set ended_at = t, ended_as = how, note = nullif(left(case when own then concat_ws('; ', nullif(why, ''), l.note) else concat_ws('; ', l.note, nullif(why, '')) end, 4000), ''),
         settled = l.settled or own, takeable = false
   where l.id = row_id;
end $body$;

-- The next fencing token of a resource: above the last one, and above the clock, so that it grows even when the counter
-- was lost with its table.
create or replace function "locked".next_token(of_name text, of_scope text, t timestamptz) returns bigint
language plpgsql volatile as $body$
declare
  grown bigint;
begin
  update "locked".resources r set last_token = greatest(r.last_token + 1, "locked".ms(t))
   where r.name = of_name and r.scope = of_scope returning r.last_token into grown;
  return grown;
end $body$;

-- Ends the predecessor's row, and returns the new row with what it has from it.
create or replace function "locked".succeed(l "locked".leases, fate text, claim text, q "locked".leases, t timestamptz)
returns "locked".leases language plpgsql volatile as $body$
declare
  n "locked".leases%rowtype := q;
  before text := coalesce(l.reason || '; ', '');
  taker text := "locked".who(q.session, q.label);
begin
  case
    when fate in ('adopt', 'take') and l.session = q.session then
      perform "locked".finish(l.id, case when l.explicit then 'completed' else 'failed' end,
                             before || 'adopted by its session', false, t);
      n.adopted := true;
      n.ask := l.ask;
      -- What it was for it is for, unless another issue is named.
      n.issue := coalesce(q.issue, "locked".own_issue(l));
      if claim <> 'explicit' then
        n.hold_ttl_ms := case when l.explicit then l.ttl_ms else l.hold_ttl_ms end;
        n.hold_operation := case when l.explicit then l.operation else l.hold_operation end;
        n.hold_issue := case when n.hold_ttl_ms is not null then "locked".own_issue(l) end;
        n.hold_rule := case when l.explicit then l.rule else l.hold_rule end;
      end if;
      n.debt := case when l.takeable then '[]' else "locked".kept_by_own(l) end;
    when fate = 'take' then
      perform "locked".finish(l.id, 'failed', before || 'taken by ' || taker, false, t);
    when fate = 'restore' then
      l := "locked".bury_all(l);
      perform "locked".finish(l.id, 'failed', before || 'restored by ' || taker, false, t);
      n.debt := "locked".all_own(l);
    when fate = 'reclaim' then
      l := "locked".bury_all(l);
      perform "locked".finish(l.id, case when l.revoked then 'stolen' else 'expired' end,
        before || case when l.revoked then 'taken by ' when before = '' then 'presumed crashed, reclaimed by ' else 'reclaimed by ' end
          || taker, false, t);
      n.debt := "locked".left_by(l);
      if l.session = q.session then
        n.issue := coalesce(q.issue, "locked".own_issue(l));
      end if;
  end case;
  return n;
end $body$;

-- Puts a row into the ledger, its moment and its id ours.
create or replace function "locked".enter(n "locked".leases) returns void
language plpgsql volatile as $body$
begin
  insert into "locked".leases (scope, name, token, grant_id, key_hash, session, label, host, host_id, pid, operation, rule, state,
    explicit, takeable, revoked, remote, ask, adopted, settled, reason, live_device, live_inode, files, debt, ttl_ms,
    hold_ttl_ms, hold_operation, hold_issue, hold_rule, issue, within_grant, bad, may_run_on, expires_at, acquired_at, renewed_at, ended_at, ended_as, note)
  values (n.scope, n.name, n.token, n.grant_id, n.key_hash, n.session, n.label, n.host, n.host_id, n.pid, n.operation, n.rule,
    n.state, n.explicit, n.takeable, n.revoked, n.remote, n.ask, n.adopted, n.settled, n.reason, n.live_device, n.live_inode, n.files,
    n.debt, n.ttl_ms, n.hold_ttl_ms, n.hold_operation, n.hold_issue, n.hold_rule, n.issue, n.within_grant, n.bad, n.may_run_on, n.expires_at, n.acquired_at, n.renewed_at,
    n.ended_at, n.ended_as, n.note);
end $body$;

-- Grants every resource of the request.
create or replace function "locked".give(
  q "locked".leases, claim text, lasts bigint, names text[], scopes text[], live "locked".leases[], fates text[], below uuid[],
  asks boolean[], t timestamptz
) returns jsonb language plpgsql volatile as $body$
declare
  answer jsonb := jsonb_build_object('answer', 'granted', 'lasts_ms', lasts, 'tokens', '[]'::jsonb, 'unsettled', '[]'::jsonb,
    'carried', '[]'::jsonb, 'reclaimed', '[]'::jsonb, 'adopted', '[]'::jsonb, 'heads', "locked".heads(q.files));
  n "locked".leases%rowtype;
begin
  if (select count(*) >= 10000 from (
        select 1 from "locked".leases l where l.session = q.session and l.ended_at is null limit 10000) x) then
    perform "locked".refuse('this session has 10,000 leases already');
  end if;
  for i in 1..cardinality(names) loop
    if fates[i] = 'join' then
      perform "locked".join_line(live[i], below[i], q, lasts, t);
      update "locked".leases l set ask = true where l.id = live[i].id and asks[i] and not l.ask;
      answer := "locked".with_token(answer, names[i], scopes[i], live[i].token, false);
      continue;
    end if;
    n := case when fates[i] = 'free' then q else "locked".succeed(live[i], fates[i], claim, q, t) end;
    n.name := names[i];
    n.scope := scopes[i];
    n.ask := asks[i] or n.ask;
    n.token := "locked".next_token(names[i], scopes[i], t);
    n.explicit := claim = 'explicit';
    n.pid := case when claim <> 'explicit' then q.pid end;
    n.expires_at := t + "locked".span(lasts);
    n.acquired_at := t;
    n.renewed_at := t;
    perform "locked".enter(n);
    answer := "locked".with_token(answer, n.name, n.scope, n.token, n.adopted);
    if n.debt <> '[]' then
      answer := "locked".told(answer, n.debt, n.name, n.scope);
    end if;
  end loop;
  if exists (select 1 from "locked".words w where w.session = q.session) then
    answer := answer || jsonb_build_object('words', "locked".heard(q.session));
  end if;
  return answer;
end $body$;

-- Acquire: all or none, oldest request first, in one call. First a look without locks: who is only told "busy" writes
-- nothing, but for the refresh of its ticket. Then the same under the locks of all resources, taken in byte order.

-- The lease in the way, and each command below its holder that has joined it: whoever is gone can be proven so.
create or replace function "locked".in_the_way(l "locked".leases, t timestamptz) returns jsonb
language plpgsql stable as $body$
begin
  return (
    -- That who asks a person is gone has been said when it has run out; it frees nothing.
    select jsonb_build_array(seen.it || jsonb_build_object('reclaimable',
        "locked".runs(l) and joins.them = '[]' and not (l.ask and l.expires_at <= t))) || joins.them
    from (select "locked".seen(l, t) as it offset 0) seen,
    lateral (select coalesce(jsonb_agg(seen.it || jsonb_build_object(
        'grant', j.grant_id, 'live_device', j.live_device, 'live_inode', j.live_inode, 'host_id', j.host_id,
        'session', j.session, 'label', j.label, 'host', j.host, 'pid', j.pid, 'operation', j.operation,
        'state', case when j.may_run_on is null then seen.it ->> 'state' else 'remote' end,
        'reason', coalesce(j.may_run_on, seen.it ->> 'reason'),
        'reclaimable', j.may_run_on is null) order by j.id), '[]') as them
      from "locked".joins j where j.lease = l.id) joins);
end $body$;

-- "Busy": who is in the way, who is before us, and whether waiting would close a circle.
create or replace function "locked".busy(
  live "locked".leases[], fates text[], stands text[], before bigint[], above uuid[], place bigint, t timestamptz
) returns jsonb language plpgsql volatile as $body$
declare
  blockers jsonb := '[]';
  older jsonb;
  deadlock boolean := false;
begin
  for i in 1..cardinality(fates) loop
    if fates[i] = 'blocks' then
      blockers := blockers || "locked".in_the_way(live[i], t);
      -- A hold between commands cannot be taken from below a command that has the very resource until it ends.
      deadlock := deadlock or stands[i] = 'may join';
    end if;
  end loop;
  if not deadlock and cardinality(above) > 0 then
    deadlock := "locked".closes(above, (select array_agg((b ->> 'grant')::uuid) from jsonb_array_elements(blockers) b), place, t);
  end if;
  select coalesce(jsonb_agg(jsonb_build_object('grant', k.grant_id, 'live_device', k.live_device,
           'live_inode', k.live_inode, 'host_id', k.host_id, 'holder', k.holder) order by k.id), '[]')
    into older from "locked".tickets k where k.id = any (before);
  return jsonb_build_object('answer', 'busy', 'blockers', blockers, 'ahead', older, 'deadlock', deadlock);
end $body$;

-- The live rows of a grant whose wrapper and keeper were proven gone expire now; whoever takes them next takes their
-- debt. An effect that may run on elsewhere is given its time first. Only rows of resources whose locks we have.
create or replace function "locked".note_gone(gone uuid[], q "locked".leases, names text[], scopes text[], t timestamptz)
returns void language plpgsql volatile as $body$
declare
  told text := 'proven gone by ' || "locked".who(q.session, q.label);
  j "locked".joins%rowtype;
begin
  delete from "locked".tickets k where k.id in (
    select x.id from "locked".tickets x where x.grant_id = any (gone) order by x.id for update skip locked);
  for j in select x.* from "locked".joins x join "locked".leases l on l.id = x.lease
            join unnest(names, scopes) as w(name, scope) on l.name = w.name and l.scope = w.scope
            where x.grant_id = any (gone) order by x.id loop
    -- Read anew: an earlier one that left may have moved it.
    select * into j from "locked".joins x where x.id = j.id;
    if j.may_run_on is null and j.remote then
      perform "locked".stay(j, told || '; its effect may still be running');
    elsif j.may_run_on is null then
      perform "locked".bury(j);
    end if;
  end loop;
  -- What joined it lives on under it, and inherits it in the end.
  update "locked".leases l
     set state = case when l.remote then 'remote' else l.state end,
         pid = case when not l.remote then l.pid end,
         live_device = case when not l.remote then l.live_device end,
         live_inode = case when not l.remote then l.live_inode end,
         expires_at = case when l.remote then t + "locked".span(l.ttl_ms) else t end,
         reason = "locked".because(l, case when l.remote then told || '; its effect may still be running' else told end)
    from unnest(names, scopes) as w(name, scope)
   where l.grant_id = any (gone) and l.ended_at is null and "locked".runs(l) and l.name = w.name and l.scope = w.scope
     and not exists (select 1 from "locked".joins x where x.lease = l.id and x.may_run_on is null);
end $body$;

-- All resources are ours already, and the answer was lost.
create or replace function "locked".read_back(live "locked".leases[], t timestamptz) returns jsonb
language plpgsql stable as $body$
declare
  answer jsonb := '{"answer": "granted", "tokens": [], "unsettled": [], "carried": [], "reclaimed": [], "adopted": []}';
  lasts bigint;
  l "locked".leases%rowtype;
begin
  foreach l in array live loop
    answer := "locked".told("locked".with_token(answer, l.name, l.scope, l.token, l.adopted), l.debt, l.name, l.scope);
    lasts := least(lasts, coalesce("locked".expires_in(l, t), l.ttl_ms));
  end loop;
  return answer || jsonb_build_object('lasts_ms', lasts);
end $body$;

-- A grant's answer with one more resource.
create or replace function "locked".with_token(answer jsonb, name text, scope text, token bigint, adopted boolean) returns jsonb
language sql immutable as $body$
  select answer || jsonb_build_object(
    'tokens', (answer -> 'tokens') || jsonb_build_array(jsonb_build_object('name', name, 'scope', scope, 'token', token)),
    'adopted', case when adopted then (answer -> 'adopted') || jsonb_build_array(jsonb_build_object('name', name, 'scope', scope))
                    else answer -> 'adopted' end)
$body$;

-- The request itself.

create or replace function "locked".ask(
  q "locked".leases, claim text, silence bigint, lasts bigint, names text[], scopes text[], gone uuid[],
  asks boolean[]
) returns jsonb language plpgsql volatile as $body$
declare
  t timestamptz;
  l "locked".leases%rowtype;
  mine "locked".tickets%rowtype;
  live "locked".leases[];
  fates text[];
  stands text[];
  below uuid[];
  ours boolean[];
  above uuid[];
  before bigint[];
  place bigint;
  fate text;
  stand text;
  link uuid;
  locked_names text[];
  locked_scopes text[];
  waited_for boolean;
  -- A thief holds it as by `acquire`.
  kind text := case when claim = 'steal' then 'explicit' else claim end;
begin
  for pass in 1..2 loop
    if pass = 1 then
      select * into mine from "locked".tickets k where k.grant_id = q.grant_id;
      -- Without a look where there is something to write in any case, or plainly nobody in the way.
      continue when cardinality(gone) > 0 or (silence is not null and mine.id is null);
      continue when not exists (select 1 from unnest(names, scopes) as w(name, scope)
          where exists (select 1 from "locked".leases x where x.name = w.name and x.scope = w.scope and x.ended_at is null)
             or exists (select 1 from "locked".ticket_resources r where r.name = w.name and r.scope = w.scope));
    else
      locked_names := names;
      locked_scopes := scopes;
      if cardinality(gone) > 0 then
        select g.names, g.scopes into locked_names, locked_scopes from "locked".touched(names, scopes, gone) g;
      end if;
      perform "locked".lock(locked_names, locked_scopes, true);
      select * into mine from "locked".tickets k where k.grant_id = q.grant_id;
    end if;
    t := "locked".clock();
    if pass = 2 and cardinality(gone) > 0 then
      perform "locked".note_gone(gone, q, locked_names, locked_scopes, t);
      select * into mine from "locked".tickets k where k.grant_id = q.grant_id;
    end if;

    -- Where nobody waits and nobody is above us, the usual case, a fresh session plans less.
    above := case when q.within_grant is null then '{}' else "locked".chain(q.within_grant) end;
    waited_for := mine.id is not null or exists (
      select 1 from "locked".ticket_resources r join unnest(names, scopes) as w(name, scope) on r.name = w.name and r.scope = w.scope);
    place := coalesce(mine.id, 9223372036854775807);
    live := '{}'; fates := '{}'; stands := '{}'; below := '{}'; ours := '{}';
    for i in 1..cardinality(names) loop
      select * into l from "locked".leases x where x.name = names[i] and x.scope = scopes[i] and x.ended_at is null;
      fate := 'free'; stand := 'stranger'; link := null;
      if found then
        fate := "locked".fate(l, q, kind, t);
        if fate = 'blocks' then
          select s.stands, s.below into stand, link from "locked".line(l, above, q) s;
          fate := case when stand = 'may join' and kind = 'command' and not l.revoked then 'join'
                       when stand = 'joined' then 'ours' else 'blocks' end;
        end if;
      end if;
      live := live || l; fates := fates || fate; stands := stands || stand; below := below || link;
      ours := ours || (fate in ('adopt', 'join'));
    end loop;
    before := case when waited_for then "locked".ahead(names, scopes, ours, above, place, t) else '{}' end;

    if 'ours' = all (fates) then
      return "locked".read_back(live, t) || jsonb_build_object('heads', "locked".heads(q.files));
    end if;
    if cardinality(before) = 0 and not fates && array['blocks', 'ours'] then
      continue when pass = 1;
      if waited_for then
        perform "locked".drop_silent(names, scopes, place, t);
        delete from "locked".tickets k where k.id = mine.id;
      end if;
      return "locked".give(q, kind, lasts, names, scopes, live, fates, below, asks, t);
    end if;
    if pass = 2 and waited_for then
      perform "locked".drop_silent(names, scopes, place, t);
    end if;
    if silence is not null and mine.id is not null and "locked".needs_refresh(mine, t) then
      update "locked".tickets k set refreshed_at = t where k.id = mine.id;
      -- It fell silent, and somebody took it out: back to the end of the queue, under the locks.
      continue when not found and pass = 1;
    elsif silence is not null and mine.id is null then
      perform "locked".queue_up(q, names, scopes, silence, claim = 'steal', t);
    end if;
    return "locked".busy(live, fates, stands, before, above, place, t);
  end loop;
end $body$;

-- The resources of a request and those of the leases that gone grants have or joined.
create or replace function "locked".touched(of_names text[], of_scopes text[], gone uuid[], out names text[], out scopes text[])
language plpgsql stable as $body$
begin
  select array_agg(w.name order by w.name collate "C", w.scope collate "C"), array_agg(w.scope order by w.name collate "C", w.scope collate "C") into names, scopes
  from (select x.name, x.scope from unnest(of_names, of_scopes) as x(name, scope)
        union
        select l.name, l.scope from "locked".leases l where l.grant_id = any (gone) and l.ended_at is null
        union
        select l.name, l.scope from "locked".joins j join "locked".leases l on l.id = j.lease where j.grant_id = any (gone)) w;
end $body$;

-- Every request, in full.
create or replace function "locked".acquire_any(
  grant_id uuid, key text, session uuid, resources jsonb, ttl_ms bigint, first_ms bigint, claim text, silence_ms bigint,
  label text, host text, host_id text, pid bigint, operation text, rule text, within_grant uuid,
  live_device bigint, live_inode bigint, files jsonb, remote boolean, gone uuid[], ask jsonb
) returns jsonb
language plpgsql volatile as $body$
declare
  q "locked".leases%rowtype;
  names text[];
  scopes text[];
  asks boolean[];
begin
  perform "locked".ready();
  if grant_id is null or session is null or gone is null or cardinality(gone) > 256 then
    perform "locked".refuse('grant_id and session must be given, and gone must be at most 256 grants');
  elsif claim is null or claim not in ('command', 'explicit', 'restore', 'steal') then
    perform "locked".refuse('claim must be command, explicit, restore or steal');
  end if;
  select w.names, w.scopes into names, scopes from "locked".wanted(resources) w;
  if cardinality(names) = 0 then
    perform "locked".refuse('at least one resource must be asked for');
  end if;
  select array_agg(exists (select 1 from jsonb_array_elements("locked".records('ask', ask, 256)) a
                            where a ->> 'name' = w.name and a ->> 'scope' = w.scope) order by w.n)
    into asks from unnest(names, scopes) with ordinality w(name, scope, n);
  q.grant_id := grant_id;
  q.key_hash := "locked".hash(key);
  q.session := session;
  q.label := "locked".shown(coalesce(label, ''));
  q.host := "locked".shown(coalesce(host, ''));
  q.host_id := "locked".shown(coalesce(host_id, ''));
  q.pid := pid;
  q.operation := "locked".shown(coalesce(operation, ''));
  -- From the whole text, before it is cut.
  q.issue := "locked".issue_of(operation);
  q.rule := "locked".shown(rule);
  q.within_grant := within_grant;
  q.live_device := live_device;
  q.live_inode := live_inode;
  q.files := "locked".records('files', files, 4096);
  q.debt := '[]';
  q.remote := coalesce(remote, false);
  q.ttl_ms := "locked".lasting('ttl_ms', ttl_ms);
  q.state := 'held';
  q.explicit := false; q.takeable := false; q.revoked := false; q.ask := false; q.adopted := false; q.settled := false;
  return "locked".ask(q, claim,
    case when silence_ms is not null then "locked".lasting('silence_ms', silence_ms) end,
    least("locked".lasting('first_ms', coalesce(first_ms, ttl_ms)), ttl_ms), names, scopes, gone, asks);
end $body$;

-- Settle: receipts, then what becomes of the rows; all or none.

-- Leaves receipts under the rows of the resources that they name. One that names another is left under the first. The
-- caller has seen to their limits.
create or replace function "locked".leave_receipts(receipts jsonb, live "locked".leases[], t timestamptz) returns void
language sql volatile as $body$
  insert into "locked".receipts (lease, scope, path, base, new, blob, branch, host, worktree, token, holder, kind, at)
  select l.id, r.r ->> 'scope', r.r ->> 'path', r.r ->> 'base', r.r ->> 'new', r.r ->> 'blob', r.r ->> 'branch', l.host,
         r.r ->> 'worktree', l.token, "locked".who(l.session, l.label), r.r ->> 'kind', t
  from jsonb_array_elements(receipts) with ordinality r(r, n)
  cross join lateral (
    select x.* from unnest(live) with ordinality x
     order by (x.name = r.r -> 'resource' ->> 'name' and x.scope = r.r -> 'resource' ->> 'scope') desc, x.ordinality limit 1) l
  order by r.n
  on conflict do nothing
$body$;

-- The row stays with its session, for what was left half done. Under an explicit hold it stays at least as long as the hold would, and nobody may take
-- it: the failure of one command does not give away what the session holds by its own word. Nor does a command that
-- changed nothing give away what an earlier one of the session changed: its debt stays, for who comes after expiry. What was
-- taken away meanwhile has run out: it is whoever's is next, who proves the files.
create or replace function "locked".keep(l "locked".leases, why text, keep_ms bigint, anybody boolean, t timestamptz) returns void
language plpgsql volatile as $body$
declare
  by_word bigint := coalesce(l.hold_ttl_ms, case when l.explicit then l.ttl_ms end);
begin
  update "locked".leases x
     set state = 'kept', settled = true, takeable = anybody and by_word is null and l.debt = '[]' and not l.revoked,
         -- It changed nothing; an earlier one did, and why that was kept goes on to be why.
         reason = "locked".because(l, coalesce((select b.reason from "locked".leases b
           where anybody and b.scope = l.scope and b.name = l.name and b.session = l.session
             and b.token = (l.debt -> -1 ->> 'token')::bigint), why)), pid = null, live_device = null, live_inode = null,
         expires_at = t + "locked".span(case when l.revoked then 0 else greatest(keep_ms, by_word) end), renewed_at = t
   where x.id = l.id;
end $body$;

-- The row is the explicit hold again, for the hold's TTL from now. Which command it was meanwhile is noted: nothing else would
-- say it.
create or replace function "locked".hand_back(l "locked".leases, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  update "locked".leases x
     set state = 'held', explicit = true, settled = true, takeable = false, remote = false, reason = null, pid = null,
         live_device = null, live_inode = null, files = '[]', debt = "locked".to_others(l.debt), ttl_ms = l.hold_ttl_ms,
         note = 'ran ' || l.operation, operation = coalesce(l.hold_operation, l.operation), hold_ttl_ms = null, hold_operation = null,
         issue = l.hold_issue, hold_issue = null, rule = l.hold_rule, hold_rule = null,
         expires_at = t + "locked".span(l.hold_ttl_ms), renewed_at = t
   where x.id = l.id;
end $body$;

-- Its holder is done, and something came to it meanwhile that nobody has proven: a command below that died, a run by force.
-- It has run out, so that whoever comes next proves that first; who asked that a person be asked is done.
create or replace function "locked".leave_unproven(l "locked".leases, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  update "locked".leases x
     set state = 'kept', explicit = false, settled = true, takeable = false, remote = false, ask = false, pid = null, live_device = null,
         live_inode = null, files = '[]', debt = "locked".to_others(l.debt), expires_at = t, renewed_at = t,
         reason = "locked".because(l, 'its holder is done; files that another command left are not proven yet')
   where x.id = l.id;
end $body$;

-- The row is nobody's for so long. The record of files stays, and what a command below left with it: who comes after
-- that proves them once more.
create or replace function "locked".linger(l "locked".leases, why text, lasts bigint, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  update "locked".leases x
     set state = 'remote', settled = true, takeable = false, reason = "locked".because(l, why), pid = null, live_device = null,
         live_inode = null, expires_at = t + "locked".span(lasts), renewed_at = t
   where x.id = l.id;
end $body$;

-- The row stays without expiry, and with all that it owes: who restores must know which files it is about. That it was
-- taken away meanwhile is said behind the file, and frees nothing.
create or replace function "locked".quarantine(l "locked".leases, why text, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  update "locked".leases x
     set state = 'quarantined', settled = true, takeable = false,
         reason = case when not l.revoked or l.reason is null then why
                       when position(why in l.reason) > 0 then l.reason
                       else why || ' (' || l.reason || ')' end, pid = null, live_device = null, live_inode = null,
         expires_at = null, renewed_at = t
   where x.id = l.id;
end $body$;

-- An ending as it was told, its parts within their limits: {ending, ended_as?, reason?, keep_ms?, takeable?}.
create or replace function "locked".ending(told jsonb) returns jsonb
language plpgsql immutable as $body$
declare
  how text := coalesce(told ->> 'ended_as', 'completed');
begin
  if coalesce(told ->> 'ending', '') not in ('release', 'keep', 'linger', 'quarantine') then
    perform "locked".refuse('ending must be release, keep, linger or quarantine');
  elsif how not in ('completed', 'failed', 'expired', 'stolen', 'human-action') then
    perform "locked".refuse('ended_as must be completed, failed, expired, stolen or human-action');
  elsif told ->> 'ending' = 'keep' or (told ->> 'ending' = 'linger' and told ->> 'keep_ms' is not null) then
    perform "locked".lasting('keep_ms', (told ->> 'keep_ms')::bigint);
  end if;
  return jsonb_build_object('ending', told ->> 'ending', 'ended_as', how, 'reason', "locked".shown(coalesce(told ->> 'reason', '')),
    'keep_ms', (told ->> 'keep_ms')::bigint, 'takeable', coalesce((told ->> 'takeable')::boolean, false));
end $body$;

-- What becomes of one row. What was noted of it while its holder had it weighs more than the holder's own word: a file that
-- a command below left bad, then something that may still run.
create or replace function "locked".ending_of(l "locked".leases, own jsonb) returns jsonb
language sql immutable as $body$
  select case when l.bad is not null then jsonb_build_object('ending', 'quarantine', 'reason', l.bad)
              when own ->> 'ending' = 'quarantine' or l.may_run_on is null then own
              else jsonb_build_object('ending', 'linger', 'reason', l.may_run_on) end
$body$;

-- Does it, to a row whose holder is not a join. An adopted explicit hold goes back when the command's work is over; a theft
-- or a person ends the hold too. Where a command that joined lives on, the lease goes on with it.
create or replace function "locked".conclude(l "locked".leases, by_grant boolean, e jsonb, t timestamptz) returns void
language plpgsql volatile as $body$
declare
  heir "locked".joins%rowtype;
  what text := e ->> 'ending';
  how text := "locked".ended(l, e ->> 'ended_as');
  why text := e ->> 'reason';
begin
  if by_grant and what <> 'quarantine' then
    select * into heir from "locked".joins j where j.lease = l.id and j.within_grant = l.grant_id;
  end if;
  if heir.id is not null then
    perform "locked".finish(l.id, case when what = 'release' then how else "locked".ended(l, 'failed') end, "locked".because(l,
      case when what = 'release' then '' else why || '; ' end || 'a command below it goes on with the lease'), true, t);
    perform "locked".inherit(l, heir, t);
  elsif what = 'keep' and (e ->> 'takeable')::boolean and l.hold_ttl_ms is not null and l.debt = '[]' and not l.revoked then
    -- It changed nothing, and the hold is as it was.
    perform "locked".hand_back(l, t);
  elsif what = 'keep' then
    perform "locked".keep(l, why, (e ->> 'keep_ms')::bigint, (e ->> 'takeable')::boolean, t);
  elsif what = 'linger' and e ->> 'keep_ms' is not null and l.hold_ttl_ms is not null then
    perform "locked".keep(l, why, (e ->> 'keep_ms')::bigint, false, t);
  elsif what = 'linger' then
    -- With keep_ms it is what a success set off elsewhere, and nobody is let in for so long.
    perform "locked".linger(l, why, coalesce((e ->> 'keep_ms')::bigint, l.ttl_ms), t);
  elsif what = 'quarantine' then
    perform "locked".quarantine(l, why, t);
  elsif by_grant and l.hold_ttl_ms is not null and not l.revoked and how in ('completed', 'failed') then
    perform "locked".hand_back(l, t);
  elsif "locked".to_others(l.debt) <> '[]' then
    perform "locked".leave_unproven(l, t);
  else
    -- A person's word first; what became of the hold meanwhile comes after it.
    perform "locked".finish(l.id, how, concat_ws('; ', nullif(why, ''), l.reason), true, t);
  end if;
end $body$;

-- A command that joined leaves the line. That it failed is its holder's affair; a file that it left bad is everybody's, and
-- quarantines the lease when the holder is done. With what may still be running of it it stays.
create or replace function "locked".leave(l "locked".leases, j "locked".joins, e jsonb, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  if e ->> 'ending' = 'linger' and e ->> 'keep_ms' is null then
    if l.state = 'remote' then
      -- Its holder is gone: the time is counted from here again.
      perform "locked".linger(l, e ->> 'reason', l.ttl_ms, t);
    end if;
    perform "locked".stay(j, e ->> 'reason');
    return;
  elsif e ->> 'ending' = 'quarantine' then
    update "locked".leases x set bad = e ->> 'reason' where x.id = l.id;
  end if;
  perform "locked".part_from(j);
end $body$;

-- `apart`: resources of it that end in another way, each as {scope, name, ending, …}.
create or replace function "locked".settle_any(
  resources jsonb, ending text, grant_id uuid, key text, session uuid, ended_as text, reason text, keep_ms bigint, takeable boolean,
  apart jsonb, receipts jsonb
) returns jsonb
language plpgsql volatile as $body$
declare
  h record;
  l "locked".leases%rowtype;
  j "locked".joins%rowtype;
  by_grant boolean := grant_id is not null;
  whole jsonb := "locked".ending(jsonb_build_object('ending', ending, 'ended_as', ended_as, 'reason', reason, 'keep_ms', keep_ms,
    'takeable', takeable));
  e jsonb;
  done boolean;
  heard boolean;
  ended boolean := false;
begin
  perform "locked".ending(a) from jsonb_array_elements("locked".records('apart', apart, 256)) a;
  select * into h from "locked".hold(grant_id, key, session, resources);
  if h.live is null or cardinality(h.live) = 0 then
    return '{"answer": "not ours"}';
  end if;
  -- This very grant had its say already, and its answer was lost: the row has ended by its word, or went back to the hold,
  -- or the grant has left the line of those who joined it. Or one part ended and another stays, quarantined: both by this
  -- grant's word.
  done := by_grant;
  heard := by_grant;
  for i in 1..cardinality(h.live) loop
    l := h.live[i];
    continue when h.parted[i];
    done := done and h.joined[i] is null and l.settled and (l.ended_at is not null or (l.explicit and l.adopted));
    heard := heard and h.joined[i] is null and l.settled;
    ended := ended or l.ended_at is not null;
  end loop;
  if done then
    return '{"answer": "released"}';
  elsif ended then
    return jsonb_build_object('answer', case when heard then 'released' else 'not ours' end);
  end if;
  perform "locked".leave_receipts("locked".records('receipts', receipts, 4096), h.live, h.t);
  for i in 1..cardinality(h.live) loop
    l := h.live[i];
    -- Said before; a second time would end the hold that it went back to.
    continue when h.parted[i] or (by_grant and h.joined[i] is null and l.settled and l.explicit and l.adopted);
    select coalesce((select "locked".ending(a) from jsonb_array_elements(apart) a
                      where a ->> 'name' = l.name and a ->> 'scope' = l.scope limit 1), whole) into e;
    if h.joined[i] is not null then
      select * into j from "locked".joins x where x.id = h.joined[i];
      perform "locked".leave(l, j, e, h.t);
    else
      perform "locked".conclude(l, by_grant, "locked".ending_of(l, e), h.t);
    end if;
    perform "locked".tell(l.name, l.scope);
  end loop;
  return '{"answer": "released"}';
end $body$;

-- Renew, and the record of files: for who has the grant's key, or for the session where no command runs.

-- The rows of a holding, one per resource, ended ones of the same grant included, and beside each the join by which the
-- holder joined somebody above it, and whether it had joined and has settled that; null when one of them was never this holder's or is somebody else's now.
create or replace function "locked".parts(by_grant uuid, by_key text, by_session uuid, resources jsonb, out live "locked".leases[], out joined bigint[], out parted boolean[])
language plpgsql stable as $body$
declare
  w record;
  l "locked".leases%rowtype;
  j bigint;
  gone boolean;
begin
  live := '{}';
  joined := '{}';
  parted := '{}';
  for w in select r ->> 'name' as name, r ->> 'scope' as scope, (r ->> 'token')::bigint as token
             from jsonb_array_elements(resources) r order by (r ->> 'name') collate "C", (r ->> 'scope') collate "C" loop
    j := null;
    gone := false;
    if by_grant is null then
      select * into l from "locked".leases x
       where x.name = w.name and x.scope = w.scope and x.ended_at is null and x.session = by_session and "locked".rests(x);
    else
      select * into l from "locked".leases x
       where x.grant_id = by_grant and x.name = w.name and x.scope = w.scope and x.key_hash = by_key;
      if not found then
        select x.* into l from "locked".leases x where x.name = w.name and x.scope = w.scope and x.ended_at is null
           and exists (select 1 from "locked".joins y where y.lease = x.id and y.grant_id = by_grant and y.key_hash = by_key);
        select y.id into j from "locked".joins y where y.lease = l.id and y.grant_id = by_grant;
      end if;
      if l.id is null then
        select x.* into l from "locked".leases x where x.name = w.name and x.scope = w.scope
           and x.id in (select y.lease from "locked".left_joins y where y.grant_id = by_grant and y.key_hash = by_key);
        gone := found;
      end if;
    end if;
    -- Who keeps a hold alive in a session's name says which hold it is.
    if l.id is null or (by_grant is not null and w.token is null) or w.token <> l.token then
      live := null;
      return;
    end if;
    live := live || l;
    joined := joined || j;
    parted := parted || gone;
  end loop;
end $body$;

-- The parts under the locks of their resources. `over` says why they may not go on: `gone` or `revoked`.
create or replace function "locked".hold(
  grant_id uuid, key text, session uuid, resources jsonb, out live "locked".leases[], out joined bigint[],
  out parted boolean[], out over text, out t timestamptz
) language plpgsql volatile as $body$
begin
  perform "locked".ready();
  if (grant_id is null) = (session is null) then
    perform "locked".refuse('a holding is named by grant_id and key, or by session');
  end if;
  perform "locked".lock(w.names, w.scopes, false) from "locked".wanted(resources) w;
  t := "locked".clock();
  select p.live, p.joined, p.parted into live, joined, parted
    from "locked".parts(grant_id, case when grant_id is not null then "locked".hash(key) end, session, resources) p;
  if live is null or cardinality(live) = 0 or true = any (parted)
     or exists (select 1 from unnest(live) l where l.ended_at is not null or l.state = 'remote')
     or exists (select 1 from "locked".joins j where j.id = any (joined) and j.may_run_on is not null) then
    over := 'gone';
  elsif exists (select 1 from unnest(live) l where l.revoked) then
    over := 'revoked';
  end if;
end $body$;

-- A full TTL from now for every row; what does not expire stays so, and what is kept for longer is not kept for less. An
-- expired row that nobody took goes on. By a session what a command left kept has the TTL of the hold that it was: the beats
-- are the hold's. With tokens: somebody keeps its hold alive, and that is no sign of it.
create or replace function "locked".renew_any(resources jsonb, grant_id uuid, key text, session uuid) returns jsonb
language plpgsql volatile as $body$
declare
  h record;
  in_its_name boolean;
  by_session boolean := session is not null;
begin
  select * into h from "locked".hold(grant_id, key, session, resources);
  if h.over is not null then
    return jsonb_build_object('answer', h.over);
  end if;
  in_its_name := by_session and exists (select 1 from jsonb_array_elements(resources) r where r ? 'token');
  -- Anybody has it who asks: a renew would promise what it does not keep. To hold it the session asks for it.
  if by_session and not in_its_name and exists (select 1 from unnest(h.live) l where l.takeable and not l.ask) then
    return '{"answer": "gone"}';
  end if;
  update "locked".leases l
     set renewed_at = case when in_its_name then l.renewed_at else h.t end,
         expires_at = case when l.expires_at is null then null
                           when l.state = 'kept' then greatest(l.expires_at, h.t + "locked".span(w.lasts))
                           else h.t + "locked".span(w.lasts) end
    from (select x.id, case when by_session then coalesce(x.hold_ttl_ms, x.ttl_ms) else x.ttl_ms end as lasts
            from unnest(h.live) x) w
   where l.id = w.id;
  return jsonb_build_object('answer', 'renewed', 'lasts_ms', (
    select min(case when by_session then coalesce(x.hold_ttl_ms, x.ttl_ms) else x.ttl_ms end) from unnest(h.live) x));
end $body$;

-- Replaces the record of files; with it the debt to predecessors is paid, but not what the session's own earlier
-- commands may have written. Gives no time: that is the renew's to do.
create or replace function "locked".record_files_v1(
  resources jsonb, files jsonb, grant_id uuid default null, key text default null, session uuid default null, receipts jsonb default '[]'
) returns jsonb language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  h record;
  record jsonb := "locked".records('files', files, 4096);
begin
  select * into h from "locked".hold(grant_id, key, session, resources);
  if h.over is not null then
    return jsonb_build_object('answer', h.over);
  end if;
  perform "locked".leave_receipts("locked".records('receipts', receipts, 4096), h.live, h.t);
  for i in 1..cardinality(h.live) loop
    if h.joined[i] is not null then
      update "locked".joins j set files = record where j.id = h.joined[i];
    else
      update "locked".leases l set files = record, debt = "locked".unpaid(l.debt) where l.id = (h.live[i]).id;
    end if;
  end loop;
  return jsonb_build_object('answer', 'renewed',
    'lasts_ms', (select min(coalesce("locked".expires_in(l, h.t), l.ttl_ms)) from unnest(h.live) l));
end $body$;

-- The usual case: one resource, nobody in the way, nobody waiting, nobody joined. A one-shot command has a fresh session on
-- the server, where every statement is planned anew and a procedural language must first be loaded; that costs more than
-- all the rest. So the usual case is a few statements in plain SQL. Whatever is not plainly usual, a wrong argument
-- included, goes to the whole rule: acquire_any, renew_any, settle_any. These have the last word; what stands here may only
-- be narrower than they are.
--
-- A statement that names a function in a procedural language loads the language, called or not, so the way to the whole
-- rule goes over functions in plain SQL (each with a FROM, or the planner would put its body in the caller's place).
--
-- Two functions each, because each statement of a volatile function sees what was committed before it began: the first
-- takes the resource's lock, the second looks and writes under it.

create or replace function "locked".acquire_otherwise(
  uuid, text, uuid, jsonb, bigint, bigint, text, bigint, text, text, text, bigint, text, text, uuid, bigint, bigint, jsonb, boolean, uuid[], jsonb
) returns jsonb language sql volatile as $body$
  select it from "locked".acquire_any(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) it
$body$;

create or replace function "locked".renew_otherwise(jsonb, uuid, text, uuid) returns jsonb language sql volatile as $body$
  select it from "locked".renew_any($1, $2, $3, $4) it
$body$;

create or replace function "locked".settle_otherwise(jsonb, text, uuid, text, uuid, text, text, bigint, boolean, jsonb, jsonb)
returns jsonb language sql volatile as $body$
  select it from "locked".settle_any($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) it
$body$;

-- The arguments need no more than a lock: durable, each statement with a view of its own, one resource, one key.
create or replace function "locked".plain(resources jsonb, key text) returns boolean
language sql stable as $body$
  select current_setting('synchronous_commit') not in ('off', 'local')
     and current_setting('transaction_isolation') = 'read committed'
     and case when jsonb_typeof(resources) = 'array' then jsonb_array_length(resources) = 1 end
     and key ~ '^[0-9a-f]{64}$'
$body$;

-- Under the lock: the new row, if the resource is free and nobody waits for it; else null. The token has grown already.
create or replace function "locked".take_free(
  of_name text, of_scope text, of_token bigint, of_grant uuid, key text, of_session uuid, claim text, label text, host text,
  host_id text, pid bigint, operation text, rule text, within_grant uuid, live_device bigint, live_inode bigint, files jsonb,
  remote boolean, ttl_ms bigint, lasts bigint
) returns jsonb language sql volatile as $body$
  with entered as (
    insert into "locked".leases (name, scope, token, grant_id, key_hash, session, explicit, label, host, host_id, pid, operation,
      rule, issue, state, within_grant, live_device, live_inode, files, remote, ttl_ms, expires_at, acquired_at, renewed_at)
    select of_name, of_scope, of_token, of_grant, encode(sha256(decode(key, 'hex')), 'hex'), of_session, claim = 'explicit',
      left(coalesce(label, ''), 2000), left(coalesce(host, ''), 2000), left(coalesce(host_id, ''), 2000),
      case when claim <> 'explicit' then pid end, left(coalesce(operation, ''), 2000), left(rule, 2000), "locked".issue_of(operation), 'held',
      within_grant,
      live_device, live_inode, files, coalesce(remote, false), ttl_ms, t + lasts * interval '1 millisecond', t, t
    from "locked".clock() t
    where not exists (select 1 from "locked".leases x where x.name = of_name and x.scope = of_scope and x.ended_at is null)
      and not exists (select 1 from "locked".ticket_resources x where x.name = of_name and x.scope = of_scope)
      and not exists (select 1 from "locked".leases x where x.session = of_session and x.ended_at is null offset 9999)
      -- Nor has anybody left a word for this session.
      and not exists (select 1 from "locked".words x where x.session = of_session)
    returning 1)
  select jsonb_build_object('answer', 'granted', 'lasts_ms', lasts,
    'tokens', jsonb_build_array(jsonb_build_object('name', of_name, 'scope', of_scope, 'token', of_token)),
    'unsettled', '[]'::jsonb, 'carried', '[]'::jsonb, 'reclaimed', '[]'::jsonb, 'adopted', '[]'::jsonb,
    'heads', case when files = '[]' then files else "locked".heads(files) end)
  from entered
$body$;

-- Where the resource looks free its counter grows, which locks it. Should it not be free under the lock, the counter has
-- grown for nobody, and that is all.
create or replace function "locked".acquire_v1(
  grant_id uuid, key text, session uuid, resources jsonb, ttl_ms bigint,
  first_ms bigint default null, claim text default 'command', silence_ms bigint default null,
  label text default '', host text default '', host_id text default '', pid bigint default null,
  operation text default '', rule text default null, within_grant uuid default null,
  live_device bigint default null, live_inode bigint default null,
  files jsonb default '[]', remote boolean default false, gone uuid[] default '{}', ask jsonb default '[]'
) returns jsonb
language sql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
  with asked as (select resources -> 0 ->> 'name' as name, resources -> 0 ->> 'scope' as scope),
  locked as (
    insert into "locked".resources as r (name, scope, last_token)
    -- A resource that this ledger has never seen begins above what its epoch says.
    select a.name, a.scope, greatest("locked".ms("locked".clock()), (select m.value::bigint + 1 from "locked".meta m where m.key = 'floor'))
      from asked a
     where "locked".plain(resources, key) and grant_id is not null and session is not null and gone = '{}' and ask = '[]'
       and claim in ('command', 'explicit', 'restore')
       and a.name ~ '^[a-z0-9_-]+:[^[:space:][:cntrl:]]+$' and octet_length(a.name) <= 512
       and a.scope ~ '^[^[:cntrl:]]+$' and octet_length(a.scope) <= 1024
       and ttl_ms between 1 and 2592000000 and coalesce(first_ms, 1) between 1 and 2592000000
       and coalesce(silence_ms, 1) between 1 and 2592000000
       and octet_length(files::text) <= 4194304
       and case when jsonb_typeof(files) = 'array' then jsonb_array_length(files) <= 4096 end
       and not exists (select 1 from "locked".leases x where x.name = a.name and x.scope = a.scope and x.ended_at is null)
       and not exists (select 1 from "locked".ticket_resources x where x.name = a.name and x.scope = a.scope)
    on conflict (name, scope) do update set last_token = greatest(r.last_token + 1, "locked".ms("locked".clock()))
    returning r.name, r.scope, r.last_token)
  select coalesce(
    (select "locked".take_free(r.name, r.scope, r.last_token, grant_id, key, session, claim, label, host, host_id, pid, operation,
       rule, within_grant, live_device, live_inode, files, remote, ttl_ms, least(coalesce(first_ms, ttl_ms), ttl_ms)) from locked r),
    "locked".acquire_otherwise(grant_id, key, session, resources, ttl_ms, first_ms, claim, silence_ms, label, host, host_id, pid,
      operation, rule, within_grant, live_device, live_inode, files, remote, gone, ask))
$body$;

-- Under the lock: a full TTL from now for the holder's live row; null where it is anything but that, kept among them.
create or replace function "locked".go_on(of_name text, of_scope text, of_token bigint, of_grant uuid, key text) returns jsonb
language sql volatile as $body$
  with renewed as (
    update "locked".leases l
       set renewed_at = t, expires_at = case when l.expires_at is not null then t + l.ttl_ms * interval '1 millisecond' end
      from "locked".clock() t
     where l.name = of_name and l.scope = of_scope and l.ended_at is null and l.grant_id = of_grant and l.token = of_token
       and l.key_hash = encode(sha256(decode(key, 'hex')), 'hex') and l.state in ('held', 'quarantined') and not l.revoked
    returning l.ttl_ms)
  select jsonb_build_object('answer', 'renewed', 'lasts_ms', r.ttl_ms) from renewed r
$body$;

create or replace function "locked".renew_v1(resources jsonb, grant_id uuid default null, key text default null, session uuid default null)
returns jsonb language sql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
  with locked as (
    select r.name, r.scope from "locked".resources r
     where r.name = resources -> 0 ->> 'name' and r.scope = resources -> 0 ->> 'scope'
       and "locked".plain(resources, key) and grant_id is not null and session is null
       for update)
  select coalesce(
    (select "locked".go_on(r.name, r.scope, (resources -> 0 ->> 'token')::bigint, grant_id, key) from locked r),
    "locked".renew_otherwise(resources, grant_id, key, session))
$body$;

-- Under the lock: the holder's live row ends by its word, its receipts are left; null where something else hangs on it: an
-- earlier word, an explicit hold, a join, what a command below left, or somebody who waits and must be told.
create or replace function "locked".end_plainly(
  of_name text, of_scope text, of_token bigint, of_grant uuid, key text, how text, receipts jsonb
) returns jsonb language sql volatile as $body$
  with ended as (
    update "locked".leases l
       set ended_at = t, ended_as = "locked".ended(l, how), note = nullif(left(l.reason, 4000), ''), settled = true, takeable = false
      from "locked".clock() t
     where l.name = of_name and l.scope = of_scope and l.ended_at is null and l.grant_id = of_grant and l.token = of_token
       and l.key_hash = encode(sha256(decode(key, 'hex')), 'hex')
       and not l.settled and l.hold_ttl_ms is null and l.bad is null and l.may_run_on is null and l.debt = '[]'
       and not exists (select 1 from "locked".joins j where j.lease = l.id)
       and not exists (select 1 from "locked".ticket_resources x where x.name = of_name and x.scope = of_scope)
    returning l as lease, t)
  select '{"answer": "released"}'::jsonb from ended e
   where case when receipts = '[]' then true else (select true from "locked".leave_receipts(receipts, array[e.lease], e.t)) end
$body$;

create or replace function "locked".settle_v1(
  resources jsonb, ending text, grant_id uuid default null, key text default null, session uuid default null,
  ended_as text default 'completed', reason text default null, keep_ms bigint default null, takeable boolean default false,
  apart jsonb default '[]', receipts jsonb default '[]'
) returns jsonb
language sql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
  with locked as (
    select r.name, r.scope from "locked".resources r
     where r.name = resources -> 0 ->> 'name' and r.scope = resources -> 0 ->> 'scope'
       and "locked".plain(resources, key) and grant_id is not null and session is null
       and ending = 'release' and ended_as in ('completed', 'failed', 'expired', 'stolen', 'human-action')
       and coalesce(reason, '') = '' and apart = '[]' and octet_length(receipts::text) <= 4194304
       and case when jsonb_typeof(receipts) = 'array' then jsonb_array_length(receipts) <= 4096 end
       for update)
  select coalesce(
    (select "locked".end_plainly(r.name, r.scope, (resources -> 0 ->> 'token')::bigint, grant_id, key, ended_as, receipts) from locked r),
    "locked".settle_otherwise(resources, ending, grant_id, key, session, ended_as, reason, keep_ms, takeable, apart, receipts))
$body$;

-- A run without a lease enters the ledger: a row that has ended, or, where its files are bad or not proven, one that
-- stands in the way.

-- The ending of one resource as it was told: {ending, ended_as?, reason?, lasts_ms?}.
create or replace function "locked".forced_ending(told jsonb) returns jsonb
language plpgsql immutable as $body$
declare
  how text := coalesce(told ->> 'ended_as', 'failed');
begin
  if coalesce(told ->> 'ending', '') not in ('ended', 'quarantine', 'lingers', 'unsettled') then
    perform "locked".refuse('ending must be ended, quarantine, lingers or unsettled');
  elsif how not in ('completed', 'failed', 'expired', 'stolen', 'human-action') then
    perform "locked".refuse('ended_as must be completed, failed, expired, stolen or human-action');
  elsif told ->> 'ending' = 'lingers' then
    perform "locked".lasting('lasts_ms', (told ->> 'lasts_ms')::bigint);
  end if;
  return jsonb_build_object('ending', told ->> 'ending', 'ended_as', how, 'reason', "locked".shown(coalesce(told ->> 'reason', '')),
    'lasts_ms', (told ->> 'lasts_ms')::bigint);
end $body$;

-- Hands the burden of a forced run to the lease that lives there; whoever comes after it proves the files.
create or replace function "locked".burden(l "locked".leases, q "locked".leases, e jsonb, t timestamptz) returns void
language plpgsql volatile as $body$
declare
  what text := e ->> 'ending';
  why text := e ->> 'reason';
begin
  if what = 'quarantine' and "locked".runs(l) then
    -- Its holder goes on; what it gives back is in quarantine.
    update "locked".leases x set bad = why where x.id = l.id;
  elsif what = 'quarantine' then
    perform "locked".quarantine(l, why, t);
  elsif what in ('unsettled', 'lingers') then
    update "locked".leases x
       set debt = "locked".owing(x.debt, x.token, "locked".who(q.session, q.label), q.operation, q.host, q.files), takeable = false
     where x.id = l.id;
    if what = 'lingers' and "locked".runs(l) then
      -- When its holder is done the row lingers; when its holder is gone without a word, too.
      update "locked".leases x set may_run_on = why, remote = true where x.id = l.id;
    elsif what = 'lingers' and l.state <> 'quarantined' then
      -- A quarantine lets nobody in as it is, and who restores it is told what else to prove.
      perform "locked".linger(l, why, greatest(l.ttl_ms, (e ->> 'lasts_ms')::bigint), t);
    end if;
  end if;
end $body$;

-- One resource of it. Makes room for the row, or hands its burden to the lease that lives there.
create or replace function "locked".force_one(q "locked".leases, e jsonb, over_at timestamptz, t timestamptz) returns void
language plpgsql volatile as $body$
declare
  n "locked".leases%rowtype := q;
  l "locked".leases%rowtype;
  what text := e ->> 'ending';
begin
  select * into l from "locked".leases x where x.name = q.name and x.scope = q.scope and x.ended_at is null;
  if what in ('quarantine', 'lingers') and l.id is not null
     and "locked".runs(l) and l.expires_at <= t and not "locked".lingers(l, t) then
    n.debt := "locked".left_by(l);
    -- A person must still be asked where the lease made room for what this run left.
    n.ask := l.ask;
    perform "locked".finish(l.id, 'expired',
      case when what = 'lingers' then 'a forced run may still run' else 'a forced run left its file bad' end, false, t);
    l := null;
  end if;
  n.token := "locked".next_token(q.name, q.scope, t);
  n.reason := q.note;
  n.settled := true;
  if what = 'ended' or l.id is not null then
    n.ended_at := over_at;
    n.ended_as := case when what = 'ended' then e ->> 'ended_as' else 'failed' end;
    if what <> 'ended' then
      perform "locked".burden(l, q, e, t);
    end if;
  elsif what = 'unsettled' then
    -- Expired: the next one takes it over and proves its files.
    n.settled := false;
  else
    n.state := case when what = 'lingers' then 'remote' else 'quarantined' end;
    n.reason := (e ->> 'reason') || ' (' || q.note || ')';
    n.expires_at := case when what = 'lingers' then t + "locked".span((e ->> 'lasts_ms')::bigint) end;
  end if;
  -- Of a row that lives the reason says it, and its end is noted with that.
  n.note := case when n.ended_at is not null then q.note end;
  perform "locked".enter(n);
end $body$;

-- `apart`: resources of it that ended in another way, each as {scope, name, ending, …}.
create or replace function "locked".record_forced_v1(
  grant_id uuid, session uuid, resources jsonb, ending text, began_ms bigint, ended_ms bigint, forced_because text,
  ended_as text default 'failed', reason text default null, lasts_ms bigint default null, apart jsonb default '[]', label text default '', host text default '', host_id text default '',
  operation text default '', rule text default null, files jsonb default '[]', receipts jsonb default '[]'
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  q "locked".leases%rowtype;
  w record;
  t timestamptz;
  whole jsonb := "locked".forced_ending(jsonb_build_object('ending', ending, 'ended_as', ended_as, 'reason', reason,
    'lasts_ms', lasts_ms));
  e jsonb;
begin
  perform "locked".ready();
  perform "locked".forced_ending(a) from jsonb_array_elements("locked".records('apart', apart, 256)) a;
  if grant_id is null or session is null then
    perform "locked".refuse('grant_id and session must be given');
  elsif began_ms is null or ended_ms is null or began_ms not between 0 and 99999999999999 or ended_ms not between 0 and 99999999999999 then
    perform "locked".refuse('began_ms and ended_ms must be milliseconds since 1970');
  end if;
  select * into w from "locked".wanted(resources);
  perform "locked".lock(w.names, w.scopes, true);
  t := "locked".clock();
  q.grant_id := grant_id;
  -- No key hashes to nothing: nobody renews or settles this row.
  q.key_hash := '';
  q.session := session;
  q.label := "locked".shown(coalesce(label, ''));
  q.host := "locked".shown(coalesce(host, ''));
  q.host_id := "locked".shown(coalesce(host_id, ''));
  q.operation := "locked".shown(coalesce(operation, ''));
  q.rule := "locked".shown(rule);
  q.files := "locked".records('files', files, 4096);
  q.debt := '[]';
  q.state := 'held';
  q.explicit := false; q.takeable := false; q.revoked := false; q.remote := false; q.ask := false; q.adopted := false;
  q.ttl_ms := 1000;
  q.acquired_at := to_timestamp(began_ms / 1000.0);
  q.renewed_at := to_timestamp(ended_ms / 1000.0);
  q.expires_at := t;
  q.note := 'forced: ' || "locked".shown(coalesce(forced_because, ''));
  for i in 1..cardinality(w.names) loop
    q.name := w.names[i];
    q.scope := w.scopes[i];
    continue when exists (select 1 from "locked".leases x where x.grant_id = q.grant_id and x.name = q.name and x.scope = q.scope);
    select coalesce((select "locked".forced_ending(a) from jsonb_array_elements(apart) a
                      where a ->> 'name' = q.name and a ->> 'scope' = q.scope limit 1), whole) into e;
    perform "locked".force_one(q, e, to_timestamp(ended_ms / 1000.0), t);
    perform "locked".leave_receipts(
      (select coalesce(jsonb_agg(r.r order by r.n), '[]') from jsonb_array_elements(receipts) with ordinality r(r, n)
        where (r.r -> 'resource' ->> 'name' = q.name and r.r -> 'resource' ->> 'scope' = q.scope) or i = 1 and not exists (
          select 1 from unnest(w.names, w.scopes) as o(name, scope)
           where o.name = r.r -> 'resource' ->> 'name' and o.scope = r.r -> 'resource' ->> 'scope')),
      (select array_agg(x) from "locked".leases x where x.grant_id = q.grant_id and x.name = q.name and x.scope = q.scope), t);
  end loop;
  return '{"answer": "recorded"}';
end $body$;

-- What people see.

-- A live lease as clients get it. They are cooperative: the whole session is in it, and shown short.
create or replace function "locked".seen(l "locked".leases, t timestamptz) returns jsonb
language plpgsql stable as $body$
begin
  return (
    select jsonb_build_object('name', l.name, 'scope', l.scope, 'token', l.token, 'session', l.session, 'label', l.label,
      'host', l.host, 'grant', l.grant_id, 'live_device', l.live_device, 'live_inode', l.live_inode, 'host_id', l.host_id,
      'pid', l.pid, 'operation', l.operation, 'issue', "locked".issue(l),
      'hold_issue', case when l.hold_ttl_ms is not null then "locked".own_issue(l) end, 'state', "locked".seen_as(l, t), 'explicit', l.explicit, 'takeable', l.takeable, 'ask', l.ask,
      'reason', l.reason, 'acquired_at', "locked".ms(l.acquired_at), 'renewed_at', "locked".ms(l.renewed_at),
      'idle_ms', "locked".ms(t) - "locked".ms(l.renewed_at),
      'expires_in_ms', "locked".expires_in(l, t),
      'expired_ms', case when l.expires_at <= t and not "locked".lingers(l, t) then "locked".ms(t) - "locked".ms(l.expires_at) end,
      'waiters', "locked".waiters(l.name, l.scope, t), 'files', "locked".all_files(l)));
end $body$;

-- The live leases of these resources or of all, in resource order.
create or replace function "locked".leases_v1(resources jsonb default null) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  t timestamptz := "locked".clock();
begin
  return (select coalesce(jsonb_agg("locked".seen(l, t) order by l.name, l.scope), '[]') from "locked".leases l
    where l.ended_at is null and (resources is null or (l.name, l.scope) in (
      select r ->> 'name', r ->> 'scope' from jsonb_array_elements("locked".records('resources', coalesce(resources, '[]'), 4096)) r)));
end $body$;

-- An ended lease as clients get it.
create or replace function "locked".past(l "locked".leases) returns jsonb
language sql stable as $body$
  select jsonb_build_object('name', l.name, 'scope', l.scope, 'token', l.token, 'session', l.session, 'label', l.label,
    'host', l.host, 'operation', l.operation, 'acquired_at', "locked".ms(l.acquired_at), 'ended_at', "locked".ms(l.ended_at),
    'ended_as', l.ended_as, 'note', l.note,
    'receipt', (select r.new from "locked".receipts r where r.lease = l.id order by r.id desc limit 1))
$body$;

-- Ended leases, newest first.
create or replace function "locked".history_v1(name text default null, since_ms bigint default null, most integer default 50) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  since timestamptz := case when since_ms is null then '-infinity' else "locked".clock() - "locked".span(least(since_ms, 315360000000)) end;
begin
  return (select coalesce(jsonb_agg("locked".past(x) order by x.ended_at desc, x.id desc), '[]')
    from (select l.* from "locked".leases l
           where l.ended_at is not null and (history_v1.name is null or l.name = history_v1.name) and l.ended_at >= since
           order by l.ended_at desc, l.id desc limit least(greatest(coalesce(most, 50), 0), 10000)) x);
end $body$;

-- What was left to a person and nobody has done yet, newest first.
create or replace function "locked".duties_v1() returns jsonb
language sql volatile security definer set search_path = pg_catalog, pg_temp as $body$
  select coalesce(jsonb_agg("locked".past(x) order by x.ended_at desc, x.id desc), '[]')
    from (select l.* from "locked".leases l where l.ended_at is not null and l.ended_as = 'human-action'
           order by l.ended_at desc, l.id desc limit 1000) x
$body$;

-- Somebody says what has become of what was left to a person. What it was stays in the note. The answer is how many there were.
create or replace function "locked".discharge_v1(resources jsonb, ended_as text default 'completed', note text default '') returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  done bigint;
begin
  perform "locked".ready();
  if coalesce(discharge_v1.ended_as, '') not in ('completed', 'failed') then
    perform "locked".refuse('ended_as must be completed or failed');
  end if;
  perform "locked".lock(w.names, w.scopes, false) from "locked".wanted(resources) w;
  update "locked".leases l
     set ended_as = discharge_v1.ended_as, note = left(concat_ws('; ', l.note, nullif("locked".shown(discharge_v1.note), '')), 4000)
    from "locked".wanted(resources) w, unnest(w.names, w.scopes) as u(name, scope)
   where l.name = u.name and l.scope = u.scope and l.ended_at is not null and l.ended_as = 'human-action';
  get diagnostics done = row_count;
  perform "locked".count_as_left(discharge_v1.ended_as, done);
  return to_jsonb(done);
end $body$;

-- Those of these grants that a live row, a join, a ticket or an unproven debt names.
create or replace function "locked".standing_v1(grants uuid[]) returns jsonb
language sql volatile security definer set search_path = pg_catalog, pg_temp as $body$
  select coalesce(jsonb_agg(g.g order by g.n), '[]') from unnest(grants) with ordinality g(g, n)
    where exists (select 1 from "locked".leases l where l.grant_id = g.g and l.ended_at is null)
       or exists (select 1 from "locked".joins j where j.grant_id = g.g)
       or exists (select 1 from "locked".tickets k where k.grant_id = g.g)
       or exists (select 1 from "locked".leases l, jsonb_array_elements(l.debt) d
                   where l.ended_at is null and l.debt <> '[]' and d ->> 'grant' = g.g::text)
$body$;

-- Which store this is, and of which version.
create or replace function "locked".about_v1() returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
begin
  return (select jsonb_object_agg(m.key, m.value) from "locked".meta m)
    || jsonb_build_object('standby', pg_is_in_recovery());
end $body$;

-- For who may only look (`locked_reader`), without keys, whole sessions or paths of files.
create or replace view "locked".live as
  select l.scope, l.name as resource, l.token, left(l.session::text, 8) as holder, l.label, l.host, l.operation,
         case when l.state = 'quarantined' then 'quarantined'
              when l.state = 'held' and not l.explicit and l.remote and l.expires_at <= clock_timestamp()
                   and l.expires_at + l.ttl_ms * interval '1 millisecond' > clock_timestamp() then 'remote'
              when l.expires_at <= clock_timestamp() then 'expired'
              when l.state = 'remote' then 'remote'
              when l.revoked then 'revoked' else l.state end as state,
         l.explicit, l.reason, l.acquired_at, l.renewed_at, l.expires_at,
         (select count(*) from "locked".ticket_resources r join "locked".tickets k on k.id = r.ticket
           where r.name = l.name and r.scope = l.scope
             and k.refreshed_at + k.silence_ms * interval '1 millisecond' >= clock_timestamp()) as waiters,
         l.ask
    from "locked".leases l where l.ended_at is null;

create or replace view "locked".history as
  select l.scope, l.name as resource, l.token, left(l.session::text, 8) as holder, l.label, l.host, l.operation, l.acquired_at,
         l.ended_at, l.ended_as, l.note,
         (select r.new from "locked".receipts r where r.lease = l.id order by r.id desc limit 1) as receipt
    from "locked".leases l where l.ended_at is not null;

create or replace view "locked".waiting as
  select r.scope, r.name as resource, k.id as place, k.holder, k.refreshed_at,
         k.refreshed_at + k.silence_ms * interval '1 millisecond' < clock_timestamp() as silent,
         k.since
    from "locked".tickets k join "locked".ticket_resources r on r.ticket = k.id;

create or replace view "locked".chain as
  select scope, path, base, new, blob, branch, host, worktree, token, holder, kind, at from "locked".receipts;

-- A ticket that leaves the queue leaves a trace of how long it stood there. Order: before the delete, which takes the
-- ticket's resources along.

create or replace function "locked".note_wait() returns trigger
language plpgsql volatile as $body$
begin
  insert into "locked".waits (grant_id, name, scope, since, until)
  select old.grant_id, r.name, r.scope, old.since, greatest(pg_catalog.clock_timestamp(), old.since)
    from "locked".ticket_resources r where r.ticket = old.id;
  return old;
end $body$;

create or replace trigger note_wait before delete on "locked".tickets for each row execute function "locked".note_wait();

-- Requests that stood in the queue, granted or not, with how long.
create or replace view "locked".waited as
  select w.scope, w.name as resource, w.since, w.until, floor(extract(epoch from w.until - w.since) * 1000)::bigint as waited_ms,
         exists (select 1 from "locked".leases l where l.grant_id = w.grant_id and l.name = w.name and l.scope = w.scope) as granted
    from "locked".waits w;

grant select on "locked".waited to locked_reader;

-- What a session does besides asking, renewing and settling: take back what it holds, look whether it has it still, go;
-- and what a person does to a session that will not.

-- Are all of these still this holder's? Locks nothing and writes nothing: to be asked right before what cannot be taken
-- back. `ours` with the tokens and how long it lasts, or `not ours` with the resources that are not.
create or replace function "locked".check_v1(resources jsonb, grant_id uuid default null, key text default null, session uuid default null)
returns jsonb language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  t timestamptz := "locked".clock();
  by_key text := case when check_v1.grant_id is not null then "locked".hash(key) end;
  answer jsonb;
begin
  if (check_v1.grant_id is null) = (check_v1.session is null) then
    perform "locked".refuse('a holding is named by grant_id and key, or by session');
  end if;
  select jsonb_build_object(
      'tokens', coalesce(jsonb_agg(jsonb_build_object('name', w.name, 'scope', w.scope, 'token', l.token) order by w.n) filter (where l.id is not null), '[]'),
      'missing', coalesce(jsonb_agg(jsonb_build_object('name', w.name, 'scope', w.scope) order by w.n) filter (where l.id is null), '[]'),
      'expires_in_ms', min("locked".expires_in(l, t)))
    into answer
    from (select u.* from "locked".wanted(check_v1.resources) x, unnest(x.names, x.scopes) with ordinality u(name, scope, n)) w
    left join "locked".leases l on l.name = w.name and l.scope = w.scope and l.ended_at is null
      and "locked".seen_as(l, t) in ('held', 'kept')
      and (l.session = check_v1.session or (l.grant_id = check_v1.grant_id and l.key_hash = by_key)
        or exists (select 1 from "locked".joins j where j.lease = l.id and j.may_run_on is null
                     and (j.session = check_v1.session or (j.grant_id = check_v1.grant_id and j.key_hash = by_key))));
  if jsonb_array_length(answer -> 'tokens') + jsonb_array_length(answer -> 'missing') = 0 then
    perform "locked".refuse('at least one resource must be asked for');
  end if;
  return jsonb_build_object('answer', case when answer -> 'missing' = '[]' then 'ours' else 'not ours' end) || answer;
end $body$;

-- A command takes over what its session holds without one: an acquire that never waits and never takes what is free or
-- somebody else's. `granted` as acquire_v1 answers it, or `not ours`. The answer that was lost is read back by asking again.
create or replace function "locked".adopt_v1(
  grant_id uuid, key text, session uuid, resources jsonb, ttl_ms bigint, claim text default 'command', label text default '',
  host text default '', host_id text default '', pid bigint default null, operation text default ''
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  names text[];
  scopes text[];
  t timestamptz;
begin
  perform "locked".ready();
  select w.names, w.scopes into names, scopes from "locked".wanted(adopt_v1.resources) w;
  perform "locked".lock(names, scopes, false);
  t := "locked".clock();
  if exists (select 1 from unnest(names, scopes) as w(name, scope)
      where not exists (select 1 from "locked".leases l where l.name = w.name and l.scope = w.scope and l.ended_at is null
        and ((l.session = adopt_v1.session and "locked".rests(l) and "locked".seen_as(l, t) in ('held', 'kept'))
          or (l.grant_id = adopt_v1.grant_id and l.key_hash = "locked".hash(adopt_v1.key))))) then
    return '{"answer": "not ours"}';
  end if;
  return "locked".acquire_v1(grant_id => adopt_v1.grant_id, key => adopt_v1.key, session => adopt_v1.session,
    resources => adopt_v1.resources, ttl_ms => adopt_v1.ttl_ms, claim => adopt_v1.claim, label => adopt_v1.label, host => adopt_v1.host,
    host_id => adopt_v1.host_id, pid => adopt_v1.pid, operation => adopt_v1.operation);
end $body$;

-- Marks live leases for stealing, all of them or none. A running command learns it from its next renew, stops and settles,
-- and only then (or when its TTL ends) is anybody else granted; `at_once` does not wait for that: two may be writing then.
-- What rests with its session, or has run out, has no command to wait for: it can be taken from now on, what it may have
-- written is proven by who takes it. `revoked` with what became of each, `nothing` where no lease lives, `quarantined` where one
-- is. A resource with `shown` is taken from that token alone (null: from nobody); else `changed`, and nothing is marked.
create or replace function "locked".revoke_v1(
  resources jsonb, reason text, session uuid default null, label text default '', at_once boolean default false
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  names text[];
  scopes text[];
  l "locked".leases%rowtype;
  t timestamptz;
  why text;
  became text;
  told jsonb := '[]';
begin
  perform "locked".ready();
  if coalesce(btrim(revoke_v1.reason), '') = '' then
    perform "locked".refuse('reason must say why');
  end if;
  select w.names, w.scopes into names, scopes from "locked".wanted(revoke_v1.resources) w;
  if cardinality(names) = 0 then
    perform "locked".refuse('at least one resource must be named');
  end if;
  perform "locked".lock(names, scopes, false);
  t := "locked".clock();
  why := case when at_once then 'revoked at once' else 'revoked' end || coalesce(' by ' || "locked".who(revoke_v1.session, "locked".shown(coalesce(revoke_v1.label, ''))), '') || ': ' || left(revoke_v1.reason, 1000);
  if exists (select 1 from "locked".leases x join unnest(names, scopes) as w(name, scope) on x.name = w.name and x.scope = w.scope
              where x.ended_at is null and x.state = 'quarantined') then
    return '{"answer": "quarantined"}';
  elsif exists (select 1 from "locked".leases x, jsonb_array_elements(revoke_v1.resources) r
                 where x.ended_at is null and x.name = r ->> 'name' and x.scope = r ->> 'scope'
                   and r ? 'shown' and x.token is distinct from (r ->> 'shown')::bigint) then
    return '{"answer": "changed"}';
  end if;
  for l in select x.* from "locked".leases x join unnest(names, scopes) as w(name, scope) on x.name = w.name and x.scope = w.scope
            where x.ended_at is null order by x.name, x.scope loop
    if "locked".rests(l) and l.files = '[]' and l.debt = '[]' then
      perform "locked".finish(l.id, 'stolen', "locked".moreover(l.reason, why), false, t);
      became := 'ended';
    elsif "locked".rests(l) or coalesce(at_once, false) or (l.expires_at <= t and not "locked".lingers(l, t)) then
      -- Nobody is given time for what may run on elsewhere either.
      update "locked".leases x
         set revoked = true, reason = "locked".moreover(l.reason, why), takeable = false,
             expires_at = t - case when "locked".runs(l) and l.remote then "locked".span(l.ttl_ms) else interval '0' end
       where x.id = l.id;
      became := 'free to take';
    else
      update "locked".leases x set revoked = true, reason = "locked".moreover(l.reason, why) where x.id = l.id;
      became := 'told';
    end if;
    told := told || jsonb_build_object('name', l.name, 'scope', l.scope, 'token', l.token, 'holder', "locked".who(l.session, l.label),
      'became', became);
    perform "locked".tell(l.name, l.scope);
  end loop;
  return jsonb_build_object('answer', case when told = '[]' then 'nothing' else 'revoked' end, 'leases', told);
end $body$;

-- A session goes: its places in the queue, its holds, and what was kept for it. What runs, is in quarantine, is an edit that
-- nobody closed, or waits for what a command set off elsewhere stays, and is named.
create or replace function "locked".end_session_v1(session uuid) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  l "locked".leases%rowtype;
  t timestamptz;
  released jsonb := '[]';
  stayed jsonb := '[]';
  why text;
begin
  perform "locked".ready();
  if end_session_v1.session is null then
    perform "locked".refuse('session must be given');
  end if;
  delete from "locked".tickets k where k.id in (
    select x.id from "locked".tickets x where x.session = end_session_v1.session order by x.id for update);
  perform "locked".lock(coalesce(array_agg(x.name), '{}'), coalesce(array_agg(x.scope), '{}'), false)
    from "locked".leases x where x.session = end_session_v1.session and x.ended_at is null;
  t := "locked".clock();
  for l in select x.* from "locked".leases x where x.session = end_session_v1.session and x.ended_at is null order by x.name, x.scope loop
    why := case when l.state = 'quarantined' then 'quarantined'
                when not "locked".rests(l) then 'running'
                when l.explicit and l.files <> '[]' then 'open edit'
                -- What its command set off elsewhere does not end with the session.
                when l.state = 'kept' and l.expires_at > t and l.reason like '% may still be running' then 'may still be running' end;
    if why is not null then
      stayed := stayed || jsonb_build_object('name', l.name, 'scope', l.scope, 'because', why);
      continue;
    end if;
    perform "locked".finish(l.id, case when l.state = 'kept' then 'failed' else 'completed' end,
      coalesce(l.reason || '; ', '') || 'its session ended', true, t);
    released := released || jsonb_build_object('name', l.name, 'scope', l.scope, 'token', l.token);
    perform "locked".tell(l.name, l.scope);
  end loop;
  -- Off the board, unless it goes on.
  if not stayed @> '[{"because": "running"}]' then
    update "locked".sessions s set ended_at = t, seen_at = t where s.session = end_session_v1.session and s.ended_at is null;
  end if;
  return jsonb_build_object('answer', 'ended', 'released', released, 'stayed', stayed);
end $body$;

-- The board: which sessions work on what, words left for a holder, and counts for whoever watches.

-- A session says what it does; said again, it says so anew.
create or replace function "locked".session_begin_v1(
  session uuid, name text, domain text, task text, label text default '', host text default ''
) returns jsonb language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  t timestamptz;
begin
  if session_begin_v1.session is null or coalesce(session_begin_v1.name, '') = '' then
    perform "locked".refuse('session and name must be given');
  end if;
  t := "locked".clock();
  insert into "locked".sessions as s (session, name, domain, task, label, host, began_at, seen_at)
  values (session_begin_v1.session, "locked".shown(session_begin_v1.name), "locked".shown(coalesce(session_begin_v1.domain, '')),
    "locked".shown(coalesce(session_begin_v1.task, '')), "locked".shown(coalesce(session_begin_v1.label, '')),
    "locked".shown(coalesce(session_begin_v1.host, '')), t, t)
  on conflict on constraint sessions_pkey do update
     set name = excluded.name, domain = excluded.domain, task = excluded.task, label = excluded.label, host = excluded.host,
         seen_at = excluded.seen_at, ended_at = null,
         began_at = case when s.ended_at is null then s.began_at else excluded.began_at end;
  return '{"answer": "begun"}';
end $body$;

-- A session is over.
create or replace function "locked".session_end_v1(session uuid) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  t timestamptz := "locked".clock();
begin
  update "locked".sessions s set ended_at = t, seen_at = t where s.session = session_end_v1.session and s.ended_at is null;
  return jsonb_build_object('ended', found);
end $body$;

-- Every session that has begun, the last to be heard of first. What it did with leases is its activity: nothing is written
-- for that.
create or replace function "locked".sessions_v1() returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  t timestamptz := "locked".clock();
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('session', x.session, 'name', x.name, 'domain', x.domain, 'task', x.task,
      'label', x.label, 'host', x.host, 'began_at', "locked".ms(x.began_at), 'seen_at', "locked".ms(x.last),
      'idle_ms', greatest(0, "locked".ms(t) - "locked".ms(x.last)), 'ended_at', "locked".ms(x.ended_at))
      order by x.last desc, x.session), '[]')
    from (select s.*, greatest(s.seen_at, case when s.ended_at is null then (
             select max(greatest(l.acquired_at, l.renewed_at)) from "locked".leases l
              where l.session = s.session and l.ended_at is null) end, case when s.ended_at is null then (
             select max(l.ended_at) from "locked".leases l where l.session = s.session and l.ended_at is not null) end) as last
            from "locked".sessions s order by s.seen_at desc limit 1000) x);
end $body$;

-- Leaves a word for who holds something. At most sixteen wait for a session, and the oldest go first.
create or replace function "locked".leave_word_v1(session uuid, about text, word text, holder text default '') returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
begin
  if leave_word_v1.session is null or coalesce(leave_word_v1.word, '') = '' then
    perform "locked".refuse('session and word must be given');
  end if;
  insert into "locked".words (session, holder, about, word, at)
  values (leave_word_v1.session, "locked".shown(coalesce(leave_word_v1.holder, '')), "locked".shown(coalesce(leave_word_v1.about, '')),
    left(leave_word_v1.word, 1000), "locked".clock());
  delete from "locked".words w where w.session = leave_word_v1.session and w.id not in (
    select x.id from "locked".words x where x.session = leave_word_v1.session order by x.id desc limit 16);
  return '{"answer": "left"}';
end $body$;

-- The words for a session, and they go.
create or replace function "locked".heard(of_session uuid) returns jsonb
language plpgsql volatile as $body$
declare
  told jsonb;
begin
  with gone as (delete from "locked".words w where w.session = of_session returning w.*)
  select coalesce(jsonb_agg(jsonb_build_object('holder', g.holder, 'about', g.about, 'text', g.word, 'at', "locked".ms(g.at)) order by g.id), '[]')
    into told from gone g;
  return told;
end $body$;

create or replace function "locked".hear_v1(session uuid) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  t timestamptz := "locked".clock();
begin
  update "locked".sessions s set seen_at = t
   where s.session = hear_v1.session and s.ended_at is null and s.seen_at <= t - interval '1 second';
  if not exists (select 1 from "locked".words w where w.session = hear_v1.session) then
    return '[]';
  end if;
  return "locked".heard(hear_v1.session);
end $body$;

-- The requests that stand in line and are not silent, the oldest first.
create or replace function "locked".waiting_v1() returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  t timestamptz := "locked".clock();
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('holder', k.holder, 'since', "locked".ms(k.since), 'resources', (
        select coalesce(jsonb_agg(jsonb_build_object('name', r.name, 'scope', r.scope) order by r.name, r.scope), '[]')
          from "locked".ticket_resources r where r.ticket = k.id)) order by k.id), '[]')
    from "locked".tickets k where k.refreshed_at + k.silence_ms * interval '1 millisecond' >= t);
end $body$;

-- Counts. Those of what has happened only grow: what was pruned stays counted.
create or replace function "locked".figures_v1() returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  t timestamptz := "locked".clock();
  counted jsonb := (select coalesce(jsonb_object_agg(y.what, y.count), '{}') from "locked".tally y);
  ended jsonb;
begin
  select coalesce(jsonb_object_agg(x.ended_as, x.count), '{}') into ended
    from (select l.ended_as, count(*) from "locked".leases l where l.ended_at is not null group by l.ended_as) x;
  return (select jsonb_object_agg(replace(w.how, '-', '_'),
        coalesce((ended ->> w.how)::bigint, 0) + coalesce((counted ->> w.how)::bigint, 0))
      from unnest(array['completed', 'failed', 'expired', 'stolen', 'human-action']) w(how))
    || jsonb_build_object(
      'waiting', (select count(*) from "locked".tickets k where not "locked".silent(k, t)),
      'waits', (select count(distinct w.grant_id) from "locked".waits w) + (select count(*) from "locked".tickets)
        + coalesce((counted ->> 'waits')::bigint, 0),
      'quarantines', (select count(*) from "locked".leases l where l.state = 'quarantined') + coalesce((counted ->> 'quarantines')::bigint, 0));
end $body$;

-- So many rows that were left to a person have ended in another way now. They are counted as what they were.
create or replace function "locked".count_as_left(now_as text, many bigint) returns void
language plpgsql volatile as $body$
begin
  insert into "locked".tally as y (what, count)
  select x.what, x.count from (values ('human-action', many), (now_as, -many)) x(what, count)
   where many > 0 and now_as <> 'human-action' order by x.what
  on conflict on constraint tally_pkey do update set count = y.count + excluded.count;
end $body$;

-- What is about to be pruned stays counted; sessions and words of so long ago go.
create or replace function "locked".keep_count(old bigint[], before timestamptz) returns void
language plpgsql volatile as $body$
begin
  insert into "locked".tally as y (what, count)
  select x.what, x.count from (
    select l.ended_as as what, count(*) as count from "locked".leases l where l.id = any (old) group by l.ended_as
    union all
    select 'quarantines', count(*) from "locked".leases l where l.id = any (old) and l.state = 'quarantined'
    union all
    select 'waits', count(distinct w.grant_id) from "locked".waits w where w.until < before) x
   where x.count > 0 order by x.what
  on conflict on constraint tally_pkey do update set count = y.count + excluded.count;
  delete from "locked".sessions s where coalesce(s.ended_at, s.seen_at) < before;
  delete from "locked".words w where w.at < before;
end $body$;

-- The ledger's upkeep. Called by who acts as the owner alone: these have no version in their name, so nobody else may.

-- Takes out what ended so long ago, but never a live row, a counter, the last rows of a resource, what a live row or a
-- command below one still refers to, a duty that nobody has done, or the last receipts of a path. `dry`: only counts.
create or replace function "locked".prune(older_ms bigint, keep integer, dry boolean) returns jsonb
language plpgsql volatile as $body$
declare
  before timestamptz := "locked".clock() - "locked".span(older_ms);
  old bigint[];
  told bigint[];
  waited bigint;
begin
  select coalesce(array_agg(x.id), '{}') into old
    from (select l.id, l.grant_id, l.ended_at, l.ended_as, row_number() over (partition by l.name, l.scope order by l.ended_at desc, l.id desc) as place
            from "locked".leases l where l.ended_at is not null) x
   where x.ended_at < before and x.place > keep and x.ended_as <> 'human-action'
     and not exists (select 1 from "locked".leases n where n.ended_at is null and n.within_grant = x.grant_id)
     and not exists (select 1 from "locked".joins j where j.within_grant = x.grant_id or j.lease = x.id);
  -- Receipts go with their row, or where it went before; the end of each chain stays, since versions are known by it.
  select coalesce(array_agg(x.id), '{}') into told
    from (select r.id, r.lease, r.at, row_number() over (partition by r.scope, r.path order by r.id desc) as place from "locked".receipts r) x
   where x.at < before and x.place > greatest(keep, 1)
     and (x.lease = any (old) or not exists (select 1 from "locked".leases l where l.id = x.lease));
  select count(*) into waited from "locked".waits w where w.until < before;
  if not dry then
    perform "locked".keep_count(old, before);
    delete from "locked".receipts r where r.id = any (told);
    delete from "locked".left_joins j where j.lease = any (old);
    delete from "locked".leases l where l.id = any (old) and l.ended_at is not null;
    delete from "locked".waits w where w.until < before;
  end if;
  return jsonb_build_object('leases', cardinality(old), 'receipts', cardinality(told), 'waits', waited,
    'left', (select count(*) from "locked".leases l where l.ended_at is not null) - case when dry then cardinality(old) else 0 end);
end $body$;

-- A new epoch: from here every token is above all that this ledger knows of, above its clock, and above `above`, by the
-- margin. Resources that it has never seen begin there too.
create or replace function "locked".raise_epoch(above bigint, margin bigint) returns jsonb
language plpgsql volatile as $body$
declare
  bottom bigint;
  raised bigint;
  epoch bigint;
begin
  -- Nobody draws a token meanwhile.
  lock table "locked".resources in access exclusive mode;
  select greatest(coalesce(max(r.last_token), 0), coalesce((select max(l.token) from "locked".leases l), 0),
                  coalesce((select max(r.token) from "locked".receipts r), 0), "locked".ms("locked".clock()), coalesce(above, 0)) + margin
    into bottom from "locked".resources r;
  update "locked".resources r set last_token = bottom where r.last_token < bottom;
  get diagnostics raised = row_count;
  execute format('alter table "locked".resources alter column last_token set default %s', bottom);
  insert into "locked".meta as m (key, value) values ('floor', bottom::text) on conflict (key) do update set value = excluded.value;
  update "locked".meta m set value = (m.value::bigint + 1)::text where m.key = 'epoch' returning m.value::bigint into epoch;
  return jsonb_build_object('epoch', epoch, 'above', bottom, 'resources', raised);
end $body$;

-- From one store to another. For who acts as the owner alone.

-- Stands before every new lease once the store has moved.
create or replace function "locked".refuse_moved() returns trigger
language plpgsql volatile as $body$
begin
  raise exception using errcode = '55000',
    message = 'this store has moved to ' || coalesce((select m.value from "locked".meta m where m.key = 'moved_to'), 'another one');
end $body$;

-- Lets no new lease in from here, if none lives; else who has one.
create or replace function "locked".leave_for(place text, id text) returns jsonb
language plpgsql volatile as $body$
declare
  living jsonb;
begin
  -- Whoever is being granted a lease is waited for, and nobody else is.
  lock table "locked".leases in share row exclusive mode;
  select coalesce(jsonb_agg(jsonb_build_object('name', l.name, 'scope', l.scope, 'holder', "locked".who(l.session, l.label),
      'state', "locked".seen_as(l, "locked".clock())) order by l.name, l.scope), '[]')
    into living from (select * from "locked".leases x where x.ended_at is null order by x.name, x.scope limit 1000) l;
  if living = '[]' then
    insert into "locked".meta (key, value) values ('moved_to', place), ('moved_to_id', id)
    on conflict (key) do update set value = excluded.value;
    execute 'create or replace trigger moved before insert on "locked".leases for each statement execute function "locked".refuse_moved()';
  end if;
  return jsonb_build_object('living', living);
end $body$;

create or replace function "locked".come_back() returns jsonb
language plpgsql volatile as $body$
begin
  execute 'drop trigger if exists moved on "locked".leases';
  delete from "locked".meta m where m.key in ('moved_to', 'moved_to_id');
  return '{}';
end $body$;

-- A page of what goes along: counters, ended leases, receipts. Moments are milliseconds since 1970.
create or replace function "locked".load_page(what text, skip bigint, most integer) returns jsonb
language plpgsql stable as $body$
begin
  return case what
    when 'resources' then (select coalesce(jsonb_agg(jsonb_build_object('name', x.name, 'scope', x.scope, 'last_token', x.last_token)), '[]')
      from (select * from "locked".resources r order by r.name, r.scope offset skip limit most) x)
    when 'leases' then (select coalesce(jsonb_agg(jsonb_build_object('name', x.name, 'scope', x.scope, 'token', x.token,
        'grant_id', x.grant_id, 'session', x.session, 'label', x.label, 'host', x.host, 'host_id', x.host_id,
        'operation', x.operation, 'rule', x.rule, 'explicit', x.explicit, 'remote', x.remote, 'adopted', x.adopted,
        'reason', x.reason, 'files', x.files, 'ttl_ms', x.ttl_ms, 'within_grant', x.within_grant,
        'acquired_at', "locked".ms(x.acquired_at), 'renewed_at', "locked".ms(x.renewed_at), 'ended_at', "locked".ms(x.ended_at),
        'ended_as', x.ended_as, 'note', x.note) order by x.id), '[]')
      from (select * from "locked".leases l where l.ended_at is not null order by l.id offset skip limit most) x)
    when 'receipts' then (select coalesce(jsonb_agg(jsonb_build_object('grant_id', l.grant_id, 'name', l.name, 'lease_scope', l.scope,
        'scope', x.scope, 'path', x.path, 'base', x.base, 'new', x.new, 'blob', x.blob, 'branch', x.branch, 'host', x.host,
        'worktree', x.worktree, 'token', x.token, 'holder', x.holder, 'kind', x.kind, 'at', "locked".ms(x.at)) order by x.scope, x.path, x.id), '[]')
      from (select * from "locked".receipts r order by r.scope, r.path, r.id offset skip limit most) x left join "locked".leases l on l.id = x.lease)
  end;
end $body$;

-- Takes a page in, once however often it comes: counters grow, rows that are there stay.
create or replace function "locked".unload_page(what text, rows jsonb) returns bigint
language plpgsql volatile as $body$
declare
  taken bigint;
begin
  if what = 'resources' then
    insert into "locked".resources (name, scope, last_token)
    select r ->> 'name', r ->> 'scope', (r ->> 'last_token')::bigint from jsonb_array_elements(rows) r
    order by (r ->> 'name') collate "C", (r ->> 'scope') collate "C"
    on conflict (name, scope) do update set last_token = greatest(resources.last_token, excluded.last_token);
  elsif what = 'leases' then
    insert into "locked".leases (scope, name, token, grant_id, key_hash, session, label, host, host_id, operation, rule, state, explicit,
      remote, adopted, settled, reason, files, ttl_ms, within_grant, acquired_at, renewed_at, ended_at, ended_as, note)
    select x.scope, x.name, x.token, x.grant_id, '', x.session, x.label, x.host, x.host_id, x.operation, x.rule, 'held', x.explicit,
      x.remote, x.adopted, true, x.reason, x.files, x.ttl_ms, x.within_grant, to_timestamp(x.acquired_at / 1000.0),
      to_timestamp(x.renewed_at / 1000.0), to_timestamp(x.ended_at / 1000.0), x.ended_as, x.note
    from jsonb_array_elements(rows) with ordinality r(r, n),
      jsonb_to_record(r.r) as x(scope text, name text, token bigint, grant_id uuid, session uuid, label text, host text, host_id text,
        operation text, rule text, explicit boolean, remote boolean, adopted boolean, reason text, files jsonb, ttl_ms bigint,
        within_grant uuid, acquired_at bigint, renewed_at bigint, ended_at bigint, ended_as text, note text)
    where not exists (select 1 from "locked".leases l where l.grant_id = x.grant_id and l.name = x.name and l.scope = x.scope)
    order by r.n;
  else
    return "locked".unload_receipts(rows);
  end if;
  get diagnostics taken = row_count;
  return taken;
end $body$;

-- Receipts come into the chains of their paths by their moments, so that the newest stays the newest.
create or replace function "locked".unload_receipts(rows jsonb) returns bigint
language plpgsql volatile as $body$
declare
  fresh "locked".receipts[];
  there "locked".receipts[];
begin
  lock table "locked".receipts in share row exclusive mode;
  select coalesce(array_agg(row(
           -x.n, coalesce((select l.id from "locked".leases l where l.grant_id = x.grant_id and l.name = x.name and l.scope = x.lease_scope limit 1), -x.n),
           x.scope, x.path, x.base, x.new, x.blob, x.branch, x.host, x.worktree, x.token, x.holder, x.kind, to_timestamp(x.at / 1000.0)
         )::"locked".receipts order by x.n), '{}') into fresh
    from (select r.n, y.* from jsonb_array_elements(rows) with ordinality r(r, n),
      jsonb_to_record(r.r) as y(grant_id uuid, name text, lease_scope text, scope text, path text, base text, new text, blob text,
        branch text, host text, worktree text, token bigint, holder text, kind text, at bigint)) x
   where not exists (select 1 from "locked".receipts r where r.scope = x.scope and r.path = x.path and r.new = x.new
                       and r.base is not distinct from x.base and r.kind = x.kind and "locked".ms(r.at) = x.at);
  with later as (
    delete from "locked".receipts r using (select f.scope, f.path, min(f.at) as first from unnest(fresh) f group by f.scope, f.path) f
     where r.scope = f.scope and r.path = f.path and r.at > f.first returning r.*)
  select coalesce(array_agg(row(l.*)::"locked".receipts), '{}') into there from later l;
  insert into "locked".receipts (lease, scope, path, base, new, blob, branch, host, worktree, token, holder, kind, at)
  select x.lease, x.scope, x.path, x.base, x.new, x.blob, x.branch, x.host, x.worktree, x.token, x.holder, x.kind, x.at
    from unnest(there || fresh) x order by x.at, x.id < 0, abs(x.id)
  on conflict do nothing;
  return cardinality(fresh);
end $body$;

-- Who may do what. Functions can be called by everybody when they are made, so this stands in the same transaction.

revoke all on schema "locked" from public;
revoke all on all tables in schema "locked" from public;
revoke all on all functions in schema "locked" from public;

do $body$
declare
  stranger text;
  callable record;
begin
  foreach stranger in array array['anon', 'authenticated'] loop
    if exists (select 1 from pg_roles where rolname = stranger) then
      execute format('revoke all on schema "locked" from %I', stranger);
      execute format('revoke all on all tables in schema "locked" from %I', stranger);
      execute format('revoke all on all functions in schema "locked" from %I', stranger);
    end if;
  end loop;
  -- The protocol: what has a version in its name.
  for callable in select p.oid::regprocedure as signature from pg_proc p
                   where p.pronamespace = '"locked"'::regnamespace and p.proname ~ '_v[0-9]+$' loop
    execute format('grant execute on function %s to locked_client', callable.signature);
  end loop;
end $body$;

-- Who works past the functions works past the protocol: nobody changes a table, and nobody reads one, which has whole names of
-- sessions and hashes of keys. What was granted on views to look at stays.
do $body$
declare
  extra record;
begin
  for extra in
    select c.oid::regclass as relation, a.privilege_type as privilege, a.grantee::regrole as grantee, c.relkind = 'S' as sequence
      from pg_class c cross join lateral aclexplode(c.relacl) a
     where c.relnamespace = '"locked"'::regnamespace and a.grantee not in (0, c.relowner)
       and (c.relkind in ('r', 'p', 'S')
            or c.relname in ('live', 'history', 'waiting', 'waited', 'chain') and a.privilege_type <> 'SELECT')
    union
    select c.oid::regclass, a.privilege_type, a.grantee::regrole, false
      from pg_class c join pg_attribute k on k.attrelid = c.oid cross join lateral aclexplode(k.attacl) a
     where c.relnamespace = '"locked"'::regnamespace and a.grantee not in (0, c.relowner) and c.relkind in ('r', 'p') loop
    execute format('revoke %s on %s %s from %s cascade', extra.privilege,
                   case when extra.sequence then 'sequence' else 'table' end, extra.relation, extra.grantee);
  end loop;
  for extra in
    select a.privilege_type as privilege, a.grantee::regrole as grantee
      from pg_namespace n cross join lateral aclexplode(n.nspacl) a
     where n.nspname = 'locked' and a.grantee not in (0, n.nspowner) and a.privilege_type <> 'USAGE' loop
    execute format('revoke %s on schema "locked" from %s cascade', extra.privilege, extra.grantee);
  end loop;
end $body$;

grant usage on schema "locked" to locked_client, locked_reader;
grant select on "locked".live, "locked".history, "locked".waiting, "locked".chain to locked_reader;

insert into "locked".meta (key, value) values ('version', '7')
on conflict (key) do update set value = excluded.value where meta.value <> excluded.value;
insert into "locked".meta (key, value) values ('store_id', gen_random_uuid()::text), ('epoch', '1') on conflict do nothing;

reset role;

do $body$
begin
  if current_setting('locked.lent', true) = 'yes' then
    execute format('revoke locked_owner from %I', current_user);
  end if;
end $body$;


commit;
