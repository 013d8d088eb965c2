-- What may be asked: every argument that comes from outside passes here. Texts for people are cut, everything that
-- decides is refused with a sentence that says what is wrong.

create or replace function @schema@.refuse(what text) returns void
language plpgsql volatile as $body$
begin
  raise exception using errcode = '22023', message = 'locked: ' || what;
end $body$;

-- A text for people, at most 2,000 characters.
create or replace function @schema@.shown(told text) returns text
language sql immutable as $body$
  select left(told, 2000)
$body$;

-- The hash that is kept of a lease key: SHA-256 of its 32 bytes, which come as 64 hex digits.
create or replace function @schema@.hash(key text) returns text
language plpgsql immutable as $body$
begin
  if key is null or key !~ '^[0-9a-f]{64}$' then
    perform @schema@.refuse('key must be 64 hex digits: 32 random bytes');
  end if;
  return encode(sha256(decode(key, 'hex')), 'hex');
end $body$;

-- A list of records within its limits.
create or replace function @schema@.records(what text, given jsonb, most integer) returns jsonb
language plpgsql immutable as $body$
begin
  if given is null or jsonb_typeof(given) <> 'array' then
    perform @schema@.refuse(what || ' must be a JSON array');
  elsif jsonb_array_length(given) > most then
    perform @schema@.refuse(format('%s: %s are too many, at most %s', what, jsonb_array_length(given), most));
  elsif octet_length(given::text) > 4194304 then
    perform @schema@.refuse(what || ' is longer than 4 MiB');
  end if;
  return given;
end $body$;

-- A span within its limits: at least a millisecond, at most thirty days.
create or replace function @schema@.lasting(what text, ms bigint) returns bigint
language plpgsql immutable as $body$
begin
  if ms is null or ms < 1 or ms > 2592000000 then
    perform @schema@.refuse(what || ' must be between 1 ms and 30 days');
  end if;
  return ms;
end $body$;

-- Resources as two arrays in byte order of name, then scope: the order in which everybody takes their locks.
create or replace function @schema@.wanted(resources jsonb, out names text[], out scopes text[])
language plpgsql immutable as $body$
begin
  perform @schema@.records('resources', resources, 256);
  select coalesce(array_agg(w.name order by w.name collate "C", w.scope collate "C"), '{}'),
         coalesce(array_agg(w.scope order by w.name collate "C", w.scope collate "C"), '{}')
    into names, scopes
    from (select distinct r ->> 'name' as name, r ->> 'scope' as scope from jsonb_array_elements(resources) r) w;
  if exists (select 1 from unnest(names, scopes) as w(name, scope)
             where w.name is null or w.name !~ '^[a-z0-9_-]+:[^[:space:][:cntrl:]]+$' or octet_length(w.name) > 512
                or w.scope is null or w.scope !~ '^[^[:cntrl:]]+$' or octet_length(w.scope) > 1024) then
    perform @schema@.refuse('each resource is {"scope": …, "name": "kind:name"}, printable, the name at most 512 bytes');
  end if;
end $body$;

-- Grants are confirmed only when they will survive a crash of the server. Only ever raised.
create or replace function @schema@.durable() returns void
language plpgsql volatile as $body$
begin
  if current_setting('synchronous_commit') in ('off', 'local') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end $body$;

-- The functions lock rows and then read what others committed meanwhile, so each statement needs a view of its own.
create or replace function @schema@.ready() returns void
language plpgsql volatile as $body$
begin
  if pg_is_in_recovery() then
    raise exception using errcode = '25006', message = 'locked: this server is a standby';
  elsif current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception using errcode = '25001', message = 'locked: the transaction is not read committed',
      hint = 'alter role … set default_transaction_isolation = ''read committed''';
  end if;
  perform @schema@.durable();
end $body$;

-- Locks the rows of these resources in byte order, those that are missing made first where asked.
create or replace function @schema@.lock(names text[], scopes text[], make boolean) returns void
language plpgsql volatile as $body$
begin
  if make then
    insert into @schema@.resources (name, scope)
    select w.name, w.scope from unnest(names, scopes) as w(name, scope)
    order by w.name collate "C", w.scope collate "C"
    on conflict do nothing;
  end if;
  perform 1 from @schema@.resources r
  join unnest(names, scopes) as w(name, scope) on r.name = w.name and r.scope = w.scope
  order by r.name, r.scope for update of r;
end $body$;
