-- Settle: receipts, then what becomes of the rows; all or none.

-- Leaves receipts under the rows of the resources that they name. One that names another is left under the first. The
-- caller has seen to their limits.
create or replace function @schema@.leave_receipts(receipts jsonb, live @schema@.leases[], t timestamptz) returns void
language sql volatile as $body$
  insert into @schema@.receipts (lease, scope, path, base, new, blob, branch, host, worktree, token, holder, kind, at)
  select l.id, r.r ->> 'scope', r.r ->> 'path', r.r ->> 'base', r.r ->> 'new', r.r ->> 'blob', r.r ->> 'branch', l.host,
         r.r ->> 'worktree', l.token, @schema@.who(l.session, l.label), r.r ->> 'kind', t
  from jsonb_array_elements(receipts) with ordinality r(r, n)
  cross join lateral (
    select x.* from unnest(live) with ordinality x
     order by (x.name = r.r -> 'resource' ->> 'name' and x.scope = r.r -> 'resource' ->> 'scope') desc, x.ordinality limit 1) l
  order by r.n
  on conflict do nothing
$body$;

-- The row stays with its session, for what was left half done. Under an explicit hold it stays at least as long as the hold would, and nobody may take
-- it: the failure of one command does not give away what the session holds by its own word. Nor does a command that
-- changed nothing give away what an earlier one of the session changed: its debt stays, for who comes after expiry. What was
-- taken away meanwhile has run out: it is whoever's is next, who proves the files.
create or replace function @schema@.keep(l @schema@.leases, why text, keep_ms bigint, anybody boolean, t timestamptz) returns void
language plpgsql volatile as $body$
declare
  by_word bigint := coalesce(l.hold_ttl_ms, case when l.explicit then l.ttl_ms end);
begin
  update @schema@.leases x
     set state = 'kept', settled = true, takeable = anybody and by_word is null and l.debt = '[]' and not l.revoked,
         -- It changed nothing; an earlier one did, and why that was kept goes on to be why.
         reason = @schema@.because(l, coalesce((select b.reason from @schema@.leases b
           where anybody and b.scope = l.scope and b.name = l.name and b.session = l.session
             and b.token = (l.debt -> -1 ->> 'token')::bigint), why)), pid = null, live_device = null, live_inode = null,
         expires_at = t + @schema@.span(case when l.revoked then 0 else greatest(keep_ms, by_word) end), renewed_at = t
   where x.id = l.id;
end $body$;

-- The row is the explicit hold again, for the hold's TTL from now. Which command it was meanwhile is noted: nothing else would
-- say it.
create or replace function @schema@.hand_back(l @schema@.leases, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  update @schema@.leases x
     set state = 'held', explicit = true, settled = true, takeable = false, remote = false, reason = null, pid = null,
         live_device = null, live_inode = null, files = '[]', debt = @schema@.to_others(l.debt), ttl_ms = l.hold_ttl_ms,
         note = 'ran ' || l.operation, operation = coalesce(l.hold_operation, l.operation), hold_ttl_ms = null, hold_operation = null,
         issue = l.hold_issue, hold_issue = null, rule = l.hold_rule, hold_rule = null,
         expires_at = t + @schema@.span(l.hold_ttl_ms), renewed_at = t
   where x.id = l.id;
end $body$;

-- Its holder is done, and something came to it meanwhile that nobody has proven: a command below that died, a run by force.
-- It has run out, so that whoever comes next proves that first; who asked that a person be asked is done.
create or replace function @schema@.leave_unproven(l @schema@.leases, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  update @schema@.leases x
     set state = 'kept', explicit = false, settled = true, takeable = false, remote = false, ask = false, pid = null, live_device = null,
         live_inode = null, files = '[]', debt = @schema@.to_others(l.debt), expires_at = t, renewed_at = t,
         reason = @schema@.because(l, 'its holder is done; files that another command left are not proven yet')
   where x.id = l.id;
end $body$;

-- The row is nobody's for so long. The record of files stays, and what a command below left with it: who comes after
-- that proves them once more.
create or replace function @schema@.linger(l @schema@.leases, why text, lasts bigint, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  update @schema@.leases x
     set state = 'remote', settled = true, takeable = false, reason = @schema@.because(l, why), pid = null, live_device = null,
         live_inode = null, expires_at = t + @schema@.span(lasts), renewed_at = t
   where x.id = l.id;
end $body$;

-- The row stays without expiry, and with all that it owes: who restores must know which files it is about. That it was
-- taken away meanwhile is said behind the file, and frees nothing.
create or replace function @schema@.quarantine(l @schema@.leases, why text, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  update @schema@.leases x
     set state = 'quarantined', settled = true, takeable = false,
         reason = case when not l.revoked or l.reason is null then why
                       when position(why in l.reason) > 0 then l.reason
                       else why || ' (' || l.reason || ')' end, pid = null, live_device = null, live_inode = null,
         expires_at = null, renewed_at = t
   where x.id = l.id;
end $body$;

-- An ending as it was told, its parts within their limits: {ending, ended_as?, reason?, keep_ms?, takeable?}.
create or replace function @schema@.ending(told jsonb) returns jsonb
language plpgsql immutable as $body$
declare
  how text := coalesce(told ->> 'ended_as', 'completed');
begin
  if coalesce(told ->> 'ending', '') not in ('release', 'keep', 'linger', 'quarantine') then
    perform @schema@.refuse('ending must be release, keep, linger or quarantine');
  elsif how not in ('completed', 'failed', 'expired', 'stolen', 'human-action') then
    perform @schema@.refuse('ended_as must be completed, failed, expired, stolen or human-action');
  elsif told ->> 'ending' = 'keep' or (told ->> 'ending' = 'linger' and told ->> 'keep_ms' is not null) then
    perform @schema@.lasting('keep_ms', (told ->> 'keep_ms')::bigint);
  end if;
  return jsonb_build_object('ending', told ->> 'ending', 'ended_as', how, 'reason', @schema@.shown(coalesce(told ->> 'reason', '')),
    'keep_ms', (told ->> 'keep_ms')::bigint, 'takeable', coalesce((told ->> 'takeable')::boolean, false));
end $body$;

-- What becomes of one row. What was noted of it while its holder had it weighs more than the holder's own word: a file that
-- a command below left bad, then something that may still run.
create or replace function @schema@.ending_of(l @schema@.leases, own jsonb) returns jsonb
language sql immutable as $body$
  select case when l.bad is not null then jsonb_build_object('ending', 'quarantine', 'reason', l.bad)
              when own ->> 'ending' = 'quarantine' or l.may_run_on is null then own
              else jsonb_build_object('ending', 'linger', 'reason', l.may_run_on) end
$body$;

-- Does it, to a row whose holder is not a join. An adopted explicit hold goes back when the command's work is over; a theft
-- or a person ends the hold too. Where a command that joined lives on, the lease goes on with it.
create or replace function @schema@.conclude(l @schema@.leases, by_grant boolean, e jsonb, t timestamptz) returns void
language plpgsql volatile as $body$
declare
  heir @schema@.joins%rowtype;
  what text := e ->> 'ending';
  how text := @schema@.ended(l, e ->> 'ended_as');
  why text := e ->> 'reason';
begin
  if by_grant and what <> 'quarantine' then
    select * into heir from @schema@.joins j where j.lease = l.id and j.within_grant = l.grant_id;
  end if;
  if heir.id is not null then
    perform @schema@.finish(l.id, case when what = 'release' then how else @schema@.ended(l, 'failed') end, @schema@.because(l,
      case when what = 'release' then '' else why || '; ' end || 'a command below it goes on with the lease'), true, t);
    perform @schema@.inherit(l, heir, t);
  elsif what = 'keep' and (e ->> 'takeable')::boolean and l.hold_ttl_ms is not null and l.debt = '[]' and not l.revoked then
    -- It changed nothing, and the hold is as it was.
    perform @schema@.hand_back(l, t);
  elsif what = 'keep' then
    perform @schema@.keep(l, why, (e ->> 'keep_ms')::bigint, (e ->> 'takeable')::boolean, t);
  elsif what = 'linger' and e ->> 'keep_ms' is not null and l.hold_ttl_ms is not null then
    perform @schema@.keep(l, why, (e ->> 'keep_ms')::bigint, false, t);
  elsif what = 'linger' then
    -- With keep_ms it is what a success set off elsewhere, and nobody is let in for so long.
    perform @schema@.linger(l, why, coalesce((e ->> 'keep_ms')::bigint, l.ttl_ms), t);
  elsif what = 'quarantine' then
    perform @schema@.quarantine(l, why, t);
  elsif by_grant and l.hold_ttl_ms is not null and not l.revoked and how in ('completed', 'failed') then
    perform @schema@.hand_back(l, t);
  elsif @schema@.to_others(l.debt) <> '[]' then
    perform @schema@.leave_unproven(l, t);
  else
    -- A person's word first; what became of the hold meanwhile comes after it.
    perform @schema@.finish(l.id, how, concat_ws('; ', nullif(why, ''), l.reason), true, t);
  end if;
end $body$;

-- A command that joined leaves the line. That it failed is its holder's affair; a file that it left bad is everybody's, and
-- quarantines the lease when the holder is done. With what may still be running of it it stays.
create or replace function @schema@.leave(l @schema@.leases, j @schema@.joins, e jsonb, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  if e ->> 'ending' = 'linger' and e ->> 'keep_ms' is null then
    if l.state = 'remote' then
      -- Its holder is gone: the time is counted from here again.
      perform @schema@.linger(l, e ->> 'reason', l.ttl_ms, t);
    end if;
    perform @schema@.stay(j, e ->> 'reason');
    return;
  elsif e ->> 'ending' = 'quarantine' then
    update @schema@.leases x set bad = e ->> 'reason' where x.id = l.id;
  end if;
  perform @schema@.part_from(j);
end $body$;

-- `apart`: resources of it that end in another way, each as {scope, name, ending, …}.
create or replace function @schema@.settle_any(
  resources jsonb, ending text, grant_id uuid, key text, session uuid, ended_as text, reason text, keep_ms bigint, takeable boolean,
  apart jsonb, receipts jsonb
) returns jsonb
language plpgsql volatile as $body$
declare
  h record;
  l @schema@.leases%rowtype;
  j @schema@.joins%rowtype;
  by_grant boolean := grant_id is not null;
  whole jsonb := @schema@.ending(jsonb_build_object('ending', ending, 'ended_as', ended_as, 'reason', reason, 'keep_ms', keep_ms,
    'takeable', takeable));
  e jsonb;
  done boolean;
  heard boolean;
  ended boolean := false;
begin
  perform @schema@.ending(a) from jsonb_array_elements(@schema@.records('apart', apart, 256)) a;
  select * into h from @schema@.hold(grant_id, key, session, resources);
  if h.live is null or cardinality(h.live) = 0 then
    return '{"answer": "not ours"}';
  end if;
  -- This very grant had its say already, and its answer was lost: the row has ended by its word, or went back to the hold,
  -- or the grant has left the line of those who joined it. Or one part ended and another stays, quarantined: both by this
  -- grant's word.
  done := by_grant;
  heard := by_grant;
  for i in 1..cardinality(h.live) loop
    l := h.live[i];
    continue when h.parted[i];
    done := done and h.joined[i] is null and l.settled and (l.ended_at is not null or (l.explicit and l.adopted));
    heard := heard and h.joined[i] is null and l.settled;
    ended := ended or l.ended_at is not null;
  end loop;
  if done then
    return '{"answer": "released"}';
  elsif ended then
    return jsonb_build_object('answer', case when heard then 'released' else 'not ours' end);
  end if;
  perform @schema@.leave_receipts(@schema@.records('receipts', receipts, 4096), h.live, h.t);
  for i in 1..cardinality(h.live) loop
    l := h.live[i];
    -- Said before; a second time would end the hold that it went back to.
    continue when h.parted[i] or (by_grant and h.joined[i] is null and l.settled and l.explicit and l.adopted);
    select coalesce((select @schema@.ending(a) from jsonb_array_elements(apart) a
                      where a ->> 'name' = l.name and a ->> 'scope' = l.scope limit 1), whole) into e;
    if h.joined[i] is not null then
      select * into j from @schema@.joins x where x.id = h.joined[i];
      perform @schema@.leave(l, j, e, h.t);
    else
      perform @schema@.conclude(l, by_grant, @schema@.ending_of(l, e), h.t);
    end if;
    perform @schema@.tell(l.name, l.scope);
  end loop;
  return '{"answer": "released"}';
end $body$;
