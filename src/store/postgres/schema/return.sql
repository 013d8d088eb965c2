reset role;
do $body$
begin
  if current_setting('locked.lent', true) = 'yes' then
    execute format('revoke locked_owner from %I', current_user);
  end if;
end $body$;
