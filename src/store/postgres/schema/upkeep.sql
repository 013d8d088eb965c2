-- The ledger's upkeep. Called by who acts as the owner alone: these have no version in their name, so nobody else may.

-- Takes out what ended so long ago, but never a live row, a counter, the last rows of a resource, what a live row or a
-- command below one still refers to, a duty that nobody has done, or the last receipts of a path. `dry`: only counts.
create or replace function @schema@.prune(older_ms bigint, keep integer, dry boolean) returns jsonb
language plpgsql volatile as $body$
declare
  before timestamptz := @schema@.clock() - @schema@.span(older_ms);
  old bigint[];
  told bigint[];
  waited bigint;
begin
  select coalesce(array_agg(x.id), '{}') into old
    from (select l.id, l.grant_id, l.ended_at, l.ended_as, row_number() over (partition by l.name, l.scope order by l.ended_at desc, l.id desc) as place
            from @schema@.leases l where l.ended_at is not null) x
   where x.ended_at < before and x.place > keep and x.ended_as <> 'human-action'
     and not exists (select 1 from @schema@.leases n where n.ended_at is null and n.within_grant = x.grant_id)
     and not exists (select 1 from @schema@.joins j where j.within_grant = x.grant_id or j.lease = x.id);
  -- Receipts go with their row, or where it went before; the end of each chain stays, since versions are known by it.
  select coalesce(array_agg(x.id), '{}') into told
    from (select r.id, r.lease, r.at, row_number() over (partition by r.scope, r.path order by r.id desc) as place from @schema@.receipts r) x
   where x.at < before and x.place > greatest(keep, 1)
     and (x.lease = any (old) or not exists (select 1 from @schema@.leases l where l.id = x.lease));
  select count(*) into waited from @schema@.waits w where w.until < before;
  if not dry then
    perform @schema@.keep_count(old, before);
    delete from @schema@.receipts r where r.id = any (told);
    delete from @schema@.left_joins j where j.lease = any (old);
    delete from @schema@.leases l where l.id = any (old) and l.ended_at is not null;
    delete from @schema@.waits w where w.until < before;
  end if;
  return jsonb_build_object('leases', cardinality(old), 'receipts', cardinality(told), 'waits', waited,
    'left', (select count(*) from @schema@.leases l where l.ended_at is not null) - case when dry then cardinality(old) else 0 end);
end $body$;

-- A new epoch: from here every token is above all that this ledger knows of, above its clock, and above `above`, by the
-- margin. Resources that it has never seen begin there too.
create or replace function @schema@.raise_epoch(above bigint, margin bigint) returns jsonb
language plpgsql volatile as $body$
declare
  bottom bigint;
  raised bigint;
  epoch bigint;
begin
  -- Nobody draws a token meanwhile.
  lock table @schema@.resources in access exclusive mode;
  select greatest(coalesce(max(r.last_token), 0), coalesce((select max(l.token) from @schema@.leases l), 0),
                  coalesce((select max(r.token) from @schema@.receipts r), 0), @schema@.ms(@schema@.clock()), coalesce(above, 0)) + margin
    into bottom from @schema@.resources r;
  update @schema@.resources r set last_token = bottom where r.last_token < bottom;
  get diagnostics raised = row_count;
  execute format('alter table @schema@.resources alter column last_token set default %s', bottom);
  insert into @schema@.meta as m (key, value) values ('floor', bottom::text) on conflict (key) do update set value = excluded.value;
  update @schema@.meta m set value = (m.value::bigint + 1)::text where m.key = 'epoch' returning m.value::bigint into epoch;
  return jsonb_build_object('epoch', epoch, 'above', bottom, 'resources', raised);
end $body$;
