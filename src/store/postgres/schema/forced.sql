-- A run without a lease enters the ledger: a row that has ended, or, where its files are bad or not proven, one that
-- stands in the way.

-- The ending of one resource as it was told: {ending, ended_as?, reason?, lasts_ms?}.
create or replace function @schema@.forced_ending(told jsonb) returns jsonb
language plpgsql immutable as $body$
declare
  how text := coalesce(told ->> 'ended_as', 'failed');
begin
  if coalesce(told ->> 'ending', '') not in ('ended', 'quarantine', 'lingers', 'unsettled') then
    perform @schema@.refuse('ending must be ended, quarantine, lingers or unsettled');
  elsif how not in ('completed', 'failed', 'expired', 'stolen', 'human-action') then
    perform @schema@.refuse('ended_as must be completed, failed, expired, stolen or human-action');
  elsif told ->> 'ending' = 'lingers' then
    perform @schema@.lasting('lasts_ms', (told ->> 'lasts_ms')::bigint);
  end if;
  return jsonb_build_object('ending', told ->> 'ending', 'ended_as', how, 'reason', @schema@.shown(coalesce(told ->> 'reason', '')),
    'lasts_ms', (told ->> 'lasts_ms')::bigint);
end $body$;

-- Hands the burden of a forced run to the lease that lives there; whoever comes after it proves the files.
create or replace function @schema@.burden(l @schema@.leases, q @schema@.leases, e jsonb, t timestamptz) returns void
language plpgsql volatile as $body$
declare
  what text := e ->> 'ending';
  why text := e ->> 'reason';
begin
  if what = 'quarantine' and @schema@.runs(l) then
    -- Its holder goes on; what it gives back is in quarantine.
    update @schema@.leases x set bad = why where x.id = l.id;
  elsif what = 'quarantine' then
    perform @schema@.quarantine(l, why, t);
  elsif what in ('unsettled', 'lingers') then
    update @schema@.leases x
       set debt = @schema@.owing(x.debt, x.token, @schema@.who(q.session, q.label), q.operation, q.host, q.files), takeable = false
     where x.id = l.id;
    if what = 'lingers' and @schema@.runs(l) then
      -- When its holder is done the row lingers; when its holder is gone without a word, too.
      update @schema@.leases x set may_run_on = why, remote = true where x.id = l.id;
    elsif what = 'lingers' and l.state <> 'quarantined' then
      -- A quarantine lets nobody in as it is, and who restores it is told what else to prove.
      perform @schema@.linger(l, why, greatest(l.ttl_ms, (e ->> 'lasts_ms')::bigint), t);
    end if;
  end if;
end $body$;

-- One resource of it. Makes room for the row, or hands its burden to the lease that lives there.
create or replace function @schema@.force_one(q @schema@.leases, e jsonb, over_at timestamptz, t timestamptz) returns void
language plpgsql volatile as $body$
declare
  n @schema@.leases%rowtype := q;
  l @schema@.leases%rowtype;
  what text := e ->> 'ending';
begin
  select * into l from @schema@.leases x where x.name = q.name and x.scope = q.scope and x.ended_at is null;
  if what in ('quarantine', 'lingers') and l.id is not null
     and @schema@.runs(l) and l.expires_at <= t and not @schema@.lingers(l, t) then
    n.debt := @schema@.left_by(l);
    -- A person must still be asked where the lease made room for what this run left.
    n.ask := l.ask;
    perform @schema@.finish(l.id, 'expired',
      case when what = 'lingers' then 'a forced run may still run' else 'a forced run left its file bad' end, false, t);
    l := null;
  end if;
  n.token := @schema@.next_token(q.name, q.scope, t);
  n.reason := q.note;
  n.settled := true;
  if what = 'ended' or l.id is not null then
    n.ended_at := over_at;
    n.ended_as := case when what = 'ended' then e ->> 'ended_as' else 'failed' end;
    if what <> 'ended' then
      perform @schema@.burden(l, q, e, t);
    end if;
  elsif what = 'unsettled' then
    -- Expired: the next one takes it over and proves its files.
    n.settled := false;
  else
    n.state := case when what = 'lingers' then 'remote' else 'quarantined' end;
    n.reason := (e ->> 'reason') || ' (' || q.note || ')';
    n.expires_at := case when what = 'lingers' then t + @schema@.span((e ->> 'lasts_ms')::bigint) end;
  end if;
  -- Of a row that lives the reason says it, and its end is noted with that.
  n.note := case when n.ended_at is not null then q.note end;
  perform @schema@.enter(n);
end $body$;

-- `apart`: resources of it that ended in another way, each as {scope, name, ending, …}.
create or replace function @schema@.record_forced_v1(
  grant_id uuid, session uuid, resources jsonb, ending text, began_ms bigint, ended_ms bigint, forced_because text,
  ended_as text default 'failed', reason text default null, lasts_ms bigint default null, apart jsonb default '[]', label text default '', host text default '', host_id text default '',
  operation text default '', rule text default null, files jsonb default '[]', receipts jsonb default '[]'
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  q @schema@.leases%rowtype;
  w record;
  t timestamptz;
  whole jsonb := @schema@.forced_ending(jsonb_build_object('ending', ending, 'ended_as', ended_as, 'reason', reason,
    'lasts_ms', lasts_ms));
  e jsonb;
begin
  perform @schema@.ready();
  perform @schema@.forced_ending(a) from jsonb_array_elements(@schema@.records('apart', apart, 256)) a;
  if grant_id is null or session is null then
    perform @schema@.refuse('grant_id and session must be given');
  elsif began_ms is null or ended_ms is null or began_ms not between 0 and 99999999999999 or ended_ms not between 0 and 99999999999999 then
    perform @schema@.refuse('began_ms and ended_ms must be milliseconds since 1970');
  end if;
  select * into w from @schema@.wanted(resources);
  perform @schema@.lock(w.names, w.scopes, true);
  t := @schema@.clock();
  q.grant_id := grant_id;
  -- No key hashes to nothing: nobody renews or settles this row.
  q.key_hash := '';
  q.session := session;
  q.label := @schema@.shown(coalesce(label, ''));
  q.host := @schema@.shown(coalesce(host, ''));
  q.host_id := @schema@.shown(coalesce(host_id, ''));
  q.operation := @schema@.shown(coalesce(operation, ''));
  q.rule := @schema@.shown(rule);
  q.files := @schema@.records('files', files, 4096);
  q.debt := '[]';
  q.state := 'held';
  q.explicit := false; q.takeable := false; q.revoked := false; q.remote := false; q.ask := false; q.adopted := false;
  q.ttl_ms := 1000;
  q.acquired_at := to_timestamp(began_ms / 1000.0);
  q.renewed_at := to_timestamp(ended_ms / 1000.0);
  q.expires_at := t;
  q.note := 'forced: ' || @schema@.shown(coalesce(forced_because, ''));
  for i in 1..cardinality(w.names) loop
    q.name := w.names[i];
    q.scope := w.scopes[i];
    continue when exists (select 1 from @schema@.leases x where x.grant_id = q.grant_id and x.name = q.name and x.scope = q.scope);
    select coalesce((select @schema@.forced_ending(a) from jsonb_array_elements(apart) a
                      where a ->> 'name' = q.name and a ->> 'scope' = q.scope limit 1), whole) into e;
    perform @schema@.force_one(q, e, to_timestamp(ended_ms / 1000.0), t);
    perform @schema@.leave_receipts(
      (select coalesce(jsonb_agg(r.r order by r.n), '[]') from jsonb_array_elements(receipts) with ordinality r(r, n)
        where (r.r -> 'resource' ->> 'name' = q.name and r.r -> 'resource' ->> 'scope' = q.scope) or i = 1 and not exists (
          select 1 from unnest(w.names, w.scopes) as o(name, scope)
           where o.name = r.r -> 'resource' ->> 'name' and o.scope = r.r -> 'resource' ->> 'scope')),
      (select array_agg(x) from @schema@.leases x where x.grant_id = q.grant_id and x.name = q.name and x.scope = q.scope), t);
  end loop;
  return '{"answer": "recorded"}';
end $body$;
