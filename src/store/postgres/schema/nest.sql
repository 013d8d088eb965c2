-- Nesting: a command below a holder joins its lease instead of waiting for its own ancestor. The joins of a lease are a
-- line: the holder, the command that joined it, the command below that one, and so on. Each link has at most one
-- successor at a time, so siblings exclude each other. Ancestry is what the rows say: a grant remembers within which
-- grant it was asked for.

-- The grants above a request, the nearest first. Ended ones count too: what they stood in may still run, and only a
-- running lease is ever joined. Bounded: what somebody put in an environment must not make us run in circles.
create or replace function @schema@.chain(within_grant uuid) returns uuid[]
language plpgsql stable as $body$
declare
  above uuid[] := '{}';
  link uuid := within_grant;
begin
  while link is not null and link <> all (above) and cardinality(above) < 512 loop
    above := above || link;
    select x.within_grant into link from (
      select l.within_grant from @schema@.leases l where l.grant_id = link and l.within_grant is not null
      union all
      select j.within_grant from @schema@.joins j where j.grant_id = link) x limit 1;
  end loop;
  return above;
end $body$;

-- How a nested request stands with a lease in its way: `stranger`, no ancestor of ours holds it; `may join`, below that
-- grant; `joined` already, and the answer was lost; `sibling`, a command beside us has joined, and we wait for it.
create or replace function @schema@.line(l @schema@.leases, above uuid[], q @schema@.leases, out stands text, out below uuid)
language plpgsql stable as $body$
declare
  j @schema@.joins%rowtype;
begin
  if not @schema@.runs(l) or l.grant_id <> all (above) then
    stands := 'stranger';
    return;
  end if;
  below := l.grant_id;
  loop
    select * into j from @schema@.joins x where x.lease = l.id and x.within_grant = below;
    if not found then
      stands := 'may join';
      return;
    elsif j.grant_id = q.grant_id and j.key_hash = q.key_hash then
      stands := 'joined';
      return;
    elsif j.grant_id <> all (above) then
      stands := 'sibling';
      return;
    end if;
    below := j.grant_id;
  end loop;
end $body$;

-- Joins, for at least this long.
create or replace function @schema@.join_line(l @schema@.leases, below uuid, q @schema@.leases, lasts bigint, t timestamptz)
returns void language plpgsql volatile as $body$
begin
  insert into @schema@.joins (lease, within_grant, grant_id, key_hash, session, label, host, host_id, pid, operation,
                             live_device, live_inode, files, remote)
  values (l.id, below, q.grant_id, q.key_hash, q.session, q.label, q.host, q.host_id, q.pid, q.operation,
          q.live_device, q.live_inode, q.files, q.remote);
  -- What is done elsewhere for the command below is done under the holder's lease.
  update @schema@.leases x
     set remote = x.remote or q.remote,
         expires_at = case when x.expires_at is not null then greatest(x.expires_at, t + @schema@.span(lasts)) end
   where x.id = l.id;
end $body$;

-- Takes a join out of the line; what stood below it stands below its predecessor now.
create or replace function @schema@.leave_line(j @schema@.joins) returns void
language plpgsql volatile as $body$
declare
  predecessor uuid;
begin
  delete from @schema@.joins x where x.id = j.id returning x.within_grant into predecessor;
  update @schema@.joins x set within_grant = predecessor where x.lease = j.lease and x.within_grant = j.grant_id;
end $body$;

-- A join has had its say: it leaves the line, and is remembered, in case the answer to that is lost.
create or replace function @schema@.part_from(j @schema@.joins) returns void
language plpgsql volatile as $body$
begin
  insert into @schema@.left_joins (grant_id, lease, key_hash) values (j.grant_id, j.lease, j.key_hash) on conflict do nothing;
  perform @schema@.leave_line(j);
end $body$;

-- Something of the join may still be running: it stays in the line until that is over or the lease is.
create or replace function @schema@.stay(j @schema@.joins, why text) returns void
language plpgsql volatile as $body$
begin
  update @schema@.joins x set may_run_on = why, pid = null where x.id = j.id;
  update @schema@.leases l set remote = true where l.id = j.lease;
end $body$;

-- A dead join leaves the line, and its files become a debt of the lease.
create or replace function @schema@.bury(j @schema@.joins) returns void
language plpgsql volatile as $body$
begin
  perform @schema@.leave_line(j);
  update @schema@.leases l
     set debt = @schema@.owing(l.debt, l.token, @schema@.who(j.session, j.label), j.operation, j.host, j.files)
   where l.id = j.lease;
end $body$;

-- The joins of a lease that is over for all of them: what they may have written is owed by who takes it over.
create or replace function @schema@.bury_all(l @schema@.leases) returns @schema@.leases
language plpgsql volatile as $body$
declare
  j @schema@.joins%rowtype;
begin
  for j in select * from @schema@.joins x where x.lease = l.id order by x.id loop
    perform @schema@.bury(j);
  end loop;
  select * into l from @schema@.leases x where x.id = l.id;
  return l;
end $body$;

-- The join has the lease now, in a row of its own under the same token. The holder's row has ended. What may still be
-- running of the join is given one TTL from here, and more when its keeper says so.
create or replace function @schema@.inherit(l @schema@.leases, j @schema@.joins, t timestamptz) returns void
language plpgsql volatile as $body$
declare
  heir bigint;
begin
  insert into @schema@.leases (scope, name, token, grant_id, key_hash, session, label, host, host_id, pid, operation, state,
                              settled, reason, remote, live_device, live_inode, files, debt, bad, may_run_on, ttl_ms, hold_ttl_ms,
                              hold_operation, hold_issue, hold_rule, issue, within_grant, expires_at, acquired_at, renewed_at, revoked, ask)
  select x.scope, x.name, x.token, j.grant_id, j.key_hash, j.session, j.label, j.host, j.host_id, j.pid, j.operation,
         case when j.may_run_on is null then 'held' else 'remote' end, j.may_run_on is not null,
         -- What was taken from the holder is taken from who goes on with it.
         case when j.may_run_on is not null then @schema@.because(x, j.may_run_on) when x.revoked then x.reason end,
         x.remote, j.live_device, j.live_inode, j.files,
         (select coalesce(jsonb_agg(d.d - 'own' order by d.n), '[]') from jsonb_array_elements(x.debt) with ordinality d(d, n)), x.bad, x.may_run_on, x.ttl_ms, x.hold_ttl_ms, x.hold_operation,
         x.hold_issue, x.hold_rule, x.issue,
         x.grant_id, case when j.may_run_on is null then x.expires_at else t + @schema@.span(x.ttl_ms) end, t, t, x.revoked, x.ask
  from @schema@.leases x where x.id = l.id
  returning id into heir;
  delete from @schema@.joins x where x.id = j.id;
  update @schema@.joins x set lease = heir where x.lease = l.id;
end $body$;

-- Would waiting close a circle? True when one who stands in our way waits, over however many others, for a command above
-- us. `place` is the number of our ticket: of a circle only the youngest request is refused, so that the others go on.
-- Stable: it reads one moment of the tables, so that two states never make a circle that was not there.
create or replace function @schema@.closes(above uuid[], in_the_way uuid[], place bigint, t timestamptz) returns boolean
language plpgsql stable as $body$
declare
  waiting uuid[];
  more uuid[];
  seen uuid[] := '{}';
  holder uuid;
begin
  -- What a command above us holds is joined; only who joined it before us is in the way.
  select array_agg(w) into waiting from unnest(in_the_way) w
   where w <> all (above)
     and (exists (select 1 from @schema@.leases l where l.grant_id = w and l.ended_at is null)
          or exists (select 1 from @schema@.joins j where j.grant_id = w));
  while cardinality(waiting) > 0 loop
    holder := waiting[1];
    waiting := waiting[2:];
    if holder = any (above) then
      return true;
    end if;
    continue when holder = any (seen);
    seen := seen || holder;
    select array_agg(h.grant_id) into more
      from (select k.id, @schema@.chain(k.within_grant) as chain from @schema@.tickets k
            where k.within_grant is not null and k.id < place and not @schema@.silent(k, t)) k
      join @schema@.ticket_resources r on r.ticket = k.id
      join @schema@.leases l on l.name = r.name and l.scope = r.scope and l.ended_at is null
      cross join lateral (select l.grant_id union all
                          select j.grant_id from @schema@.joins j where j.lease = l.id) h
     where holder = any (k.chain) and h.grant_id <> all (k.chain);
    waiting := waiting || more;
  end loop;
  return false;
end $body$;
