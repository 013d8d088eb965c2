-- The queue: one ticket per waiting request over all its resources.

-- How many wait for this resource.
create or replace function @schema@.waiters(of_name text, of_scope text, t timestamptz) returns integer
language plpgsql stable as $body$
begin
  return (
    select count(*)::integer from @schema@.ticket_resources r join @schema@.tickets k on k.id = r.ticket
    where r.name = of_name and r.scope = of_scope and not @schema@.silent(k, t));
end $body$;

-- Joins the queue at its end; who comes first by a person's word, before everybody.
create or replace function @schema@.queue_up(
  q @schema@.leases, names text[], scopes text[], silence bigint, first boolean, t timestamptz)
returns void language plpgsql volatile as $body$
declare
  place bigint;
begin
  if (select count(*) >= 4096 from (select 1 from @schema@.tickets k where k.session = q.session limit 4096) x) then
    perform @schema@.refuse('this session waits for 4,096 grants already');
  end if;
  place := nextval(pg_get_serial_sequence('@schema@.tickets', 'id')) * case when first then -1 else 1 end;
  insert into @schema@.tickets (id, grant_id, session, holder, host_id, live_device, live_inode, within_grant, silence_ms, refreshed_at)
  overriding system value
  values (place, q.grant_id, q.session, @schema@.who(q.session, q.label), q.host_id, q.live_device, q.live_inode, q.within_grant, silence, t);
  insert into @schema@.ticket_resources (name, scope, ticket) select w.name, w.scope, place from unnest(names, scopes) as w(name, scope);
end $body$;

-- Takes the silent ones among these tickets out. One that somebody has in hand is heard again or gone already.
create or replace function @schema@.drop_silent(names text[], scopes text[], place bigint, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  delete from @schema@.tickets k where k.id in (
    select x.id from @schema@.tickets x
     where x.id < place and @schema@.silent(x, t)
       and exists (select 1 from @schema@.ticket_resources r join unnest(names, scopes) as w(name, scope)
                   on r.name = w.name and r.scope = w.scope where r.ticket = x.id)
     order by x.id for update skip locked);
end $body$;

-- Older requests that share a resource, oldest first. One that also waits for what we adopt, or for what a command above
-- us runs under, cannot go before us anyhow (it waits for us), so passing it is not barging; holding back for it would
-- be a deadlock. `ours` marks the resources that we adopt or join.
create or replace function @schema@.ahead(names text[], scopes text[], ours boolean[], above uuid[], place bigint, t timestamptz)
returns bigint[] language plpgsql stable as $body$
begin
  return (
    with mine as (select * from unnest(names, scopes, ours) as w(name, scope, ours)),
    passed as (
      select r.ticket from @schema@.ticket_resources r join mine w on r.name = w.name and r.scope = w.scope where w.ours
      union all
      select r.ticket from @schema@.leases l
        join @schema@.ticket_resources r on r.name = l.name and r.scope = l.scope
       where l.grant_id = any (above) and l.ended_at is null and @schema@.runs(l)
    )
    select coalesce(array_agg(k.id order by k.id), '{}') from @schema@.tickets k
     where k.id in (select r.ticket from @schema@.ticket_resources r join mine w on r.name = w.name and r.scope = w.scope)
       and k.id < place and not @schema@.silent(k, t) and k.id not in (select p.ticket from passed p));
end $body$;

-- Tells those who listen that something may be free, where somebody waits for it. Said at the commit.
create or replace function @schema@.tell(of_name text, of_scope text) returns void
language plpgsql volatile as $body$
begin
  if exists (select 1 from @schema@.ticket_resources r where r.name = of_name and r.scope = of_scope) then
    perform pg_notify('@name@', of_scope || ' ' || of_name);
  end if;
end $body$;

create or replace function @schema@.leave_queue_v1(grant_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '8s' as $body$
begin
  perform @schema@.ready();
  delete from @schema@.tickets k where k.grant_id = leave_queue_v1.grant_id;
  return '{"answer": "left"}';
end $body$;
