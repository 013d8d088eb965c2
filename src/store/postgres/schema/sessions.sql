-- What a session does besides asking, renewing and settling: take back what it holds, look whether it has it still, go;
-- and what a person does to a session that will not.

-- Are all of these still this holder's? Locks nothing and writes nothing: to be asked right before what cannot be taken
-- back. `ours` with the tokens and how long it lasts, or `not ours` with the resources that are not.
create or replace function @schema@.check_v1(resources jsonb, grant_id uuid default null, key text default null, session uuid default null)
returns jsonb language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  t timestamptz := @schema@.clock();
  by_key text := case when check_v1.grant_id is not null then @schema@.hash(key) end;
  answer jsonb;
begin
  if (check_v1.grant_id is null) = (check_v1.session is null) then
    perform @schema@.refuse('a holding is named by grant_id and key, or by session');
  end if;
  select jsonb_build_object(
      'tokens', coalesce(jsonb_agg(jsonb_build_object('name', w.name, 'scope', w.scope, 'token', l.token) order by w.n) filter (where l.id is not null), '[]'),
      'missing', coalesce(jsonb_agg(jsonb_build_object('name', w.name, 'scope', w.scope) order by w.n) filter (where l.id is null), '[]'),
      'expires_in_ms', min(@schema@.expires_in(l, t)))
    into answer
    from (select u.* from @schema@.wanted(check_v1.resources) x, unnest(x.names, x.scopes) with ordinality u(name, scope, n)) w
    left join @schema@.leases l on l.name = w.name and l.scope = w.scope and l.ended_at is null
      and @schema@.seen_as(l, t) in ('held', 'kept')
      and (l.session = check_v1.session or (l.grant_id = check_v1.grant_id and l.key_hash = by_key)
        or exists (select 1 from @schema@.joins j where j.lease = l.id and j.may_run_on is null
                     and (j.session = check_v1.session or (j.grant_id = check_v1.grant_id and j.key_hash = by_key))));
  if jsonb_array_length(answer -> 'tokens') + jsonb_array_length(answer -> 'missing') = 0 then
    perform @schema@.refuse('at least one resource must be asked for');
  end if;
  return jsonb_build_object('answer', case when answer -> 'missing' = '[]' then 'ours' else 'not ours' end) || answer;
end $body$;

-- A command takes over what its session holds without one: an acquire that never waits and never takes what is free or
-- somebody else's. `granted` as acquire_v1 answers it, or `not ours`. The answer that was lost is read back by asking again.
create or replace function @schema@.adopt_v1(
  grant_id uuid, key text, session uuid, resources jsonb, ttl_ms bigint, claim text default 'command', label text default '',
  host text default '', host_id text default '', pid bigint default null, operation text default ''
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  names text[];
  scopes text[];
  t timestamptz;
begin
  perform @schema@.ready();
  select w.names, w.scopes into names, scopes from @schema@.wanted(adopt_v1.resources) w;
  perform @schema@.lock(names, scopes, false);
  t := @schema@.clock();
  if exists (select 1 from unnest(names, scopes) as w(name, scope)
      where not exists (select 1 from @schema@.leases l where l.name = w.name and l.scope = w.scope and l.ended_at is null
        and ((l.session = adopt_v1.session and @schema@.rests(l) and @schema@.seen_as(l, t) in ('held', 'kept'))
          or (l.grant_id = adopt_v1.grant_id and l.key_hash = @schema@.hash(adopt_v1.key))))) then
    return '{"answer": "not ours"}';
  end if;
  return @schema@.acquire_v1(grant_id => adopt_v1.grant_id, key => adopt_v1.key, session => adopt_v1.session,
    resources => adopt_v1.resources, ttl_ms => adopt_v1.ttl_ms, claim => adopt_v1.claim, label => adopt_v1.label, host => adopt_v1.host,
    host_id => adopt_v1.host_id, pid => adopt_v1.pid, operation => adopt_v1.operation);
end $body$;

-- Marks live leases for stealing, all of them or none. A running command learns it from its next renew, stops and settles,
-- and only then (or when its TTL ends) is anybody else granted; `at_once` does not wait for that: two may be writing then.
-- What rests with its session, or has run out, has no command to wait for: it can be taken from now on, what it may have
-- written is proven by who takes it. `revoked` with what became of each, `nothing` where no lease lives, `quarantined` where one
-- is. A resource with `shown` is taken from that token alone (null: from nobody); else `changed`, and nothing is marked.
create or replace function @schema@.revoke_v1(
  resources jsonb, reason text, session uuid default null, label text default '', at_once boolean default false
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  names text[];
  scopes text[];
  l @schema@.leases%rowtype;
  t timestamptz;
  why text;
  became text;
  told jsonb := '[]';
begin
  perform @schema@.ready();
  if coalesce(btrim(revoke_v1.reason), '') = '' then
    perform @schema@.refuse('reason must say why');
  end if;
  select w.names, w.scopes into names, scopes from @schema@.wanted(revoke_v1.resources) w;
  if cardinality(names) = 0 then
    perform @schema@.refuse('at least one resource must be named');
  end if;
  perform @schema@.lock(names, scopes, false);
  t := @schema@.clock();
  why := case when at_once then 'revoked at once' else 'revoked' end || coalesce(' by ' || @schema@.who(revoke_v1.session, @schema@.shown(coalesce(revoke_v1.label, ''))), '') || ': ' || left(revoke_v1.reason, 1000);
  if exists (select 1 from @schema@.leases x join unnest(names, scopes) as w(name, scope) on x.name = w.name and x.scope = w.scope
              where x.ended_at is null and x.state = 'quarantined') then
    return '{"answer": "quarantined"}';
  elsif exists (select 1 from @schema@.leases x, jsonb_array_elements(revoke_v1.resources) r
                 where x.ended_at is null and x.name = r ->> 'name' and x.scope = r ->> 'scope'
                   and r ? 'shown' and x.token is distinct from (r ->> 'shown')::bigint) then
    return '{"answer": "changed"}';
  end if;
  for l in select x.* from @schema@.leases x join unnest(names, scopes) as w(name, scope) on x.name = w.name and x.scope = w.scope
            where x.ended_at is null order by x.name, x.scope loop
    if @schema@.rests(l) and l.files = '[]' and l.debt = '[]' then
      perform @schema@.finish(l.id, 'stolen', @schema@.moreover(l.reason, why), false, t);
      became := 'ended';
    elsif @schema@.rests(l) or coalesce(at_once, false) or (l.expires_at <= t and not @schema@.lingers(l, t)) then
      -- Nobody is given time for what may run on elsewhere either.
      update @schema@.leases x
         set revoked = true, reason = @schema@.moreover(l.reason, why), takeable = false,
             expires_at = t - case when @schema@.runs(l) and l.remote then @schema@.span(l.ttl_ms) else interval '0' end
       where x.id = l.id;
      became := 'free to take';
    else
      update @schema@.leases x set revoked = true, reason = @schema@.moreover(l.reason, why) where x.id = l.id;
      became := 'told';
    end if;
    told := told || jsonb_build_object('name', l.name, 'scope', l.scope, 'token', l.token, 'holder', @schema@.who(l.session, l.label),
      'became', became);
    perform @schema@.tell(l.name, l.scope);
  end loop;
  return jsonb_build_object('answer', case when told = '[]' then 'nothing' else 'revoked' end, 'leases', told);
end $body$;

-- A session goes: its places in the queue, its holds, and what was kept for it. What runs, is in quarantine, is an edit that
-- nobody closed, or waits for what a command set off elsewhere stays, and is named.
create or replace function @schema@.end_session_v1(session uuid) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  l @schema@.leases%rowtype;
  t timestamptz;
  released jsonb := '[]';
  stayed jsonb := '[]';
  why text;
begin
  perform @schema@.ready();
  if end_session_v1.session is null then
    perform @schema@.refuse('session must be given');
  end if;
  delete from @schema@.tickets k where k.id in (
    select x.id from @schema@.tickets x where x.session = end_session_v1.session order by x.id for update);
  perform @schema@.lock(coalesce(array_agg(x.name), '{}'), coalesce(array_agg(x.scope), '{}'), false)
    from @schema@.leases x where x.session = end_session_v1.session and x.ended_at is null;
  t := @schema@.clock();
  for l in select x.* from @schema@.leases x where x.session = end_session_v1.session and x.ended_at is null order by x.name, x.scope loop
    why := case when l.state = 'quarantined' then 'quarantined'
                when not @schema@.rests(l) then 'running'
                when l.explicit and l.files <> '[]' then 'open edit'
                -- What its command set off elsewhere does not end with the session.
                when l.state = 'kept' and l.expires_at > t and l.reason like '% may still be running' then 'may still be running' end;
    if why is not null then
      stayed := stayed || jsonb_build_object('name', l.name, 'scope', l.scope, 'because', why);
      continue;
    end if;
    perform @schema@.finish(l.id, case when l.state = 'kept' then 'failed' else 'completed' end,
      coalesce(l.reason || '; ', '') || 'its session ended', true, t);
    released := released || jsonb_build_object('name', l.name, 'scope', l.scope, 'token', l.token);
    perform @schema@.tell(l.name, l.scope);
  end loop;
  -- Off the board, unless it goes on.
  if not stayed @> '[{"because": "running"}]' then
    update @schema@.sessions s set ended_at = t, seen_at = t where s.session = end_session_v1.session and s.ended_at is null;
  end if;
  return jsonb_build_object('answer', 'ended', 'released', released, 'stayed', stayed);
end $body$;
