-- The board: which sessions work on what, words left for a holder, and counts for whoever watches.

-- A session says what it does; said again, it says so anew.
create or replace function @schema@.session_begin_v1(
  session uuid, name text, domain text, task text, label text default '', host text default ''
) returns jsonb language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  t timestamptz;
begin
  if session_begin_v1.session is null or coalesce(session_begin_v1.name, '') = '' then
    perform @schema@.refuse('session and name must be given');
  end if;
  t := @schema@.clock();
  insert into @schema@.sessions as s (session, name, domain, task, label, host, began_at, seen_at)
  values (session_begin_v1.session, @schema@.shown(session_begin_v1.name), @schema@.shown(coalesce(session_begin_v1.domain, '')),
    @schema@.shown(coalesce(session_begin_v1.task, '')), @schema@.shown(coalesce(session_begin_v1.label, '')),
    @schema@.shown(coalesce(session_begin_v1.host, '')), t, t)
  on conflict on constraint sessions_pkey do update
     set name = excluded.name, domain = excluded.domain, task = excluded.task, label = excluded.label, host = excluded.host,
         seen_at = excluded.seen_at, ended_at = null,
         began_at = case when s.ended_at is null then s.began_at else excluded.began_at end;
  return '{"answer": "begun"}';
end $body$;

-- A session is over.
create or replace function @schema@.session_end_v1(session uuid) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  t timestamptz := @schema@.clock();
begin
  update @schema@.sessions s set ended_at = t, seen_at = t where s.session = session_end_v1.session and s.ended_at is null;
  return jsonb_build_object('ended', found);
end $body$;

-- Every session that has begun, the last to be heard of first. What it did with leases is its activity: nothing is written
-- for that.
create or replace function @schema@.sessions_v1() returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  t timestamptz := @schema@.clock();
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('session', x.session, 'name', x.name, 'domain', x.domain, 'task', x.task,
      'label', x.label, 'host', x.host, 'began_at', @schema@.ms(x.began_at), 'seen_at', @schema@.ms(x.last),
      'idle_ms', greatest(0, @schema@.ms(t) - @schema@.ms(x.last)), 'ended_at', @schema@.ms(x.ended_at))
      order by x.last desc, x.session), '[]')
    from (select s.*, greatest(s.seen_at, case when s.ended_at is null then (
             select max(greatest(l.acquired_at, l.renewed_at)) from @schema@.leases l
              where l.session = s.session and l.ended_at is null) end, case when s.ended_at is null then (
             select max(l.ended_at) from @schema@.leases l where l.session = s.session and l.ended_at is not null) end) as last
            from @schema@.sessions s order by s.seen_at desc limit 1000) x);
end $body$;

-- Leaves a word for who holds something. At most sixteen wait for a session, and the oldest go first.
create or replace function @schema@.leave_word_v1(session uuid, about text, word text, holder text default '') returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
begin
  if leave_word_v1.session is null or coalesce(leave_word_v1.word, '') = '' then
    perform @schema@.refuse('session and word must be given');
  end if;
  insert into @schema@.words (session, holder, about, word, at)
  values (leave_word_v1.session, @schema@.shown(coalesce(leave_word_v1.holder, '')), @schema@.shown(coalesce(leave_word_v1.about, '')),
    left(leave_word_v1.word, 1000), @schema@.clock());
  delete from @schema@.words w where w.session = leave_word_v1.session and w.id not in (
    select x.id from @schema@.words x where x.session = leave_word_v1.session order by x.id desc limit 16);
  return '{"answer": "left"}';
end $body$;

-- The words for a session, and they go.
create or replace function @schema@.heard(of_session uuid) returns jsonb
language plpgsql volatile as $body$
declare
  told jsonb;
begin
  with gone as (delete from @schema@.words w where w.session = of_session returning w.*)
  select coalesce(jsonb_agg(jsonb_build_object('holder', g.holder, 'about', g.about, 'text', g.word, 'at', @schema@.ms(g.at)) order by g.id), '[]')
    into told from gone g;
  return told;
end $body$;

create or replace function @schema@.hear_v1(session uuid) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
declare
  t timestamptz := @schema@.clock();
begin
  update @schema@.sessions s set seen_at = t
   where s.session = hear_v1.session and s.ended_at is null and s.seen_at <= t - interval '1 second';
  if not exists (select 1 from @schema@.words w where w.session = hear_v1.session) then
    return '[]';
  end if;
  return @schema@.heard(hear_v1.session);
end $body$;

-- The requests that stand in line and are not silent, the oldest first.
create or replace function @schema@.waiting_v1() returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  t timestamptz := @schema@.clock();
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('holder', k.holder, 'since', @schema@.ms(k.since), 'resources', (
        select coalesce(jsonb_agg(jsonb_build_object('name', r.name, 'scope', r.scope) order by r.name, r.scope), '[]')
          from @schema@.ticket_resources r where r.ticket = k.id)) order by k.id), '[]')
    from @schema@.tickets k where k.refreshed_at + k.silence_ms * interval '1 millisecond' >= t);
end $body$;

-- Counts. Those of what has happened only grow: what was pruned stays counted.
create or replace function @schema@.figures_v1() returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
  t timestamptz := @schema@.clock();
  counted jsonb := (select coalesce(jsonb_object_agg(y.what, y.count), '{}') from @schema@.tally y);
  ended jsonb;
begin
  select coalesce(jsonb_object_agg(x.ended_as, x.count), '{}') into ended
    from (select l.ended_as, count(*) from @schema@.leases l where l.ended_at is not null group by l.ended_as) x;
  return (select jsonb_object_agg(replace(w.how, '-', '_'),
        coalesce((ended ->> w.how)::bigint, 0) + coalesce((counted ->> w.how)::bigint, 0))
      from unnest(array['completed', 'failed', 'expired', 'stolen', 'human-action']) w(how))
    || jsonb_build_object(
      'waiting', (select count(*) from @schema@.tickets k where not @schema@.silent(k, t)),
      'waits', (select count(distinct w.grant_id) from @schema@.waits w) + (select count(*) from @schema@.tickets)
        + coalesce((counted ->> 'waits')::bigint, 0),
      'quarantines', (select count(*) from @schema@.leases l where l.state = 'quarantined') + coalesce((counted ->> 'quarantines')::bigint, 0));
end $body$;

-- So many rows that were left to a person have ended in another way now. They are counted as what they were.
create or replace function @schema@.count_as_left(now_as text, many bigint) returns void
language plpgsql volatile as $body$
begin
  insert into @schema@.tally as y (what, count)
  select x.what, x.count from (values ('human-action', many), (now_as, -many)) x(what, count)
   where many > 0 and now_as <> 'human-action' order by x.what
  on conflict on constraint tally_pkey do update set count = y.count + excluded.count;
end $body$;

-- What is about to be pruned stays counted; sessions and words of so long ago go.
create or replace function @schema@.keep_count(old bigint[], before timestamptz) returns void
language plpgsql volatile as $body$
begin
  insert into @schema@.tally as y (what, count)
  select x.what, x.count from (
    select l.ended_as as what, count(*) as count from @schema@.leases l where l.id = any (old) group by l.ended_as
    union all
    select 'quarantines', count(*) from @schema@.leases l where l.id = any (old) and l.state = 'quarantined'
    union all
    select 'waits', count(distinct w.grant_id) from @schema@.waits w where w.until < before) x
   where x.count > 0 order by x.what
  on conflict on constraint tally_pkey do update set count = y.count + excluded.count;
  delete from @schema@.sessions s where coalesce(s.ended_at, s.seen_at) < before;
  delete from @schema@.words w where w.at < before;
end $body$;
