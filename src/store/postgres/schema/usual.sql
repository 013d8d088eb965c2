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

create or replace function @schema@.acquire_otherwise(
  uuid, text, uuid, jsonb, bigint, bigint, text, bigint, text, text, text, bigint, text, text, uuid, bigint, bigint, jsonb, boolean, uuid[], jsonb
) returns jsonb language sql volatile as $body$
  select it from @schema@.acquire_any(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) it
$body$;

create or replace function @schema@.renew_otherwise(jsonb, uuid, text, uuid) returns jsonb language sql volatile as $body$
  select it from @schema@.renew_any($1, $2, $3, $4) it
$body$;

create or replace function @schema@.settle_otherwise(jsonb, text, uuid, text, uuid, text, text, bigint, boolean, jsonb, jsonb)
returns jsonb language sql volatile as $body$
  select it from @schema@.settle_any($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) it
$body$;

-- The arguments need no more than a lock: durable, each statement with a view of its own, one resource, one key.
create or replace function @schema@.plain(resources jsonb, key text) returns boolean
language sql stable as $body$
  select current_setting('synchronous_commit') not in ('off', 'local')
     and current_setting('transaction_isolation') = 'read committed'
     and case when jsonb_typeof(resources) = 'array' then jsonb_array_length(resources) = 1 end
     and key ~ '^[0-9a-f]{64}$'
$body$;

-- Under the lock: the new row, if the resource is free and nobody waits for it; else null. The token has grown already.
create or replace function @schema@.take_free(
  of_name text, of_scope text, of_token bigint, of_grant uuid, key text, of_session uuid, claim text, label text, host text,
  host_id text, pid bigint, operation text, rule text, within_grant uuid, live_device bigint, live_inode bigint, files jsonb,
  remote boolean, ttl_ms bigint, lasts bigint
) returns jsonb language sql volatile as $body$
  with entered as (
    insert into @schema@.leases (name, scope, token, grant_id, key_hash, session, explicit, label, host, host_id, pid, operation,
      rule, issue, state, within_grant, live_device, live_inode, files, remote, ttl_ms, expires_at, acquired_at, renewed_at)
    select of_name, of_scope, of_token, of_grant, encode(sha256(decode(key, 'hex')), 'hex'), of_session, claim = 'explicit',
      left(coalesce(label, ''), 2000), left(coalesce(host, ''), 2000), left(coalesce(host_id, ''), 2000),
      case when claim <> 'explicit' then pid end, left(coalesce(operation, ''), 2000), left(rule, 2000), @schema@.issue_of(operation), 'held',
      within_grant,
      live_device, live_inode, files, coalesce(remote, false), ttl_ms, t + lasts * interval '1 millisecond', t, t
    from @schema@.clock() t
    where not exists (select 1 from @schema@.leases x where x.name = of_name and x.scope = of_scope and x.ended_at is null)
      and not exists (select 1 from @schema@.ticket_resources x where x.name = of_name and x.scope = of_scope)
      and not exists (select 1 from @schema@.leases x where x.session = of_session and x.ended_at is null offset 9999)
      -- Nor has anybody left a word for this session.
      and not exists (select 1 from @schema@.words x where x.session = of_session)
    returning 1)
  select jsonb_build_object('answer', 'granted', 'lasts_ms', lasts,
    'tokens', jsonb_build_array(jsonb_build_object('name', of_name, 'scope', of_scope, 'token', of_token)),
    'unsettled', '[]'::jsonb, 'carried', '[]'::jsonb, 'reclaimed', '[]'::jsonb, 'adopted', '[]'::jsonb,
    'heads', case when files = '[]' then files else @schema@.heads(files) end)
  from entered
$body$;

-- Where the resource looks free its counter grows, which locks it. Should it not be free under the lock, the counter has
-- grown for nobody, and that is all.
create or replace function @schema@.acquire_v1(
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
    insert into @schema@.resources as r (name, scope, last_token)
    -- A resource that this ledger has never seen begins above what its epoch says.
    select a.name, a.scope, greatest(@schema@.ms(@schema@.clock()), (select m.value::bigint + 1 from @schema@.meta m where m.key = 'floor'))
      from asked a
     where @schema@.plain(resources, key) and grant_id is not null and session is not null and gone = '{}' and ask = '[]'
       and claim in ('command', 'explicit', 'restore')
       and a.name ~ '^[a-z0-9_-]+:[^[:space:][:cntrl:]]+$' and octet_length(a.name) <= 512
       and a.scope ~ '^[^[:cntrl:]]+$' and octet_length(a.scope) <= 1024
       and ttl_ms between 1 and 2592000000 and coalesce(first_ms, 1) between 1 and 2592000000
       and coalesce(silence_ms, 1) between 1 and 2592000000
       and octet_length(files::text) <= 4194304
       and case when jsonb_typeof(files) = 'array' then jsonb_array_length(files) <= 4096 end
       and not exists (select 1 from @schema@.leases x where x.name = a.name and x.scope = a.scope and x.ended_at is null)
       and not exists (select 1 from @schema@.ticket_resources x where x.name = a.name and x.scope = a.scope)
    on conflict (name, scope) do update set last_token = greatest(r.last_token + 1, @schema@.ms(@schema@.clock()))
    returning r.name, r.scope, r.last_token)
  select coalesce(
    (select @schema@.take_free(r.name, r.scope, r.last_token, grant_id, key, session, claim, label, host, host_id, pid, operation,
       rule, within_grant, live_device, live_inode, files, remote, ttl_ms, least(coalesce(first_ms, ttl_ms), ttl_ms)) from locked r),
    @schema@.acquire_otherwise(grant_id, key, session, resources, ttl_ms, first_ms, claim, silence_ms, label, host, host_id, pid,
      operation, rule, within_grant, live_device, live_inode, files, remote, gone, ask))
$body$;

-- Under the lock: a full TTL from now for the holder's live row; null where it is anything but that, kept among them.
create or replace function @schema@.go_on(of_name text, of_scope text, of_token bigint, of_grant uuid, key text) returns jsonb
language sql volatile as $body$
  with renewed as (
    update @schema@.leases l
       set renewed_at = t, expires_at = case when l.expires_at is not null then t + l.ttl_ms * interval '1 millisecond' end
      from @schema@.clock() t
     where l.name = of_name and l.scope = of_scope and l.ended_at is null and l.grant_id = of_grant and l.token = of_token
       and l.key_hash = encode(sha256(decode(key, 'hex')), 'hex') and l.state in ('held', 'quarantined') and not l.revoked
    returning l.ttl_ms)
  select jsonb_build_object('answer', 'renewed', 'lasts_ms', r.ttl_ms) from renewed r
$body$;

create or replace function @schema@.renew_v1(resources jsonb, grant_id uuid default null, key text default null, session uuid default null)
returns jsonb language sql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
  with locked as (
    select r.name, r.scope from @schema@.resources r
     where r.name = resources -> 0 ->> 'name' and r.scope = resources -> 0 ->> 'scope'
       and @schema@.plain(resources, key) and grant_id is not null and session is null
       for update)
  select coalesce(
    (select @schema@.go_on(r.name, r.scope, (resources -> 0 ->> 'token')::bigint, grant_id, key) from locked r),
    @schema@.renew_otherwise(resources, grant_id, key, session))
$body$;

-- Under the lock: the holder's live row ends by its word, its receipts are left; null where something else hangs on it: an
-- earlier word, an explicit hold, a join, what a command below left, or somebody who waits and must be told.
create or replace function @schema@.end_plainly(
  of_name text, of_scope text, of_token bigint, of_grant uuid, key text, how text, receipts jsonb
) returns jsonb language sql volatile as $body$
  with ended as (
    update @schema@.leases l
       set ended_at = t, ended_as = @schema@.ended(l, how), note = nullif(left(l.reason, 4000), ''), settled = true, takeable = false
      from @schema@.clock() t
     where l.name = of_name and l.scope = of_scope and l.ended_at is null and l.grant_id = of_grant and l.token = of_token
       and l.key_hash = encode(sha256(decode(key, 'hex')), 'hex')
       and not l.settled and l.hold_ttl_ms is null and l.bad is null and l.may_run_on is null and l.debt = '[]'
       and not exists (select 1 from @schema@.joins j where j.lease = l.id)
       and not exists (select 1 from @schema@.ticket_resources x where x.name = of_name and x.scope = of_scope)
    returning l as lease, t)
  select '{"answer": "released"}'::jsonb from ended e
   where case when receipts = '[]' then true else (select true from @schema@.leave_receipts(receipts, array[e.lease], e.t)) end
$body$;

create or replace function @schema@.settle_v1(
  resources jsonb, ending text, grant_id uuid default null, key text default null, session uuid default null,
  ended_as text default 'completed', reason text default null, keep_ms bigint default null, takeable boolean default false,
  apart jsonb default '[]', receipts jsonb default '[]'
) returns jsonb
language sql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
  with locked as (
    select r.name, r.scope from @schema@.resources r
     where r.name = resources -> 0 ->> 'name' and r.scope = resources -> 0 ->> 'scope'
       and @schema@.plain(resources, key) and grant_id is not null and session is null
       and ending = 'release' and ended_as in ('completed', 'failed', 'expired', 'stolen', 'human-action')
       and coalesce(reason, '') = '' and apart = '[]' and octet_length(receipts::text) <= 4194304
       and case when jsonb_typeof(receipts) = 'array' then jsonb_array_length(receipts) <= 4096 end
       for update)
  select coalesce(
    (select @schema@.end_plainly(r.name, r.scope, (resources -> 0 ->> 'token')::bigint, grant_id, key, ended_as, receipts) from locked r),
    @schema@.settle_otherwise(resources, ending, grant_id, key, session, ended_as, reason, keep_ms, takeable, apart, receipts))
$body$;
