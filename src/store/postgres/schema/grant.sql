-- A grant in the tables: the predecessor's row ends, the token grows, the new row stands.

-- Ends a row. `own`: by its holder's word, which a later question of the same grant is told; else by a successor's. What was
-- noted of it while it lived stands before that.
create or replace function @schema@.finish(row_id bigint, how text, why text, own boolean, t timestamptz) returns void
language plpgsql volatile as $body$
begin
  update @schema@.leases l
     set ended_at = t, ended_as = how, note = nullif(left(case when own then concat_ws('; ', nullif(why, ''), l.note) else concat_ws('; ', l.note, nullif(why, '')) end, 4000), ''),
         settled = l.settled or own, takeable = false
   where l.id = row_id;
end $body$;

-- The next fencing token of a resource: above the last one, and above the clock, so that it grows even when the counter
-- was lost with its table.
create or replace function @schema@.next_token(of_name text, of_scope text, t timestamptz) returns bigint
language plpgsql volatile as $body$
declare
  grown bigint;
begin
  update @schema@.resources r set last_token = greatest(r.last_token + 1, @schema@.ms(t))
   where r.name = of_name and r.scope = of_scope returning r.last_token into grown;
  return grown;
end $body$;

-- Ends the predecessor's row, and returns the new row with what it has from it.
create or replace function @schema@.succeed(l @schema@.leases, fate text, claim text, q @schema@.leases, t timestamptz)
returns @schema@.leases language plpgsql volatile as $body$
declare
  n @schema@.leases%rowtype := q;
  before text := coalesce(l.reason || '; ', '');
  taker text := @schema@.who(q.session, q.label);
begin
  case
    when fate in ('adopt', 'take') and l.session = q.session then
      perform @schema@.finish(l.id, case when l.explicit then 'completed' else 'failed' end,
                             before || 'adopted by its session', false, t);
      n.adopted := true;
      n.ask := l.ask;
      -- What it was for it is for, unless another issue is named.
      n.issue := coalesce(q.issue, @schema@.own_issue(l));
      if claim <> 'explicit' then
        n.hold_ttl_ms := case when l.explicit then l.ttl_ms else l.hold_ttl_ms end;
        n.hold_operation := case when l.explicit then l.operation else l.hold_operation end;
        n.hold_issue := case when n.hold_ttl_ms is not null then @schema@.own_issue(l) end;
        n.hold_rule := case when l.explicit then l.rule else l.hold_rule end;
      end if;
      n.debt := case when l.takeable then '[]' else @schema@.kept_by_own(l) end;
    when fate = 'take' then
      perform @schema@.finish(l.id, 'failed', before || 'taken by ' || taker, false, t);
    when fate = 'restore' then
      l := @schema@.bury_all(l);
      perform @schema@.finish(l.id, 'failed', before || 'restored by ' || taker, false, t);
      n.debt := @schema@.all_own(l);
    when fate = 'reclaim' then
      l := @schema@.bury_all(l);
      perform @schema@.finish(l.id, case when l.revoked then 'stolen' else 'expired' end,
        before || case when l.revoked then 'taken by ' when before = '' then 'presumed crashed, reclaimed by ' else 'reclaimed by ' end
          || taker, false, t);
      n.debt := @schema@.left_by(l);
      if l.session = q.session then
        n.issue := coalesce(q.issue, @schema@.own_issue(l));
      end if;
  end case;
  return n;
end $body$;

-- Puts a row into the ledger, its moment and its id ours.
create or replace function @schema@.enter(n @schema@.leases) returns void
language plpgsql volatile as $body$
begin
  insert into @schema@.leases (scope, name, token, grant_id, key_hash, session, label, host, host_id, pid, operation, rule, state,
    explicit, takeable, revoked, remote, ask, adopted, settled, reason, live_device, live_inode, files, debt, ttl_ms,
    hold_ttl_ms, hold_operation, hold_issue, hold_rule, issue, within_grant, bad, may_run_on, expires_at, acquired_at, renewed_at, ended_at, ended_as, note)
  values (n.scope, n.name, n.token, n.grant_id, n.key_hash, n.session, n.label, n.host, n.host_id, n.pid, n.operation, n.rule,
    n.state, n.explicit, n.takeable, n.revoked, n.remote, n.ask, n.adopted, n.settled, n.reason, n.live_device, n.live_inode, n.files,
    n.debt, n.ttl_ms, n.hold_ttl_ms, n.hold_operation, n.hold_issue, n.hold_rule, n.issue, n.within_grant, n.bad, n.may_run_on, n.expires_at, n.acquired_at, n.renewed_at,
    n.ended_at, n.ended_as, n.note);
end $body$;

-- Grants every resource of the request.
create or replace function @schema@.give(
  q @schema@.leases, claim text, lasts bigint, names text[], scopes text[], live @schema@.leases[], fates text[], below uuid[],
  asks boolean[], t timestamptz
) returns jsonb language plpgsql volatile as $body$
declare
  answer jsonb := jsonb_build_object('answer', 'granted', 'lasts_ms', lasts, 'tokens', '[]'::jsonb, 'unsettled', '[]'::jsonb,
    'carried', '[]'::jsonb, 'reclaimed', '[]'::jsonb, 'adopted', '[]'::jsonb, 'heads', @schema@.heads(q.files));
  n @schema@.leases%rowtype;
begin
  if (select count(*) >= 10000 from (
        select 1 from @schema@.leases l where l.session = q.session and l.ended_at is null limit 10000) x) then
    perform @schema@.refuse('this session has 10,000 leases already');
  end if;
  for i in 1..cardinality(names) loop
    if fates[i] = 'join' then
      perform @schema@.join_line(live[i], below[i], q, lasts, t);
      update @schema@.leases l set ask = true where l.id = live[i].id and asks[i] and not l.ask;
      answer := @schema@.with_token(answer, names[i], scopes[i], live[i].token, false);
      continue;
    end if;
    n := case when fates[i] = 'free' then q else @schema@.succeed(live[i], fates[i], claim, q, t) end;
    n.name := names[i];
    n.scope := scopes[i];
    n.ask := asks[i] or n.ask;
    n.token := @schema@.next_token(names[i], scopes[i], t);
    n.explicit := claim = 'explicit';
    n.pid := case when claim <> 'explicit' then q.pid end;
    n.expires_at := t + @schema@.span(lasts);
    n.acquired_at := t;
    n.renewed_at := t;
    perform @schema@.enter(n);
    answer := @schema@.with_token(answer, n.name, n.scope, n.token, n.adopted);
    if n.debt <> '[]' then
      answer := @schema@.told(answer, n.debt, n.name, n.scope);
    end if;
  end loop;
  if exists (select 1 from @schema@.words w where w.session = q.session) then
    answer := answer || jsonb_build_object('words', @schema@.heard(q.session));
  end if;
  return answer;
end $body$;
