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
