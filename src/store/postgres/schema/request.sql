-- The request itself.

create or replace function @schema@.ask(
  q @schema@.leases, claim text, silence bigint, lasts bigint, names text[], scopes text[], gone uuid[],
  asks boolean[]
) returns jsonb language plpgsql volatile as $body$
declare
  t timestamptz;
  l @schema@.leases%rowtype;
  mine @schema@.tickets%rowtype;
  live @schema@.leases[];
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
      select * into mine from @schema@.tickets k where k.grant_id = q.grant_id;
      -- Without a look where there is something to write in any case, or plainly nobody in the way.
      continue when cardinality(gone) > 0 or (silence is not null and mine.id is null);
      continue when not exists (select 1 from unnest(names, scopes) as w(name, scope)
          where exists (select 1 from @schema@.leases x where x.name = w.name and x.scope = w.scope and x.ended_at is null)
             or exists (select 1 from @schema@.ticket_resources r where r.name = w.name and r.scope = w.scope));
    else
      locked_names := names;
      locked_scopes := scopes;
      if cardinality(gone) > 0 then
        select g.names, g.scopes into locked_names, locked_scopes from @schema@.touched(names, scopes, gone) g;
      end if;
      perform @schema@.lock(locked_names, locked_scopes, true);
      select * into mine from @schema@.tickets k where k.grant_id = q.grant_id;
    end if;
    t := @schema@.clock();
    if pass = 2 and cardinality(gone) > 0 then
      perform @schema@.note_gone(gone, q, locked_names, locked_scopes, t);
      select * into mine from @schema@.tickets k where k.grant_id = q.grant_id;
    end if;

    -- Where nobody waits and nobody is above us, the usual case, a fresh session plans less.
    above := case when q.within_grant is null then '{}' else @schema@.chain(q.within_grant) end;
    waited_for := mine.id is not null or exists (
      select 1 from @schema@.ticket_resources r join unnest(names, scopes) as w(name, scope) on r.name = w.name and r.scope = w.scope);
    place := coalesce(mine.id, 9223372036854775807);
    live := '{}'; fates := '{}'; stands := '{}'; below := '{}'; ours := '{}';
    for i in 1..cardinality(names) loop
      select * into l from @schema@.leases x where x.name = names[i] and x.scope = scopes[i] and x.ended_at is null;
      fate := 'free'; stand := 'stranger'; link := null;
      if found then
        fate := @schema@.fate(l, q, kind, t);
        if fate = 'blocks' then
          select s.stands, s.below into stand, link from @schema@.line(l, above, q) s;
          fate := case when stand = 'may join' and kind = 'command' and not l.revoked then 'join'
                       when stand = 'joined' then 'ours' else 'blocks' end;
        end if;
      end if;
      live := live || l; fates := fates || fate; stands := stands || stand; below := below || link;
      ours := ours || (fate in ('adopt', 'join'));
    end loop;
    before := case when waited_for then @schema@.ahead(names, scopes, ours, above, place, t) else '{}' end;

    if 'ours' = all (fates) then
      return @schema@.read_back(live, t) || jsonb_build_object('heads', @schema@.heads(q.files));
    end if;
    if cardinality(before) = 0 and not fates && array['blocks', 'ours'] then
      continue when pass = 1;
      if waited_for then
        perform @schema@.drop_silent(names, scopes, place, t);
        delete from @schema@.tickets k where k.id = mine.id;
      end if;
      return @schema@.give(q, kind, lasts, names, scopes, live, fates, below, asks, t);
    end if;
    if pass = 2 and waited_for then
      perform @schema@.drop_silent(names, scopes, place, t);
    end if;
    if silence is not null and mine.id is not null and @schema@.needs_refresh(mine, t) then
      update @schema@.tickets k set refreshed_at = t where k.id = mine.id;
      -- It fell silent, and somebody took it out: back to the end of the queue, under the locks.
      continue when not found and pass = 1;
    elsif silence is not null and mine.id is null then
      perform @schema@.queue_up(q, names, scopes, silence, claim = 'steal', t);
    end if;
    return @schema@.busy(live, fates, stands, before, above, place, t);
  end loop;
end $body$;

-- The resources of a request and those of the leases that gone grants have or joined.
create or replace function @schema@.touched(of_names text[], of_scopes text[], gone uuid[], out names text[], out scopes text[])
language plpgsql stable as $body$
begin
  select array_agg(w.name order by w.name collate "C", w.scope collate "C"), array_agg(w.scope order by w.name collate "C", w.scope collate "C") into names, scopes
  from (select x.name, x.scope from unnest(of_names, of_scopes) as x(name, scope)
        union
        select l.name, l.scope from @schema@.leases l where l.grant_id = any (gone) and l.ended_at is null
        union
        select l.name, l.scope from @schema@.joins j join @schema@.leases l on l.id = j.lease where j.grant_id = any (gone)) w;
end $body$;

-- Every request, in full.
create or replace function @schema@.acquire_any(
  grant_id uuid, key text, session uuid, resources jsonb, ttl_ms bigint, first_ms bigint, claim text, silence_ms bigint,
  label text, host text, host_id text, pid bigint, operation text, rule text, within_grant uuid,
  live_device bigint, live_inode bigint, files jsonb, remote boolean, gone uuid[], ask jsonb
) returns jsonb
language plpgsql volatile as $body$
declare
  q @schema@.leases%rowtype;
  names text[];
  scopes text[];
  asks boolean[];
begin
  perform @schema@.ready();
  if grant_id is null or session is null or gone is null or cardinality(gone) > 256 then
    perform @schema@.refuse('grant_id and session must be given, and gone must be at most 256 grants');
  elsif claim is null or claim not in ('command', 'explicit', 'restore', 'steal') then
    perform @schema@.refuse('claim must be command, explicit, restore or steal');
  end if;
  select w.names, w.scopes into names, scopes from @schema@.wanted(resources) w;
  if cardinality(names) = 0 then
    perform @schema@.refuse('at least one resource must be asked for');
  end if;
  select array_agg(exists (select 1 from jsonb_array_elements(@schema@.records('ask', ask, 256)) a
                            where a ->> 'name' = w.name and a ->> 'scope' = w.scope) order by w.n)
    into asks from unnest(names, scopes) with ordinality w(name, scope, n);
  q.grant_id := grant_id;
  q.key_hash := @schema@.hash(key);
  q.session := session;
  q.label := @schema@.shown(coalesce(label, ''));
  q.host := @schema@.shown(coalesce(host, ''));
  q.host_id := @schema@.shown(coalesce(host_id, ''));
  q.pid := pid;
  q.operation := @schema@.shown(coalesce(operation, ''));
  -- From the whole text, before it is cut.
  q.issue := @schema@.issue_of(operation);
  q.rule := @schema@.shown(rule);
  q.within_grant := within_grant;
  q.live_device := live_device;
  q.live_inode := live_inode;
  q.files := @schema@.records('files', files, 4096);
  q.debt := '[]';
  q.remote := coalesce(remote, false);
  q.ttl_ms := @schema@.lasting('ttl_ms', ttl_ms);
  q.state := 'held';
  q.explicit := false; q.takeable := false; q.revoked := false; q.ask := false; q.adopted := false; q.settled := false;
  return @schema@.ask(q, claim,
    case when silence_ms is not null then @schema@.lasting('silence_ms', silence_ms) end,
    least(@schema@.lasting('first_ms', coalesce(first_ms, ttl_ms)), ttl_ms), names, scopes, gone, asks);
end $body$;
