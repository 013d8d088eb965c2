-- Debt: files that predecessors may have written and nobody has proven yet. It travels from lease to lease until a
-- holder records its files anew or settles. One record: {token, holder, operation, host, files, own?, grant?}. `own`: of
-- this session itself, which went on with it. `grant`: a command may have run under it, and what is left of it must end
-- before the next one starts.

create or replace function @schema@.is_own(d jsonb) returns boolean
language sql immutable as $body$
  select coalesce((d ->> 'own')::boolean, false)
$body$;

-- The debts with one more: files that somebody may have written who is not there to say. No files, no debt.
create or replace function @schema@.owing(debts jsonb, token bigint, holder text, operation text, host text, files jsonb)
returns jsonb language sql immutable as $body$
  select case when files = '[]' then debts else debts || jsonb_build_array(jsonb_build_object(
    'token', token, 'holder', holder, 'operation', operation, 'host', host, 'files', files)) end
$body$;

-- What the successor of an unsettled row owes: the row's own debt, the files that it may have written, and the grant
-- under which a command may have run. A file whose record says nothing new is not repeated, and who still owes to
-- others has started nothing, so that a crash that comes again and again does not make the record grow.
create or replace function @schema@.left_by(l @schema@.leases) returns jsonb
language plpgsql immutable as $body$
declare
  debts jsonb;
  fresh jsonb;
  ran boolean;
begin
  -- What a command below the holder left is under the holder's own token: then the holder did run.
  ran := @schema@.runs(l) and not exists (
    select 1 from jsonb_array_elements(l.debt) d where not @schema@.is_own(d) and (d ->> 'token')::bigint <> l.token);
  select coalesce(jsonb_agg(x.d - 'own' order by x.n), '[]') into debts
    from jsonb_array_elements(l.debt) with ordinality x(d, n);
  select coalesce(jsonb_agg(x.f order by x.n), '[]') into fresh
    from jsonb_array_elements(l.files) with ordinality x(f, n)
    where not exists (select 1 from jsonb_array_elements(debts) d, jsonb_array_elements(d -> 'files') g
                      where d ->> 'host' = l.host and g = x.f);
  if ran or fresh <> '[]' then
    debts := debts || jsonb_build_array(jsonb_build_object(
      'token', l.token, 'holder', @schema@.who(l.session, l.label), 'operation', l.operation, 'host', l.host,
      'files', fresh) || case when ran then jsonb_build_object('grant', l.grant_id) else '{}' end);
  end if;
  return debts;
end $body$;

-- The same when the row's own session goes on with it. What came to it from others is still to be proven: left_by puts the
-- row's own files behind what it owed already.
create or replace function @schema@.kept_by_own(l @schema@.leases) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select coalesce(jsonb_agg(case when (l.debt -> (x.n::integer - 1)) is null or @schema@.is_own(l.debt -> (x.n::integer - 1))
                                   then x.d || '{"own": true}' else x.d end order by x.n), '[]')
    from jsonb_array_elements(@schema@.left_by(l)) with ordinality x(d, n));
end $body$;

-- All of it as its own: who restores looks at each file.
create or replace function @schema@.all_own(l @schema@.leases) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select coalesce(jsonb_agg(x.d || '{"own": true}' order by x.n), '[]')
    from jsonb_array_elements(@schema@.left_by(l)) with ordinality x(d, n));
end $body$;

-- What it owes to others: files that nobody has proven.
create or replace function @schema@.to_others(debts jsonb) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select coalesce(jsonb_agg(x.d order by x.n), '[]')
    from jsonb_array_elements(debts) with ordinality x(d, n) where not @schema@.is_own(x.d) and x.d -> 'files' <> '[]');
end $body$;

-- What stays when the holder has proven what it had to prove.
create or replace function @schema@.unpaid(debts jsonb) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select coalesce(jsonb_agg(x.d order by x.n), '[]')
    from jsonb_array_elements(debts) with ordinality x(d, n) where @schema@.is_own(x.d));
end $body$;

-- For views: a row's own files and those that it owes from its own host.
create or replace function @schema@.all_files(l @schema@.leases) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select l.files || coalesce((
      select jsonb_agg(f.f order by x.n, f.n)
      from jsonb_array_elements(l.debt) with ordinality x(d, n), jsonb_array_elements(x.d -> 'files') with ordinality f(f, n)
      where x.d ->> 'host' = l.host), '[]'));
end $body$;

-- A grant's answer with what its debts mean to the new holder: to prove, to end, and known to its own session.
create or replace function @schema@.told(answer jsonb, debts jsonb, name text, scope text) returns jsonb
language plpgsql immutable as $body$
begin
  return (
    select answer || jsonb_build_object(
      'unsettled', (answer -> 'unsettled') || coalesce(jsonb_agg(e.told order by e.n) filter (where not e.own and e.files <> '[]'), '[]'),
      'carried', (answer -> 'carried') || coalesce(jsonb_agg(e.told order by e.n) filter (where e.own), '[]'),
      'reclaimed', (answer -> 'reclaimed') || coalesce(jsonb_agg(e.grant_id order by e.n) filter (where not e.own and e.grant_id is not null), '[]'))
    from (select x.n, @schema@.is_own(x.d) as own, x.d -> 'files' as files, x.d -> 'grant' as grant_id,
                 (x.d - 'own' - 'grant') || jsonb_build_object('name', name, 'scope', scope) as told
          from jsonb_array_elements(debts) with ordinality x(d, n)) e);
end $body$;
