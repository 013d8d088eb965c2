-- From one store to another. For who acts as the owner alone.

-- Stands before every new lease once the store has moved.
create or replace function @schema@.refuse_moved() returns trigger
language plpgsql volatile as $body$
begin
  raise exception using errcode = '55000',
    message = 'this store has moved to ' || coalesce((select m.value from @schema@.meta m where m.key = 'moved_to'), 'another one');
end $body$;

-- Lets no new lease in from here, if none lives; else who has one.
create or replace function @schema@.leave_for(place text, id text) returns jsonb
language plpgsql volatile as $body$
declare
  living jsonb;
begin
  -- Whoever is being granted a lease is waited for, and nobody else is.
  lock table @schema@.leases in share row exclusive mode;
  select coalesce(jsonb_agg(jsonb_build_object('name', l.name, 'scope', l.scope, 'holder', @schema@.who(l.session, l.label),
      'state', @schema@.seen_as(l, @schema@.clock())) order by l.name, l.scope), '[]')
    into living from (select * from @schema@.leases x where x.ended_at is null order by x.name, x.scope limit 1000) l;
  if living = '[]' then
    insert into @schema@.meta (key, value) values ('moved_to', place), ('moved_to_id', id)
    on conflict (key) do update set value = excluded.value;
    execute 'create or replace trigger moved before insert on @schema@.leases for each statement execute function @schema@.refuse_moved()';
  end if;
  return jsonb_build_object('living', living);
end $body$;

create or replace function @schema@.come_back() returns jsonb
language plpgsql volatile as $body$
begin
  execute 'drop trigger if exists moved on @schema@.leases';
  delete from @schema@.meta m where m.key in ('moved_to', 'moved_to_id');
  return '{}';
end $body$;

-- A page of what goes along: counters, ended leases, receipts. Moments are milliseconds since 1970.
create or replace function @schema@.load_page(what text, skip bigint, most integer) returns jsonb
language plpgsql stable as $body$
begin
  return case what
    when 'resources' then (select coalesce(jsonb_agg(jsonb_build_object('name', x.name, 'scope', x.scope, 'last_token', x.last_token)), '[]')
      from (select * from @schema@.resources r order by r.name, r.scope offset skip limit most) x)
    when 'leases' then (select coalesce(jsonb_agg(jsonb_build_object('name', x.name, 'scope', x.scope, 'token', x.token,
        'grant_id', x.grant_id, 'session', x.session, 'label', x.label, 'host', x.host, 'host_id', x.host_id,
        'operation', x.operation, 'rule', x.rule, 'explicit', x.explicit, 'remote', x.remote, 'adopted', x.adopted,
        'reason', x.reason, 'files', x.files, 'ttl_ms', x.ttl_ms, 'within_grant', x.within_grant,
        'acquired_at', @schema@.ms(x.acquired_at), 'renewed_at', @schema@.ms(x.renewed_at), 'ended_at', @schema@.ms(x.ended_at),
        'ended_as', x.ended_as, 'note', x.note) order by x.id), '[]')
      from (select * from @schema@.leases l where l.ended_at is not null order by l.id offset skip limit most) x)
    when 'receipts' then (select coalesce(jsonb_agg(jsonb_build_object('grant_id', l.grant_id, 'name', l.name, 'lease_scope', l.scope,
        'scope', x.scope, 'path', x.path, 'base', x.base, 'new', x.new, 'blob', x.blob, 'branch', x.branch, 'host', x.host,
        'worktree', x.worktree, 'token', x.token, 'holder', x.holder, 'kind', x.kind, 'at', @schema@.ms(x.at)) order by x.scope, x.path, x.id), '[]')
      from (select * from @schema@.receipts r order by r.scope, r.path, r.id offset skip limit most) x left join @schema@.leases l on l.id = x.lease)
  end;
end $body$;

-- Takes a page in, once however often it comes: counters grow, rows that are there stay.
create or replace function @schema@.unload_page(what text, rows jsonb) returns bigint
language plpgsql volatile as $body$
declare
  taken bigint;
begin
  if what = 'resources' then
    insert into @schema@.resources (name, scope, last_token)
    select r ->> 'name', r ->> 'scope', (r ->> 'last_token')::bigint from jsonb_array_elements(rows) r
    order by (r ->> 'name') collate "C", (r ->> 'scope') collate "C"
    on conflict (name, scope) do update set last_token = greatest(resources.last_token, excluded.last_token);
  elsif what = 'leases' then
    insert into @schema@.leases (scope, name, token, grant_id, key_hash, session, label, host, host_id, operation, rule, state, explicit,
      remote, adopted, settled, reason, files, ttl_ms, within_grant, acquired_at, renewed_at, ended_at, ended_as, note)
    select x.scope, x.name, x.token, x.grant_id, '', x.session, x.label, x.host, x.host_id, x.operation, x.rule, 'held', x.explicit,
      x.remote, x.adopted, true, x.reason, x.files, x.ttl_ms, x.within_grant, to_timestamp(x.acquired_at / 1000.0),
      to_timestamp(x.renewed_at / 1000.0), to_timestamp(x.ended_at / 1000.0), x.ended_as, x.note
    from jsonb_array_elements(rows) with ordinality r(r, n),
      jsonb_to_record(r.r) as x(scope text, name text, token bigint, grant_id uuid, session uuid, label text, host text, host_id text,
        operation text, rule text, explicit boolean, remote boolean, adopted boolean, reason text, files jsonb, ttl_ms bigint,
        within_grant uuid, acquired_at bigint, renewed_at bigint, ended_at bigint, ended_as text, note text)
    where not exists (select 1 from @schema@.leases l where l.grant_id = x.grant_id and l.name = x.name and l.scope = x.scope)
    order by r.n;
  else
    return @schema@.unload_receipts(rows);
  end if;
  get diagnostics taken = row_count;
  return taken;
end $body$;

-- Receipts come into the chains of their paths by their moments, so that the newest stays the newest.
create or replace function @schema@.unload_receipts(rows jsonb) returns bigint
language plpgsql volatile as $body$
declare
  fresh @schema@.receipts[];
  there @schema@.receipts[];
begin
  lock table @schema@.receipts in share row exclusive mode;
  select coalesce(array_agg(row(
           -x.n, coalesce((select l.id from @schema@.leases l where l.grant_id = x.grant_id and l.name = x.name and l.scope = x.lease_scope limit 1), -x.n),
           x.scope, x.path, x.base, x.new, x.blob, x.branch, x.host, x.worktree, x.token, x.holder, x.kind, to_timestamp(x.at / 1000.0)
         )::@schema@.receipts order by x.n), '{}') into fresh
    from (select r.n, y.* from jsonb_array_elements(rows) with ordinality r(r, n),
      jsonb_to_record(r.r) as y(grant_id uuid, name text, lease_scope text, scope text, path text, base text, new text, blob text,
        branch text, host text, worktree text, token bigint, holder text, kind text, at bigint)) x
   where not exists (select 1 from @schema@.receipts r where r.scope = x.scope and r.path = x.path and r.new = x.new
                       and r.base is not distinct from x.base and r.kind = x.kind and @schema@.ms(r.at) = x.at);
  with later as (
    delete from @schema@.receipts r using (select f.scope, f.path, min(f.at) as first from unnest(fresh) f group by f.scope, f.path) f
     where r.scope = f.scope and r.path = f.path and r.at > f.first returning r.*)
  select coalesce(array_agg(row(l.*)::@schema@.receipts), '{}') into there from later l;
  insert into @schema@.receipts (lease, scope, path, base, new, blob, branch, host, worktree, token, holder, kind, at)
  select x.lease, x.scope, x.path, x.base, x.new, x.blob, x.branch, x.host, x.worktree, x.token, x.holder, x.kind, x.at
    from unnest(there || fresh) x order by x.at, x.id < 0, abs(x.id)
  on conflict do nothing;
  return cardinality(fresh);
end $body$;
