-- Who may do what. Functions can be called by everybody when they are made, so this stands in the same transaction.

revoke all on schema @schema@ from public;
revoke all on all tables in schema @schema@ from public;
revoke all on all functions in schema @schema@ from public;

do $body$
declare
  stranger text;
  callable record;
begin
  foreach stranger in array array['anon', 'authenticated'] loop
    if exists (select 1 from pg_roles where rolname = stranger) then
      execute format('revoke all on schema @schema@ from %I', stranger);
      execute format('revoke all on all tables in schema @schema@ from %I', stranger);
      execute format('revoke all on all functions in schema @schema@ from %I', stranger);
    end if;
  end loop;
  -- The protocol: what has a version in its name.
  for callable in select p.oid::regprocedure as signature from pg_proc p
                   where p.pronamespace = '@schema@'::regnamespace and p.proname ~ '_v[0-9]+$' loop
    execute format('grant execute on function %s to locked_client', callable.signature);
  end loop;
end $body$;

-- Who works past the functions works past the protocol: nobody changes a table, and nobody reads one, which has whole names of
-- sessions and hashes of keys. What was granted on views to look at stays.
do $body$
declare
  extra record;
begin
  for extra in
    select c.oid::regclass as relation, a.privilege_type as privilege, a.grantee::regrole as grantee, c.relkind = 'S' as sequence
      from pg_class c cross join lateral aclexplode(c.relacl) a
     where c.relnamespace = '@schema@'::regnamespace and a.grantee not in (0, c.relowner)
       and (c.relkind in ('r', 'p', 'S')
            or c.relname in ('live', 'history', 'waiting', 'waited', 'chain') and a.privilege_type <> 'SELECT')
    union
    select c.oid::regclass, a.privilege_type, a.grantee::regrole, false
      from pg_class c join pg_attribute k on k.attrelid = c.oid cross join lateral aclexplode(k.attacl) a
     where c.relnamespace = '@schema@'::regnamespace and a.grantee not in (0, c.relowner) and c.relkind in ('r', 'p') loop
    execute format('revoke %s on %s %s from %s cascade', extra.privilege,
                   case when extra.sequence then 'sequence' else 'table' end, extra.relation, extra.grantee);
  end loop;
  for extra in
    select a.privilege_type as privilege, a.grantee::regrole as grantee
      from pg_namespace n cross join lateral aclexplode(n.nspacl) a
     where n.nspname = '@name@' and a.grantee not in (0, n.nspowner) and a.privilege_type <> 'USAGE' loop
    execute format('revoke %s on schema @schema@ from %s cascade', extra.privilege, extra.grantee);
  end loop;
end $body$;

grant usage on schema @schema@ to locked_client, locked_reader;
grant select on @schema@.live, @schema@.history, @schema@.waiting, @schema@.chain to locked_reader;

insert into @schema@.meta (key, value) values ('version', '@version@')
on conflict (key) do update set value = excluded.value where meta.value <> excluded.value;
insert into @schema@.meta (key, value) values ('store_id', gen_random_uuid()::text), ('epoch', '1') on conflict do nothing;

reset role;

do $body$
begin
  if current_setting('locked.lent', true) = 'yes' then
    execute format('revoke locked_owner from %I', current_user);
  end if;
end $body$;
