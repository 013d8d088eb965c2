-- A run without a lease enters the ledger: a row that has ended, or, where its files are bad or not proven, one that
-- stands in the way.

-- One resource of it. Makes room for the row, or hands its burden to the lease that lives there.
create or replace function @schema@.force_one(
  q @schema@.leases, ending text, how text, why text, over_at timestamptz, t timestamptz
) returns void language plpgsql volatile as $body$
declare
  n @schema@.leases%rowtype := q;
  l @schema@.leases%rowtype;
begin
  select * into l from @schema@.leases x where x.name = q.name and x.scope = q.scope and x.ended_at is null;
  n.token := @schema@.next_token(q.name, q.scope, t);
  n.reason := q.note;
  n.settled := true;
  n.ended_at := over_at;
  n.ended_as := case when ending = 'ended' then how else 'failed' end;
  if ending = 'quarantine' then
    if l.id is not null and @schema@.runs(l) and l.expires_at <= t and not @schema@.lingers(l, t) then
      n.debt := @schema@.left_by(l);
      perform @schema@.finish(l.id, 'expired', 'a forced run left its file bad', false, t);
      l := null;
    end if;
    if l.id is null then
      n.state := 'quarantined';
      n.reason := why || ' (' || q.note || ')';
      n.expires_at := null;
      n.ended_at := null;
      n.ended_as := null;
    elsif @schema@.runs(l) then
      -- Its holder goes on; what it gives back is in quarantine.
      update @schema@.leases x set bad = why where x.id = l.id;
    else
      perform @schema@.quarantine(l, why, t);
    end if;
  elsif ending = 'unsettled' then
    if l.id is null then
      -- Expired: the next one takes it over and proves its files.
      n.settled := false;
      n.ended_at := null;
      n.ended_as := null;
    else
      -- Whoever comes after the lease that lives there proves the files.
      update @schema@.leases x
         set debt = @schema@.owing(x.debt, x.token, @schema@.who(q.session, q.label), q.operation, q.host, q.files), takeable = false
       where x.id = l.id;
    end if;
  end if;
  perform @schema@.enter(n);
end $body$;

create or replace function @schema@.record_forced_v1(
  grant_id uuid, session uuid, resources jsonb, ending text, began_ms bigint, ended_ms bigint, forced_because text,
  ended_as text default 'failed', reason text default null, label text default '', host text default '', host_id text default '',
  operation text default '', rule text default null, files jsonb default '[]', receipts jsonb default '[]'
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  q @schema@.leases%rowtype;
  w record;
  t timestamptz;
begin
  perform @schema@.ready();
  if grant_id is null or session is null or ending is null or ending not in ('ended', 'quarantine', 'unsettled') then
    perform @schema@.refuse('grant_id and session must be given, and ending must be ended, quarantine or unsettled');
  elsif ended_as is null or ended_as not in ('completed', 'failed', 'expired', 'stolen', 'human-action') then
    perform @schema@.refuse('ended_as must be completed, failed, expired, stolen or human-action');
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
  q.explicit := false; q.takeable := false; q.revoked := false; q.remote := false; q.adopted := false;
  q.ttl_ms := 1000;
  q.acquired_at := to_timestamp(began_ms / 1000.0);
  q.renewed_at := to_timestamp(ended_ms / 1000.0);
  q.expires_at := t;
  q.note := 'forced: ' || @schema@.shown(coalesce(forced_because, ''));
  for i in 1..cardinality(w.names) loop
    q.name := w.names[i];
    q.scope := w.scopes[i];
    continue when exists (select 1 from @schema@.leases x where x.grant_id = q.grant_id and x.name = q.name and x.scope = q.scope);
    perform @schema@.force_one(q, ending, ended_as, @schema@.shown(coalesce(reason, '')), to_timestamp(ended_ms / 1000.0), t);
    perform @schema@.leave_receipts(
      (select coalesce(jsonb_agg(r.r order by r.n), '[]') from jsonb_array_elements(receipts) with ordinality r(r, n)
        where (r.r -> 'resource' ->> 'name' = q.name and r.r -> 'resource' ->> 'scope' = q.scope) or i = 1 and not exists (
          select 1 from unnest(w.names, w.scopes) as o(name, scope)
           where o.name = r.r -> 'resource' ->> 'name' and o.scope = r.r -> 'resource' ->> 'scope')),
      (select array_agg(x) from @schema@.leases x where x.grant_id = q.grant_id and x.name = q.name and x.scope = q.scope), t);
  end loop;
  return '{"answer": "recorded"}';
end $body$;
