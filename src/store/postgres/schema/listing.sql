-- What of the tables decides what the functions can promise, a line each: as this program's steps make them, this is
-- `listing.txt`. Every role may read these catalogues. $1 is the schema's name.
with ours as (
  select c.oid, c.relname::text as name, c.relkind, c.relpersistence, c.relowner, c.relrowsecurity, c.relacl, n.nspname::text as schema
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where n.nspname = $1
), plain as (
  select o.*, format('%I.', o.schema) as prefix from ours o where o.relkind in ('r', 'p')
)
select concat_ws(' ', case o.relkind when 'v' then 'view' else 'table' end, o.name,
         case o.relpersistence when 'p' then null else 'that a crash empties' end,
         case when o.relrowsecurity then 'with row security' end,
         case when r.rolname <> 'locked_owner' then 'of ' || r.rolname end)
  from ours o join pg_catalog.pg_roles r on r.oid = o.relowner where o.relkind in ('r', 'p', 'v')
union all
select concat_ws(' ', 'column', t.name || '.' || a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
         case when l.collname = 'C' then 'collate C' end, case when a.attnotnull then 'not null' end,
         case a.attidentity when 'a' then 'identity' when 'd' then 'identity by default' end,
         -- The counter begins above what any token was when the epoch is raised.
         'default ' || case a.attname when 'last_token' then '0'
                       else replace(pg_catalog.pg_get_expr(d.adbin, d.adrelid), t.prefix, '') end)
  from plain t join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  left join pg_catalog.pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
  left join pg_catalog.pg_collation l on l.oid = a.attcollation
union all
select concat_ws(' ', case when i.indisunique then 'unique index' else 'index' end, x.relname::text, 'on', t.name,
         (select string_agg(pg_catalog.pg_get_indexdef(i.indexrelid, k, true), ', ' order by k)
            from generate_series(1, i.indnkeyatts) k),
         'where ' || translate(pg_catalog.pg_get_expr(i.indpred, i.indrelid), '()', ''),
         case when not (i.indisvalid and i.indisready) then 'that is not whole' end)
  from plain t join pg_catalog.pg_index i on i.indrelid = t.oid join pg_catalog.pg_class x on x.oid = i.indexrelid
 where not exists (select 1 from pg_catalog.pg_constraint c where c.conindid = i.indexrelid and c.contype in ('p', 'u', 'x'))
union all
select concat_ws(' ', 'constraint', c.conname::text, 'of', t.name,
         translate(replace(pg_catalog.pg_get_constraintdef(c.oid), t.prefix, ''), '()', ''),
         case when not c.convalidated then 'that does not hold for every row' end)
  from plain t join pg_catalog.pg_constraint c on c.conrelid = t.oid and c.contype in ('p', 'u', 'f', 'c', 'x')
union all
select concat_ws(' ', 'trigger', g.tgname::text, 'on', t.name)
  from plain t join pg_catalog.pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal
union all
select 'constraint ' || c.conname || ' of ' || t.name || ' switched off'
  from plain t join pg_catalog.pg_trigger g on g.tgrelid = t.oid and g.tgisinternal and g.tgenabled in ('D', 'R')
  join pg_catalog.pg_constraint c on c.oid = g.tgconstraint
union
select 'rule ' || w.rulename || ' on ' || t.name
  from plain t join pg_catalog.pg_rewrite w on w.ev_class = t.oid
union all
select 'right ' || lower(a.privilege_type) || ' on ' || o.name || ' for ' || coalesce(r.rolname::text, 'everybody')
  from ours o cross join lateral aclexplode(o.relacl) a left join pg_catalog.pg_roles r on r.oid = a.grantee
 where a.grantee <> o.relowner and (o.relkind in ('r', 'p', 'S')
   or o.name in ('live', 'history', 'waiting', 'waited', 'chain') and (a.privilege_type <> 'SELECT' or r.rolname = 'locked_reader'))
union
select 'right ' || lower(a.privilege_type) || ' on ' || t.name || ' for ' || coalesce(r.rolname::text, 'everybody')
  from plain t join pg_catalog.pg_attribute c on c.attrelid = t.oid cross join lateral aclexplode(c.attacl) a
  left join pg_catalog.pg_roles r on r.oid = a.grantee where a.grantee <> t.relowner
union all
select 'right ' || lower(a.privilege_type) || ' in the schema for ' || coalesce(r.rolname::text, 'everybody')
  from pg_catalog.pg_namespace n cross join lateral aclexplode(n.nspacl) a left join pg_catalog.pg_roles r on r.oid = a.grantee
 where n.nspname = $1 and a.grantee <> n.nspowner and (a.privilege_type <> 'USAGE' or r.rolname in ('locked_client', 'locked_reader'))
