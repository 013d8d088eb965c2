-- The chains of receipts: read whole, by their newest link, or by content.

create or replace function @schema@.link(r @schema@.receipts) returns jsonb
language sql stable as $body$
  select jsonb_build_object('scope', r.scope, 'path', r.path, 'base', r.base, 'new', r.new, 'blob', r.blob,
    'branch', r.branch, 'host', r.host, 'host_id', (select l.host_id from @schema@.leases l where l.id = r.lease),
    'worktree', r.worktree, 'token', r.token, 'holder', r.holder, 'kind', r.kind, 'at', @schema@.ms(r.at))
$body$;

-- The chain of one path, newest first.
create or replace function @schema@.receipts_v1(scope text, path text, most integer default 100000) returns jsonb
language sql volatile security definer set search_path = pg_catalog, pg_temp as $body$
  select coalesce(jsonb_agg(@schema@.link(x) order by x.id desc), '[]')
    from (select r.* from @schema@.receipts r where r.scope = receipts_v1.scope and r.path = receipts_v1.path
           order by r.id desc limit most) x
$body$;

-- The chains of these paths, one after the other, each newest first.
create or replace function @schema@.chains_v1(scope text, paths jsonb) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
begin
  return (select coalesce(jsonb_agg(@schema@.link(x) order by p.n, x.id desc), '[]')
    from jsonb_array_elements_text(@schema@.records('paths', paths, 4096)) with ordinality p(p, n)
    cross join lateral (select r.* from @schema@.receipts r where r.scope = chains_v1.scope and r.path = p.p
                         order by r.id desc limit 100000) x);
end $body$;

-- The newest version of each of these files, null where its path has no chain. Who is granted a lease asks under its locks:
-- an answer from before them could be old.
create or replace function @schema@.heads(files jsonb) returns jsonb
language sql stable as $body$
  select coalesce(jsonb_agg((select r.new from @schema@.receipts r
           where r.scope = f.f ->> 'scope' and r.path = f.f ->> 'key' order by r.id desc limit 1) order by f.n), '[]')
    from jsonb_array_elements(files) with ordinality f(f, n)
$body$;

-- The receipts of these contents, by digest or by git's name, under whatever path: of each path and content the newest.
-- That a person has accepted a version as a base proves nothing of it.
create or replace function @schema@.receipts_of_v1(scope text, digests jsonb default '[]', blobs jsonb default '[]') returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  named text[];
  stored text[];
begin
  select coalesce(array_agg(d), '{}') into named from jsonb_array_elements_text(@schema@.records('digests', digests, 1000)) d;
  select coalesce(array_agg(b), '{}') into stored from jsonb_array_elements_text(@schema@.records('blobs', blobs, 1000)) b;
  return (select coalesce(jsonb_agg(@schema@.link(x)), '[]')
    from (select distinct on (r.path, r.new) r.* from @schema@.receipts r
           where r.scope = receipts_of_v1.scope and (r.new = any (named) or r.blob = any (stored)) and r.kind <> 'accepted'
           order by r.path, r.new, r.id desc limit 10000) x);
end $body$;
