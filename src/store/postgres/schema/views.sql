-- What people see.

-- A live lease as clients get it. They are cooperative: the whole session is in it, and shown short.
create or replace function @schema@.seen(l @schema@.leases, t timestamptz) returns jsonb
language plpgsql stable as $body$
begin
  return (
    select jsonb_build_object('name', l.name, 'scope', l.scope, 'token', l.token, 'session', l.session, 'label', l.label,
      'host', l.host, 'grant', l.grant_id, 'live_device', l.live_device, 'live_inode', l.live_inode, 'host_id', l.host_id,
      'pid', l.pid, 'operation', l.operation, 'issue', @schema@.issue(l),
      'hold_issue', case when l.hold_ttl_ms is not null then @schema@.own_issue(l) end, 'state', @schema@.seen_as(l, t), 'explicit', l.explicit, 'takeable', l.takeable, 'ask', l.ask,
      'reason', l.reason, 'acquired_at', @schema@.ms(l.acquired_at), 'renewed_at', @schema@.ms(l.renewed_at),
      'idle_ms', @schema@.ms(t) - @schema@.ms(l.renewed_at),
      'expires_in_ms', @schema@.expires_in(l, t),
      'expired_ms', case when l.expires_at <= t and not @schema@.lingers(l, t) then @schema@.ms(t) - @schema@.ms(l.expires_at) end,
      'waiters', @schema@.waiters(l.name, l.scope, t), 'files', @schema@.all_files(l)));
end $body$;

-- The live leases of these resources or of all, in resource order.
create or replace function @schema@.leases_v1(resources jsonb default null) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  t timestamptz := @schema@.clock();
begin
  return (select coalesce(jsonb_agg(@schema@.seen(l, t) order by l.name, l.scope), '[]') from @schema@.leases l
    where l.ended_at is null and (resources is null or (l.name, l.scope) in (
      select r ->> 'name', r ->> 'scope' from jsonb_array_elements(@schema@.records('resources', coalesce(resources, '[]'), 4096)) r)));
end $body$;

-- An ended lease as clients get it.
create or replace function @schema@.past(l @schema@.leases) returns jsonb
language sql stable as $body$
  select jsonb_build_object('name', l.name, 'scope', l.scope, 'token', l.token, 'session', l.session, 'label', l.label,
    'host', l.host, 'operation', l.operation, 'acquired_at', @schema@.ms(l.acquired_at), 'ended_at', @schema@.ms(l.ended_at),
    'ended_as', l.ended_as, 'note', l.note,
    'receipt', (select r.new from @schema@.receipts r where r.lease = l.id order by r.id desc limit 1))
$body$;

-- Ended leases, newest first.
create or replace function @schema@.history_v1(name text default null, since_ms bigint default null, most integer default 50) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  since timestamptz := case when since_ms is null then '-infinity' else @schema@.clock() - @schema@.span(least(since_ms, 315360000000)) end;
begin
  return (select coalesce(jsonb_agg(@schema@.past(x) order by x.ended_at desc, x.id desc), '[]')
    from (select l.* from @schema@.leases l
           where l.ended_at is not null and (history_v1.name is null or l.name = history_v1.name) and l.ended_at >= since
           order by l.ended_at desc, l.id desc limit least(greatest(coalesce(most, 50), 0), 10000)) x);
end $body$;

-- What was left to a person and nobody has done yet, newest first.
create or replace function @schema@.duties_v1() returns jsonb
language sql volatile security definer set search_path = pg_catalog, pg_temp as $body$
  select coalesce(jsonb_agg(@schema@.past(x) order by x.ended_at desc, x.id desc), '[]')
    from (select l.* from @schema@.leases l where l.ended_at is not null and l.ended_as = 'human-action'
           order by l.ended_at desc, l.id desc limit 1000) x
$body$;

-- Somebody says what has become of what was left to a person. What it was stays in the note. The answer is how many there were.
create or replace function @schema@.discharge_v1(resources jsonb, ended_as text default 'completed', note text default '') returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  done bigint;
begin
  perform @schema@.ready();
  if coalesce(discharge_v1.ended_as, '') not in ('completed', 'failed') then
    perform @schema@.refuse('ended_as must be completed or failed');
  end if;
  perform @schema@.lock(w.names, w.scopes, false) from @schema@.wanted(resources) w;
  update @schema@.leases l
     set ended_as = discharge_v1.ended_as, note = left(concat_ws('; ', l.note, nullif(@schema@.shown(discharge_v1.note), '')), 4000)
    from @schema@.wanted(resources) w, unnest(w.names, w.scopes) as u(name, scope)
   where l.name = u.name and l.scope = u.scope and l.ended_at is not null and l.ended_as = 'human-action';
  get diagnostics done = row_count;
  perform @schema@.count_as_left(discharge_v1.ended_as, done);
  return to_jsonb(done);
end $body$;

-- Those of these grants that a live row, a join, a ticket or an unproven debt names.
create or replace function @schema@.standing_v1(grants uuid[]) returns jsonb
language sql volatile security definer set search_path = pg_catalog, pg_temp as $body$
  select coalesce(jsonb_agg(g.g order by g.n), '[]') from unnest(grants) with ordinality g(g, n)
    where exists (select 1 from @schema@.leases l where l.grant_id = g.g and l.ended_at is null)
       or exists (select 1 from @schema@.joins j where j.grant_id = g.g)
       or exists (select 1 from @schema@.tickets k where k.grant_id = g.g)
       or exists (select 1 from @schema@.leases l, jsonb_array_elements(l.debt) d
                   where l.ended_at is null and l.debt <> '[]' and d ->> 'grant' = g.g::text)
$body$;

-- Which store this is, and of which version.
create or replace function @schema@.about_v1() returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
begin
  return (select jsonb_object_agg(m.key, m.value) from @schema@.meta m)
    || jsonb_build_object('standby', pg_is_in_recovery());
end $body$;

-- For who may only look (`locked_reader`), without keys, whole sessions or paths of files.
create or replace view @schema@.live as
  select l.scope, l.name as resource, l.token, left(l.session::text, 8) as holder, l.label, l.host, l.operation,
         case when l.state = 'quarantined' then 'quarantined'
              when l.state = 'held' and not l.explicit and l.remote and l.expires_at <= clock_timestamp()
                   and l.expires_at + l.ttl_ms * interval '1 millisecond' > clock_timestamp() then 'remote'
              when l.expires_at <= clock_timestamp() then 'expired'
              when l.state = 'remote' then 'remote'
              when l.revoked then 'revoked' else l.state end as state,
         l.explicit, l.reason, l.acquired_at, l.renewed_at, l.expires_at,
         (select count(*) from @schema@.ticket_resources r join @schema@.tickets k on k.id = r.ticket
           where r.name = l.name and r.scope = l.scope
             and k.refreshed_at + k.silence_ms * interval '1 millisecond' >= clock_timestamp()) as waiters,
         l.ask
    from @schema@.leases l where l.ended_at is null;

create or replace view @schema@.history as
  select l.scope, l.name as resource, l.token, left(l.session::text, 8) as holder, l.label, l.host, l.operation, l.acquired_at,
         l.ended_at, l.ended_as, l.note,
         (select r.new from @schema@.receipts r where r.lease = l.id order by r.id desc limit 1) as receipt
    from @schema@.leases l where l.ended_at is not null;

create or replace view @schema@.waiting as
  select r.scope, r.name as resource, k.id as place, k.holder, k.refreshed_at,
         k.refreshed_at + k.silence_ms * interval '1 millisecond' < clock_timestamp() as silent,
         k.since
    from @schema@.tickets k join @schema@.ticket_resources r on r.ticket = k.id;

create or replace view @schema@.chain as
  select scope, path, base, new, blob, branch, host, worktree, token, holder, kind, at from @schema@.receipts;
