-- Before anything is made: one applier at a time, roles, and a schema that is ours. Runs in the transaction of what
-- follows.

select pg_advisory_xact_lock(hashtextextended('locked schema @name@', 0));

do $body$
declare
  wanted text;
  owner name;
begin
  if current_setting('server_version_num')::integer < 140000 then
    raise exception using errcode = '0A000', message = 'locked: PostgreSQL 14 or later is needed';
  end if;
  -- Roles belong to the whole cluster: another database may make them at this very moment.
  foreach wanted in array array['locked_owner', 'locked_client', 'locked_reader'] loop
    if not exists (select 1 from pg_roles where rolname = wanted) then
      begin
        execute format('create role %I nologin', wanted);
      exception when duplicate_object or unique_violation then null;
      end;
    end if;
  end loop;
  if exists (select 1 from pg_roles where rolname = 'locked_owner' and (rolcanlogin or rolsuper or rolcreaterole or rolcreatedb or rolbypassrls)) then
    raise exception using errcode = '42501', message = 'locked: the role locked_owner may do more than own the schema',
      hint = 'alter role locked_owner nologin nosuperuser nocreaterole nocreatedb nobypassrls';
  end if;
  select r.rolname into owner from pg_namespace n join pg_roles r on r.oid = n.nspowner where n.nspname = '@name@';
  if owner <> 'locked_owner' then
    raise exception using errcode = '42501', message = 'locked: the schema @name@ belongs to somebody else',
      hint = 'name another schema for locked';
  end if;
  if not pg_has_role(current_user, 'locked_owner', 'member') then
    execute format('grant locked_owner to %I', current_user);
    perform set_config('locked.lent', 'yes', true);
  end if;
end $body$;

create schema if not exists @schema@ authorization locked_owner;
set local role locked_owner;
-- Functions and tables name each other; they are all there at the end.
set local check_function_bodies = off;
