-- Renew, and the record of files: for who has the grant's key, or for the session where no command runs.

-- The rows of a holding, one per resource, ended ones of the same grant included, and beside each the join by which the
-- holder joined somebody above it, and whether it had joined and has settled that; null when one of them was never this holder's or is somebody else's now.
create or replace function @schema@.parts(by_grant uuid, by_key text, by_session uuid, resources jsonb, out live @schema@.leases[], out joined bigint[], out parted boolean[])
language plpgsql stable as $body$
declare
  w record;
  l @schema@.leases%rowtype;
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
      select * into l from @schema@.leases x
       where x.name = w.name and x.scope = w.scope and x.ended_at is null and x.session = by_session and @schema@.rests(x);
    else
      select * into l from @schema@.leases x
       where x.grant_id = by_grant and x.name = w.name and x.scope = w.scope and x.key_hash = by_key;
      if not found then
        select x.* into l from @schema@.leases x where x.name = w.name and x.scope = w.scope and x.ended_at is null
           and exists (select 1 from @schema@.joins y where y.lease = x.id and y.grant_id = by_grant and y.key_hash = by_key);
        select y.id into j from @schema@.joins y where y.lease = l.id and y.grant_id = by_grant;
      end if;
      if l.id is null then
        select x.* into l from @schema@.leases x where x.name = w.name and x.scope = w.scope
           and x.id in (select y.lease from @schema@.left_joins y where y.grant_id = by_grant and y.key_hash = by_key);
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
create or replace function @schema@.hold(
  grant_id uuid, key text, session uuid, resources jsonb, out live @schema@.leases[], out joined bigint[],
  out parted boolean[], out over text, out t timestamptz
) language plpgsql volatile as $body$
begin
  perform @schema@.ready();
  if (grant_id is null) = (session is null) then
    perform @schema@.refuse('a holding is named by grant_id and key, or by session');
  end if;
  perform @schema@.lock(w.names, w.scopes, false) from @schema@.wanted(resources) w;
  t := @schema@.clock();
  select p.live, p.joined, p.parted into live, joined, parted
    from @schema@.parts(grant_id, case when grant_id is not null then @schema@.hash(key) end, session, resources) p;
  if live is null or cardinality(live) = 0 or true = any (parted)
     or exists (select 1 from unnest(live) l where l.ended_at is not null or l.state = 'remote')
     or exists (select 1 from @schema@.joins j where j.id = any (joined) and j.may_run_on is not null) then
    over := 'gone';
  elsif exists (select 1 from unnest(live) l where l.revoked) then
    over := 'revoked';
  end if;
end $body$;

-- A full TTL from now for every row; what does not expire stays so, and what is kept for longer is not kept for less. An
-- expired row that nobody took goes on. By a session what a command left kept has the TTL of the hold that it was: the beats
-- are the hold's. With tokens: somebody keeps its hold alive, and that is no sign of it.
create or replace function @schema@.renew_any(resources jsonb, grant_id uuid, key text, session uuid) returns jsonb
language plpgsql volatile as $body$
declare
  h record;
  in_its_name boolean;
  by_session boolean := session is not null;
begin
  select * into h from @schema@.hold(grant_id, key, session, resources);
  if h.over is not null then
    return jsonb_build_object('answer', h.over);
  end if;
  in_its_name := by_session and exists (select 1 from jsonb_array_elements(resources) r where r ? 'token');
  -- Anybody has it who asks: a renew would promise what it does not keep. To hold it the session asks for it.
  if by_session and not in_its_name and exists (select 1 from unnest(h.live) l where l.takeable and not l.ask) then
    return '{"answer": "gone"}';
  end if;
  update @schema@.leases l
     set renewed_at = case when in_its_name then l.renewed_at else h.t end,
         expires_at = case when l.expires_at is null then null
                           when l.state = 'kept' then greatest(l.expires_at, h.t + @schema@.span(w.lasts))
                           else h.t + @schema@.span(w.lasts) end
    from (select x.id, case when by_session then coalesce(x.hold_ttl_ms, x.ttl_ms) else x.ttl_ms end as lasts
            from unnest(h.live) x) w
   where l.id = w.id;
  return jsonb_build_object('answer', 'renewed', 'lasts_ms', (
    select min(case when by_session then coalesce(x.hold_ttl_ms, x.ttl_ms) else x.ttl_ms end) from unnest(h.live) x));
end $body$;

-- Replaces the record of files; with it the debt to predecessors is paid, but not what the session's own earlier
-- commands may have written. Gives no time: that is the renew's to do.
create or replace function @schema@.record_files_v1(
  resources jsonb, files jsonb, grant_id uuid default null, key text default null, session uuid default null, receipts jsonb default '[]'
) returns jsonb language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  h record;
  record jsonb := @schema@.records('files', files, 4096);
begin
  select * into h from @schema@.hold(grant_id, key, session, resources);
  if h.over is not null then
    return jsonb_build_object('answer', h.over);
  end if;
  perform @schema@.leave_receipts(@schema@.records('receipts', receipts, 4096), h.live, h.t);
  for i in 1..cardinality(h.live) loop
    if h.joined[i] is not null then
      update @schema@.joins j set files = record where j.id = h.joined[i];
    else
      update @schema@.leases l set files = record, debt = @schema@.unpaid(l.debt) where l.id = (h.live[i]).id;
    end if;
  end loop;
  return jsonb_build_object('answer', 'renewed',
    'lasts_ms', (select min(coalesce(@schema@.expires_in(l, h.t), l.ttl_ms)) from unnest(h.live) l));
end $body$;
