-- What a row says of itself at a moment. Small and pure, so that the planner inlines them.

-- The one clock. Whoever judges time reads it after the locks are had: an earlier moment would be as old as the wait.
create or replace function @schema@.clock() returns timestamptz
language sql volatile as $body$
  select pg_catalog.clock_timestamp()
$body$;

-- Milliseconds since 1970, for showing and for tokens.
create or replace function @schema@.ms(moment timestamptz) returns bigint
language sql immutable as $body$
  select floor(extract(epoch from moment) * 1000)::bigint
$body$;

create or replace function @schema@.span(ms bigint) returns interval
language sql immutable as $body$
  select ms * interval '1 millisecond'
$body$;

create or replace function @schema@.who(session uuid, label text) returns text
language sql immutable as $body$
  select left(session::text, 8) || ' (' || label || ')'
$body$;

-- The issue that stands behind an operation, as `terms::Issue` writes it.
create or replace function @schema@.issue_of(operation text) returns text
language sql immutable as $body$
  select substring(operation from ' for ((?:[A-Za-z0-9_.][-A-Za-z0-9_.]*/){1,2}[A-Za-z0-9_.][-A-Za-z0-9_.]*#[0-9]+)$')
$body$;

-- The issue that a lease is for; rows of before have it behind the operation alone.
create or replace function @schema@.issue(l @schema@.leases) returns text
language sql immutable as $body$
  select coalesce(l.issue, @schema@.issue_of(l.operation))
$body$;

-- The same of what its session holds by its own word: under a command that has adopted it, the hold's.
create or replace function @schema@.own_issue(l @schema@.leases) returns text
language sql immutable as $body$
  select case when l.hold_ttl_ms is null then @schema@.issue(l) else coalesce(l.hold_issue, @schema@.issue_of(l.hold_operation)) end
$body$;

-- A command runs under it.
create or replace function @schema@.runs(l @schema@.leases) returns boolean
language sql immutable as $body$
  select l.state = 'held' and not l.explicit
$body$;

-- Its session has it without a running command.
create or replace function @schema@.rests(l @schema@.leases) returns boolean
language sql immutable as $body$
  select l.state in ('kept', 'quarantined') or (l.state = 'held' and l.explicit)
$body$;

-- A command with a remote effect ended unsettled; nobody may come in until a TTL has passed over that.
create or replace function @schema@.lingers(l @schema@.leases, t timestamptz) returns boolean
language sql immutable as $body$
  select l.state = 'held' and not l.explicit and l.remote
    and coalesce(l.expires_at <= t and l.expires_at + l.ttl_ms * interval '1 millisecond' > t, false)
$body$;

-- How long it still lasts, in milliseconds; zero when expired, null when it does not expire.
create or replace function @schema@.expires_in(l @schema@.leases, t timestamptz) returns bigint
language sql immutable as $body$
  select case when l.expires_at is null then null
              when @schema@.lingers(l, t) then @schema@.ms(l.expires_at) + l.ttl_ms - @schema@.ms(t)
              else greatest(0, @schema@.ms(l.expires_at) - @schema@.ms(t)) end
$body$;

-- One reason after another, each once however often it is told.
create or replace function @schema@.moreover(before text, why text) returns text
language sql immutable as $body$
  select case when before is null then why
              when position(why in before) > 0 then before
              else left(before || '; ' || why, 4000) end
$body$;

-- A reason for the row's new state. Who took it away, and why, is never lost over what comes after.
create or replace function @schema@.because(l @schema@.leases, why text) returns text
language sql immutable as $body$
  select case when l.revoked then @schema@.moreover(l.reason, why) else why end
$body$;

-- How it ends: what was taken away and failed, as a command does that is stopped, was stolen.
create or replace function @schema@.ended(l @schema@.leases, how text) returns text
language sql immutable as $body$
  select case when l.revoked and how = 'failed' then 'stolen' else how end
$body$;

-- The state that people see.
create or replace function @schema@.seen_as(l @schema@.leases, t timestamptz) returns text
language sql immutable as $body$
  select case when l.state = 'quarantined' then 'quarantined'
              when @schema@.lingers(l, t) then 'remote'
              when l.expires_at <= t then 'expired'
              when l.state = 'remote' then 'remote'
              when l.revoked then 'revoked'
              else l.state end
$body$;

-- The waiter has not been heard of for so long that others pass it.
create or replace function @schema@.silent(k @schema@.tickets, t timestamptz) returns boolean
language sql immutable as $body$
  select k.refreshed_at + k.silence_ms * interval '1 millisecond' < t
$body$;

-- A refresh is worth a write: half of the silence that others grant it has passed.
create or replace function @schema@.needs_refresh(k @schema@.tickets, t timestamptz) returns boolean
language sql immutable as $body$
  select k.refreshed_at + (k.silence_ms / 2) * interval '1 millisecond' <= t
$body$;

-- What a live lease means to who asks for its resource. The order of the arms is the rule: a quarantine yields to a
-- restore alone, what has expired belongs to nobody, unless a person must say so first, and a running command of one's own
-- session is in the way like anyone's.
create or replace function @schema@.fate(l @schema@.leases, q @schema@.leases, claim text, t timestamptz) returns text
language sql immutable as $body$
  select case
    when l.grant_id = q.grant_id and l.key_hash = q.key_hash then 'ours'
    when l.state = 'quarantined' then case when claim = 'restore' then 'restore' else 'blocks' end
    when @schema@.lingers(l, t) then 'blocks'
    when l.expires_at <= t and (not l.ask or l.revoked or l.session = q.session) then 'reclaim'
    when l.expires_at <= t then 'blocks'
    when l.state = 'kept' and l.takeable and not l.revoked and not l.ask then 'take'
    when l.session = q.session and @schema@.rests(l) and not l.revoked then 'adopt'
    else 'blocks' end
$body$;
