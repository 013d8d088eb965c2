-- For the schema's upkeep, in a transaction of its own: the caller acts as the owner, and gives back what it was lent.
do $body$
begin
  if not exists (select 1 from pg_namespace n join pg_roles r on r.oid = n.nspowner
                 where n.nspname = '@name@' and r.rolname = 'locked_owner') then
    raise exception using errcode = '3F000', message = 'schema "@name@" does not exist';
  elsif pg_is_in_recovery() then
    raise exception using errcode = '25006', message = 'locked: this server is a standby';
  elsif not pg_has_role(current_user, 'locked_owner', 'member') then
    begin
      execute format('grant locked_owner to %I', current_user);
    exception when insufficient_privilege then
      raise exception using errcode = '42501', message = format('locked: %s may not act as locked_owner', current_user);
    end;
    perform set_config('locked.lent', 'yes', true);
  end if;
end $body$;
set local role locked_owner;
-- Who waits for a lock makes everybody wait behind it.
set local lock_timeout = '5s';
