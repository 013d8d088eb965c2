-- Acquire: all or none, oldest request first, in one call. First a look without locks: who is only told "busy" writes
-- nothing, but for the refresh of its ticket. Then the same under the locks of all resources, taken in byte order.

-- The lease in the way, and each command below its holder that has joined it: whoever is gone can be proven so.
create or replace function @schema@.in_the_way(l @schema@.leases, t timestamptz) returns jsonb
language plpgsql stable as $body$
begin
  return (
    -- That who asks a person is gone has been said when it has run out; it frees nothing.
    select jsonb_build_array(seen.it || jsonb_build_object('reclaimable',
        @schema@.runs(l) and joins.them = '[]' and not (l.ask and l.expires_at <= t))) || joins.them
    from (select @schema@.seen(l, t) as it offset 0) seen,
    lateral (select coalesce(jsonb_agg(seen.it || jsonb_build_object(
        'grant', j.grant_id, 'live_device', j.live_device, 'live_inode', j.live_inode, 'host_id', j.host_id,
        'session', j.session, 'label', j.label, 'host', j.host, 'pid', j.pid, 'operation', j.operation,
        'state', case when j.may_run_on is null then seen.it ->> 'state' else 'remote' end,
        'reason', coalesce(j.may_run_on, seen.it ->> 'reason'),
        'reclaimable', j.may_run_on is null) order by j.id), '[]') as them
      from @schema@.joins j where j.lease = l.id) joins);
end $body$;

-- "Busy": who is in the way, who is before us, and whether waiting would close a circle.
create or replace function @schema@.busy(
  live @schema@.leases[], fates text[], stands text[], before bigint[], above uuid[], place bigint, t timestamptz
) returns jsonb language plpgsql volatile as $body$
declare
  blockers jsonb := '[]';
  older jsonb;
  deadlock boolean := false;
begin
  for i in 1..cardinality(fates) loop
    if fates[i] = 'blocks' then
      blockers := blockers || @schema@.in_the_way(live[i], t);
      -- A hold between commands cannot be taken from below a command that has the very resource until it ends.
      deadlock := deadlock or stands[i] = 'may join';
    end if;
  end loop;
  if not deadlock and cardinality(above) > 0 then
    deadlock := @schema@.closes(above, (select array_agg((b ->> 'grant')::uuid) from jsonb_array_elements(blockers) b), place, t);
  end if;
  select coalesce(jsonb_agg(jsonb_build_object('grant', k.grant_id, 'live_device', k.live_device,
           'live_inode', k.live_inode, 'host_id', k.host_id, 'holder', k.holder) order by k.id), '[]')
    into older from @schema@.tickets k where k.id = any (before);
  return jsonb_build_object('answer', 'busy', 'blockers', blockers, 'ahead', older, 'deadlock', deadlock);
end $body$;

-- The live rows of a grant whose wrapper and keeper were proven gone expire now; whoever takes them next takes their
-- debt. An effect that may run on elsewhere is given its time first. Only rows of resources whose locks we have.
create or replace function @schema@.note_gone(gone uuid[], q @schema@.leases, names text[], scopes text[], t timestamptz)
returns void language plpgsql volatile as $body$
declare
  told text := 'proven gone by ' || @schema@.who(q.session, q.label);
  j @schema@.joins%rowtype;
begin
  delete from @schema@.tickets k where k.id in (
    select x.id from @schema@.tickets x where x.grant_id = any (gone) order by x.id for update skip locked);
  for j in select x.* from @schema@.joins x join @schema@.leases l on l.id = x.lease
            join unnest(names, scopes) as w(name, scope) on l.name = w.name and l.scope = w.scope
            where x.grant_id = any (gone) order by x.id loop
    -- Read anew: an earlier one that left may have moved it.
    select * into j from @schema@.joins x where x.id = j.id;
    if j.may_run_on is null and j.remote then
      perform @schema@.stay(j, told || '; its effect may still be running');
    elsif j.may_run_on is null then
      perform @schema@.bury(j);
    end if;
  end loop;
  -- What joined it lives on under it, and inherits it in the end.
  update @schema@.leases l
     set state = case when l.remote then 'remote' else l.state end,
         pid = case when not l.remote then l.pid end,
         live_device = case when not l.remote then l.live_device end,
         live_inode = case when not l.remote then l.live_inode end,
         expires_at = case when l.remote then t + @schema@.span(l.ttl_ms) else t end,
         reason = @schema@.because(l, case when l.remote then told || '; its effect may still be running' else told end)
    from unnest(names, scopes) as w(name, scope)
   where l.grant_id = any (gone) and l.ended_at is null and @schema@.runs(l) and l.name = w.name and l.scope = w.scope
     and not exists (select 1 from @schema@.joins x where x.lease = l.id and x.may_run_on is null);
end $body$;

-- All resources are ours already, and the answer was lost.
create or replace function @schema@.read_back(live @schema@.leases[], t timestamptz) returns jsonb
language plpgsql stable as $body$
declare
  answer jsonb := '{"answer": "granted", "tokens": [], "unsettled": [], "carried": [], "reclaimed": [], "adopted": []}';
  lasts bigint;
  l @schema@.leases%rowtype;
begin
  foreach l in array live loop
    answer := @schema@.told(@schema@.with_token(answer, l.name, l.scope, l.token, l.adopted), l.debt, l.name, l.scope);
    lasts := least(lasts, coalesce(@schema@.expires_in(l, t), l.ttl_ms));
  end loop;
  return answer || jsonb_build_object('lasts_ms', lasts);
end $body$;

-- A grant's answer with one more resource.
create or replace function @schema@.with_token(answer jsonb, name text, scope text, token bigint, adopted boolean) returns jsonb
language sql immutable as $body$
  select answer || jsonb_build_object(
    'tokens', (answer -> 'tokens') || jsonb_build_array(jsonb_build_object('name', name, 'scope', scope, 'token', token)),
    'adopted', case when adopted then (answer -> 'adopted') || jsonb_build_array(jsonb_build_object('name', name, 'scope', scope))
                    else answer -> 'adopted' end)
$body$;
