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
