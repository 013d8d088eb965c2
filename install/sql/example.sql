-- A worker that speaks only SQL takes part: psql -v ON_ERROR_STOP=1 -f example.sql, as a role in locked_client.
-- Over HTTP the same functions are called by name with the same arguments as a JSON object, for example by PostgREST:
--   POST /rpc/acquire_v1  {"grant_id": "…", "key": "…", "session": "…", "resources": [{"scope": "…", "name": "…"}], "ttl_ms": 60000}
-- Make grant and key yourself, at random, before you ask: then a lost answer is read back by asking again. The key is
-- 32 random bytes in hex; whoever knows it may renew and settle. Keep it out of logs.

select gen_random_uuid() as "grant", gen_random_uuid() as session,
       encode(sha256(gen_random_uuid()::text::bytea || gen_random_uuid()::text::bytea), 'hex') as key \gset

-- "granted" with a token for each resource, or "busy" with who has it. Without silence_ms this is one try; with it, ask
-- again at least three times within that time, and keep your place in the queue.
select locked.acquire_v1(
  grant_id => :'grant', key => :'key', session => :'session', ttl_ms => 60000,
  resources => '[{"scope": "example.org/acme/infra", "name": "sops:monitoring"}]',
  label => 'worker@queue', operation => 'nightly rotation') as answer \gset

select (:'answer'::jsonb) ->> 'answer' as answer;

-- What was granted, with its token, names the holding from now on.
select :'answer'::jsonb -> 'tokens' as held \gset

-- At least twice within the TTL: "renewed", "revoked" (stop, and settle) or "gone" (stop: it is somebody else's).
select locked.renew_v1(grant_id => :'grant', key => :'key', resources => :'held') ->> 'answer' as answer;

-- The end: "released", or "not ours" when somebody had taken it over.
select locked.settle_v1(grant_id => :'grant', key => :'key', resources => :'held', ending => 'release',
                        ended_as => 'completed') ->> 'answer' as answer;

-- A hold over several statements, by session: no key, whoever names the session has it.
select locked.acquire_v1(
  grant_id => gen_random_uuid(), key => encode(sha256(gen_random_uuid()::text::bytea), 'hex'), session => :'session',
  ttl_ms => 60000, claim => 'explicit', operation => 'nightly rotation',
  resources => '[{"scope": "example.org/acme/infra", "name": "sops:monitoring"}]') ->> 'answer' as answer;

-- Right before a write that cannot be taken back: "ours", or "not ours" with what is missing. It locks and writes nothing.
select locked.check_v1(
  session => :'session', resources => '[{"scope": "example.org/acme/infra", "name": "sops:monitoring"}]') ->> 'answer' as answer;

-- A command of the session takes the hold over, with a token of its own: "granted", or "not ours". Its settling hands
-- the hold back.
select gen_random_uuid() as "grant", encode(sha256(gen_random_uuid()::text::bytea), 'hex') as key \gset
select locked.adopt_v1(
  grant_id => :'grant', key => :'key', session => :'session', ttl_ms => 60000,
  resources => '[{"scope": "example.org/acme/infra", "name": "sops:monitoring"}]') as answer \gset
select (:'answer'::jsonb) ->> 'answer' as answer;
select :'answer'::jsonb -> 'tokens' as held \gset

-- A person takes it away, with a reason: the command learns it from its next renew, stops and settles, and only then is
-- anybody else granted. `at_once => true` does not wait for that; two may be writing then.
select locked.revoke_v1(
  reason => 'the worker hangs', label => 'ops@desk',
  resources => '[{"scope": "example.org/acme/infra", "name": "sops:monitoring"}]') ->> 'answer' as answer;
select locked.renew_v1(grant_id => :'grant', key => :'key', resources => :'held') ->> 'answer' as answer;
select locked.settle_v1(grant_id => :'grant', key => :'key', resources => :'held', ending => 'release',
                        ended_as => 'stolen') ->> 'answer' as answer;

-- The session goes: its places in the queue and its holds. What runs, is in quarantine or is an open edit is named, and stays.
select locked.end_session_v1(session => :'session') ->> 'answer' as answer;

-- What people see; none of these waits for anybody.
select jsonb_array_length(locked.leases_v1()) as live, jsonb_array_length(locked.history_v1(name => 'sops:monitoring')) > 0 as has_history;
