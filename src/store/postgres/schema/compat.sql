-- For the change-over: the two tables that were locks before, as views over the ledger. A helper that still writes them
-- and `locked` exclude each other. Apply it after the schema, as who may act as its owner; apply it again after each
-- `locked store init`. When nobody uses them any more:
--   drop view @outer@.p24_env_locks, @outer@.dev_r_rotation_log;
--
-- The tables had no scopes. sops:, rotation: and zone: are those of one repository, container: those of one engine, and
-- everything else means the same everywhere.
--
-- INSERT, UPDATE and DELETE take part as the old tables did: who is second gets a unique violation (23505; HTTP 409).
-- Two things are otherwise. INSERT … ON CONFLICT with a target is not for views (42P10): insert, and take 23505 for "held".
-- And a row of `locked` is read, not closed, from here (42501): its holder's short name is shown, never the whole. So is a
-- row of the helper's own once a command of `locked` has left files under it that nobody has looked at: locked release does.

begin;

select set_config('locked.by', current_user, true);

@lends@

-- Who named itself here: the whole name is shown to the helper, which compares it, for what it has inserted alone.
create table if not exists @schema@.old_holders (
  session uuid not null primary key,
  holder  text not null
);

create or replace function @schema@.old_scope(resource text) returns text language sql immutable as $body$
  select case split_part(resource, ':', 1)
    when 'sops' then @scope@ when 'rotation' then @scope@ when 'zone' then @scope@
    when 'container' then @containers@ else 'global' end
$body$;

-- A UUID is the session itself, so that the helper and `locked` of one session are one holder; any other text names one.
create or replace function @schema@.old_session(holder text) returns uuid language sql immutable as $body$
  select case when holder ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then holder::uuid
              else md5('env-lock ' || holder)::uuid end
$body$;

-- What others see of who named itself: a UUID is a whole session, which is its own affair.
create or replace function @schema@.old_label(holder text) returns text language sql immutable as $body$
  select case when holder ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then 'env-lock' else left(holder, 200) end
$body$;

-- It was inserted here and rests with who did, under whatever commands of `locked` it went meanwhile.
create or replace function @schema@.old_own(l @schema@.leases) returns boolean language sql stable as $body$
  select @schema@.rests(l) and l.state <> 'quarantined' and case when l.explicit then l.rule else l.hold_rule end is not distinct from 'env-lock'
$body$;

-- A command of `locked` may have left it plaintext, or bad: only `locked` can look.
create or replace function @schema@.old_unproven(l @schema@.leases) returns boolean language sql stable as $body$
  select l.files <> '[]' or exists (select 1 from jsonb_array_elements(l.debt) d where @schema@.is_own(d) and d -> 'files' <> '[]')
$body$;

-- The repository of a row of the rotation log: what is missing before it is taken from the scope.
create or replace function @schema@.old_repo(repo text) returns text language sql immutable as $body$
  select case array_length(string_to_array(repo, '/'), 1)
    when 1 then regexp_replace(@scope@, '[^/]*$', '') || repo
    when 2 then regexp_replace(@scope@, '/.*$', '') || '/' || repo
    else repo end
$body$;

-- Asks for one resource between commands; a unique violation says who has it.
create or replace function @schema@.old_acquire(
  of_name text, of_scope text, of_session uuid, called text, doing text, by text, lasts bigint, of_grant uuid
) returns void language plpgsql volatile as $body$
declare
  answer jsonb;
  way jsonb;
begin
  answer := @schema@.acquire_v1(grant_id => of_grant,
    key => encode(sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 'hex'),
    session => of_session, resources => jsonb_build_array(jsonb_build_object('name', of_name, 'scope', of_scope)),
    ttl_ms => lasts, first_ms => lasts, claim => 'explicit', label => called, host => by, operation => doing, rule => by);
  if answer ->> 'answer' = 'granted' then
    return;
  end if;
  way := answer -> 'blockers' -> 0;
  raise exception using errcode = '23505', message = of_name || ' is held by ' || coalesce(
      left(way ->> 'session', 8) || ' (' || (way ->> 'label') || '), ' || (way ->> 'operation'), 'nobody, and others wait for it'),
    detail = coalesce(way ->> 'state', 'waited for'), hint = 'locked status ' || of_name;
end $body$;

-- It has run out, and whoever asks next has it.
create or replace function @schema@.old_over(l @schema@.leases) returns boolean language sql volatile as $body$
  select coalesce(l.expires_at <= t, false) and not @schema@.lingers(l, t) and not l.ask from @schema@.clock() t
$body$;

create or replace function @schema@.old_refuse(l @schema@.leases) returns void language plpgsql volatile as $body$
begin
  raise exception using errcode = '42501', message = l.name || ' is held by ' || @schema@.who(l.session, l.label) || ' through locked',
    hint = 'let its session release it; where a person has agreed: locked steal ' || l.name || ' --reason WHY --approved-by NAME';
end $body$;

create or replace function @schema@.env_lock_written() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  l @schema@.leases%rowtype;
  t timestamptz := @schema@.clock();
  own boolean;
  held jsonb;
  lasts bigint;
begin
  if tg_op = 'INSERT' then
    if coalesce(new.holder, '') = '' or coalesce(new.resource, '') = '' then
      perform @schema@.refuse('resource and holder must be given');
    end if;
    perform @schema@.old_acquire(new.resource, @schema@.old_scope(new.resource), @schema@.old_session(new.holder), @schema@.old_label(new.holder),
      coalesce(new.operation, ''), 'env-lock',
      case when new.expires_at is null then 1800000
           else greatest(1, least(2592000000, @schema@.ms(new.expires_at) - @schema@.ms(t))) end, gen_random_uuid());
    insert into @schema@.old_holders (session, holder) values (@schema@.old_session(new.holder), new.holder) on conflict do nothing;
    select x.acquired_at, x.expires_at into new.acquired_at, new.expires_at from @schema@.leases x
     where x.name = new.resource and x.scope = @schema@.old_scope(new.resource) and x.ended_at is null;
    return new;
  end if;
  select x.* into l from @schema@.leases x
   where x.name = old.resource and x.scope = @schema@.old_scope(old.resource) and x.ended_at is null;
  if not found then
    return null;
  end if;
  own := @schema@.old_own(l) and exists (select 1 from @schema@.old_holders h where h.session = l.session and h.holder = old.holder);
  own := own and (tg_op = 'UPDATE' or not @schema@.old_unproven(l));
  held := jsonb_build_array(jsonb_build_object('name', l.name, 'scope', l.scope));
  if tg_op = 'DELETE' then
    if own then
      return case when @schema@.settle_v1(resources => held, ending => 'release', session => l.session,
        ended_as => case when @schema@.old_over(l) then 'expired' when l.explicit then 'completed' else 'failed' end) ->> 'answer' = 'released' then old end;
    elsif not @schema@.old_over(l) then
      perform @schema@.old_refuse(l);
    end if;
    -- The next insert ends it, and takes over what it has not proven.
    return old;
  end if;
  if (new.resource, new.holder) is distinct from (old.resource, old.holder) then
    raise exception using errcode = '0A000', message = 'locked: a lock is not handed over by an update';
  elsif not own then
    perform @schema@.old_refuse(l);
  elsif new.expires_at is not null and new.expires_at <= t then
    raise exception using errcode = '0A000', message = 'locked: a lock is given back by a delete';
  elsif @schema@.renew_v1(resources => held, session => l.session) ->> 'answer' <> 'renewed' then
    return null;
  end if;
  -- The time that was asked for is what every later renew gives, too.
  lasts := case when new.expires_at is distinct from old.expires_at then least(2592000000, @schema@.ms(new.expires_at) - @schema@.ms(t)) end;
  update @schema@.leases x
     set operation = @schema@.shown(coalesce(new.operation, x.operation)),
         ttl_ms = case when x.explicit then coalesce(lasts, x.ttl_ms) else x.ttl_ms end,
         hold_ttl_ms = case when x.explicit then null else coalesce(lasts, x.hold_ttl_ms) end,
         expires_at = coalesce(t + @schema@.span(lasts), x.expires_at)
   where x.id = l.id
  returning x.expires_at into new.expires_at;
  return new;
end $body$;

create or replace view @schema@.env_locks as
  -- Who may only look sees no whole session.
  select l.name::text as resource,
         case when case when l.explicit then l.rule else l.hold_rule end is distinct from 'env-lock' or h.holder is null
                or (h.holder ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' and not pg_has_role('locked_client', 'usage')) then left(l.session::text, 8)
              else h.holder end as holder, l.operation, l.acquired_at,
         case when l.expires_at is null then clock_timestamp() + interval '1 day' -- a quarantine: until it is restored
              when l.state = 'held' and not l.explicit and l.remote then l.expires_at + l.ttl_ms * interval '1 millisecond'
              else l.expires_at end as expires_at
    from @schema@.leases l left join @schema@.old_holders h on h.session = l.session
   where l.ended_at is null and l.scope = case split_part(l.name, ':', 1)
     when 'sops' then @scope@ when 'rotation' then @scope@ when 'zone' then @scope@
     when 'container' then @containers@ else 'global' end;

create or replace trigger written instead of insert or update or delete on @schema@.env_locks
  for each row execute function @schema@.env_lock_written();

create or replace view @schema@.rotations as
  select l.id, case when l.rule = 'rotation-log' then l.label
                    when starts_with(l.scope, regexp_replace(@scope@, '[^/]*$', '')) then regexp_replace(l.scope, '^.*/', '')
                    else l.scope end as repo,
         substr(l.name, 10)::text as secret_name,
         case when l.ended_at is null then 'pending' when l.ended_as in ('completed', 'human-action') then l.ended_as
              else 'failed' end as status,
         l.acquired_at as created_at, case when l.ended_at is null then l.reason else coalesce(l.note, l.reason) end as error_message
    from @schema@.leases l where l.name like 'rotation:%';

-- What was left to a person (human-action) holds nothing, and its row waits for a word: that it is done (completed), or will
-- not be (failed). Whoever may write the log may say so, as `locked release --duty` does, whichever of the two left it. Other
-- rows that have ended are history, and nothing is changed: no row is told of.
create or replace function @schema@.duty_written(l @schema@.leases, wanted @schema@.rotations) returns @schema@.rotations
language plpgsql volatile as $body$
declare
  said text := nullif(left(wanted.error_message, 4000), coalesce(l.note, l.reason));
  told text := case wanted.status when 'completed' then 'done through the rotation log'
                                  when 'failed' then 'given up through the rotation log' end;
begin
  if l.ended_as <> 'human-action' then
    return null;
  elsif wanted.status = 'pending' then
    raise exception using errcode = '0A000', message = 'locked: a rotation is begun anew by an insert';
  end if;
  told := nullif(concat_ws(': ', told, nullif(said, '')), '');
  update @schema@.leases x set ended_as = wanted.status, note = nullif(concat_ws('; ', x.note, told), '')
   where x.id = l.id and x.ended_as = 'human-action' returning coalesce(x.note, x.reason) into wanted.error_message;
  if not found then
    return null;
  end if;
  perform @schema@.count_as_left(wanted.status, 1);
  return wanted;
end $body$;

create or replace function @schema@.rotation_written() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  l @schema@.leases%rowtype;
  named uuid := gen_random_uuid();
begin
  if tg_op = 'DELETE' then
    raise exception using errcode = '0A000', message = 'locked: history is not deleted; it is pruned by age';
  elsif tg_op = 'INSERT' then
    if coalesce(new.status, 'pending') <> 'pending' then
      raise exception using errcode = '0A000', message = 'locked: a rotation begins as pending';
    elsif coalesce(new.repo, '') = '' or coalesce(new.secret_name, '') !~ '^[^[:space:][:cntrl:]%]+$' then
      perform @schema@.refuse('repo and secret_name must be given, without spaces');
    end if;
    perform @schema@.old_acquire('rotation:' || new.secret_name, @schema@.old_repo(new.repo), gen_random_uuid(), new.repo,
      'rotation of ' || new.secret_name, 'rotation-log', 1800000, named);
    select x.id, x.acquired_at, 'pending', null into new.id, new.created_at, new.status, new.error_message
      from @schema@.leases x where x.grant_id = named;
    return new;
  end if;
  select x.* into l from @schema@.leases x where x.id = old.id for update;
  if not found then
    return null;
  elsif new.status is null or new.status not in ('pending', 'completed', 'failed', 'human-action') then
    perform @schema@.refuse('status must be pending, completed, failed or human-action');
  elsif l.ended_at is not null then
    return @schema@.duty_written(l, new);
  elsif l.rule is distinct from 'rotation-log' or l.state = 'quarantined' then
    if not @schema@.old_over(l) then
      perform @schema@.old_refuse(l);
    end if;
    -- Presumed crashed. The next insert ends it, and takes over what it has not proven.
    return new;
  elsif new.status = 'pending' then
    update @schema@.leases x set reason = left(new.error_message, 4000) where x.id = l.id;
    return new;
  end if;
  -- Order: the reason first; the row's note is made of it. Of two who close it one is told that there is nothing to close.
  update @schema@.leases x set reason = left(new.error_message, 4000) where x.id = l.id and x.ended_at is null;
  if @schema@.settle_v1(resources => jsonb_build_array(jsonb_build_object('name', l.name, 'scope', l.scope)),
       ending => 'release', session => l.session, ended_as => new.status) ->> 'answer' <> 'released' then
    return null;
  end if;
  return new;
end $body$;

create or replace trigger written instead of insert or update or delete on @schema@.rotations
  for each row execute function @schema@.rotation_written();

revoke all on function @schema@.env_lock_written(), @schema@.rotation_written(), @schema@.old_scope(text), @schema@.old_session(text),
  @schema@.old_repo(text), @schema@.old_over(@schema@.leases), @schema@.old_refuse(@schema@.leases),
  @schema@.old_label(text), @schema@.old_own(@schema@.leases), @schema@.old_unproven(@schema@.leases),
  @schema@.duty_written(@schema@.leases, @schema@.rotations),
  @schema@.old_acquire(text, text, uuid, text, text, text, bigint, uuid) from public;
-- Rows of before have the whole session as their label.
update @schema@.leases l set label = @schema@.old_label(l.label) where l.rule = 'env-lock' and l.label <> @schema@.old_label(l.label);
update @schema@.leases l
   set note = regexp_replace(l.note, '([0-9a-f]{8}) \(\1(-[0-9a-f]{4}){3}-[0-9a-f]{12}\)', '\1 (env-lock)', 'gi')
 where l.note ~* '([0-9a-f]{8}) \(\1(-[0-9a-f]{4}){3}-[0-9a-f]{12}\)';

revoke all on @schema@.old_holders, @schema@.env_locks, @schema@.rotations from public;
do $body$
begin
  execute format('grant select, insert, update, delete on @schema@.env_locks, @schema@.rotations to %I', current_setting('locked.by'));
  execute format('grant usage on schema @schema@ to %I', current_setting('locked.by'));
end $body$;

@returns@

do $body$
declare
  before text;
begin
  foreach before in array array['p24_env_locks', 'dev_r_rotation_log'] loop
    if exists (select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
                where n.nspname = '@in@' and c.relname = before and c.relkind <> 'v') then
      raise exception using errcode = '42P07', message = format('@in@.%s is there, and is no view', before),
        hint = format('rename it first: alter table @in@.%1$s rename to %1$s_before', before);
    end if;
  end loop;
end $body$;

create or replace view @outer@.p24_env_locks as
  select e.resource, e.holder, e.operation, e.acquired_at, e.expires_at from @schema@.env_locks e;
create or replace view @outer@.dev_r_rotation_log as
  select r.id, r.repo, r.secret_name, r.status, r.created_at, r.error_message from @schema@.rotations r;
revoke all on @outer@.p24_env_locks, @outer@.dev_r_rotation_log from public;
grant select, insert, update, delete on @outer@.p24_env_locks to locked_client;
grant select, insert, update on @outer@.dev_r_rotation_log to locked_client;
grant select on @outer@.p24_env_locks, @outer@.dev_r_rotation_log to locked_reader;

commit;
