//! The upkeep of the schema: each step is one transaction in which who may becomes the owner.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

use crate::store::upkeep::{
    About, Cargo, Condition, EPOCH_MARGIN, Epoch, Initialised, Living, PAGE, Prune, Pruned, Upkeep,
};
use crate::store::{StoreError, door};

use super::PostgresStore;
use super::call::Call;
use super::column::{column, text_of};
use super::fault::Fault;
use super::setup::Difference;

impl PostgresStore {
    /// One function, as the owner. `work` may be done twice, as its functions are made for.
    fn as_owner<T: serde::de::DeserializeOwned>(
        &mut self,
        function: &str,
        values: &[(&str, &str)],
        limit: Duration,
    ) -> Result<T, StoreError> {
        let places: Vec<String> =
            values.iter().enumerate().map(|(index, (_, kind))| format!("${}::{kind}", index + 1)).collect();
        let sql = format!("select {}({})::text", self.schema.function(function), places.join(", "));
        let (lends, returns) = (self.schema.lends(), self.schema.returns());
        let text = self.link.run(limit, async |client: &mut Client| {
            client.batch_execute("begin isolation level read committed").await?;
            let done = one(client, (&lends, &sql, &returns), values).await;
            let ended = client.batch_execute(if done.is_ok() { "commit" } else { "rollback" }).await;
            let text = done?;
            ended?;
            Ok(text)
        })?;
        serde_json::from_str(&text).map_err(|_| StoreError::Failed("its answer cannot be read".to_owned()))
    }
}

async fn one(
    client: &Client,
    (lends, sql, returns): (&str, &str, &str),
    values: &[(&str, &str)],
) -> Result<String, Fault> {
    client.batch_execute(lends).await?;
    let values: Vec<(&(dyn ToSql + Sync), Type)> =
        values.iter().map(|(value, _)| (value as &(dyn ToSql + Sync), Type::TEXT)).collect();
    let text = text_of(&client.query_typed(sql, &values).await?)?;
    client.batch_execute(returns).await?;
    Ok(text)
}

/// What `about_v1` says; values are texts there.
#[derive(Deserialize)]
struct Told {
    store_id: String,
    epoch: String,
    moved_to: Option<String>,
    moved_to_id: Option<String>,
}

/// What the role lacks, one sentence each.
const RIGHTS: &str = "select case when not has_schema_privilege(n.oid, 'usage') then \
       format('the role %s may not use the schema: grant locked_client to %1$s', current_user) end, \
     (select format('the role %s may not call %s functions of the protocol: grant locked_client to %1$s', current_user, count(*)) \
        from pg_catalog.pg_proc p where p.pronamespace = n.oid and p.proname ~ '_v[0-9]+$' \
         and not has_function_privilege(p.oid, 'execute') having count(*) > 0), \
     case when current_setting('default_transaction_isolation') not in ('read committed', 'read uncommitted') then \
       format('the transactions of %s are not read committed: alter role %1$s set default_transaction_isolation = ''read committed''', current_user) end, \
     case when pg_is_in_recovery() then 'the server is a standby: point the store''s address at the primary' \
       when current_setting('transaction_read_only')::boolean then \
       format('the transactions of %I may only read: alter role %1$I in database %I set default_transaction_read_only = off', current_user, current_database()) end \
     from pg_catalog.pg_namespace n where n.nspname = $1";

/// How the server is set up. Every catalogue here may be read by any role; a superuser counts as no owner of its own.
const CONDITION: &str = "select current_user::text, r.rolsuper, \
     coalesce((select pg_has_role(current_user, o.oid, 'member') from pg_catalog.pg_roles o where o.rolname = 'locked_owner'), false), \
     (extract(epoch from clock_timestamp()) * 1000)::bigint, \
     (select s.ssl from pg_catalog.pg_stat_ssl s where s.pid = pg_backend_pid()), \
     current_setting('synchronous_commit'), current_setting('fsync') = 'on', \
     (select count(*) from pg_catalog.pg_stat_replication), current_setting('synchronous_standby_names') <> '', \
     (select string_agg(c.relname, ', ' order by c.relname) from pg_catalog.pg_class c join pg_catalog.pg_namespace n \
        on n.oid = c.relnamespace where n.nspname = $1 and c.relkind in ('r', 'p') \
         and (has_table_privilege(c.oid, 'insert, update, delete, truncate, trigger') \
           or has_any_column_privilege(c.oid, 'insert, update'))) \
     from pg_catalog.pg_roles r where r.rolname = current_user";

impl Upkeep for PostgresStore {
    fn init(&mut self, limit: Duration) -> Result<Initialised, StoreError> {
        Self::init(self, limit)
    }

    fn faults(&mut self, limit: Duration) -> Result<Vec<String>, StoreError> {
        let told = |it: &Difference| door::printable(&it.to_string());
        let mut faults: Vec<String> = self.check(limit)?.iter().map(told).collect();
        let name = self.schema.to_string();
        let rights = self.link.run(limit, async |client: &mut Client| {
            let rows = client.query_typed(RIGHTS, &[(&name, Type::TEXT)]).await?;
            let Some(row) = rows.first() else { return Ok(Vec::new()) };
            (0..4).filter_map(|at| column::<Option<String>>(row, at).transpose()).collect()
        })?;
        faults.extend(rights.iter().map(|it| door::shown(it)));
        match self.about(limit) {
            Ok(About { moved: Some((place, _)), .. }) => {
                faults.push(format!("it has moved to {place}, and grants nothing any more"));
            }
            // Why it does not say its name has been found already.
            Err(error) if faults.is_empty() => return Err(error),
            _ => {}
        }
        Ok(faults)
    }

    fn about(&mut self, limit: Duration) -> Result<About, StoreError> {
        let told: Told = self.ask(Call::new("about_v1"), limit)?;
        let epoch = told.epoch.parse().map_err(|_| StoreError::Failed("its epoch cannot be read".to_owned()))?;
        let moved = told.moved_to.map(|place| door::shown(&place)).zip(told.moved_to_id);
        Ok(About { store_id: told.store_id, epoch, moved })
    }

    fn condition(&mut self, limit: Duration) -> Result<Option<Condition>, StoreError> {
        let name = self.schema.to_string();
        let condition = self.link.run(limit, async |client: &mut Client| {
            let rows = client.query_typed(CONDITION, &[(&name, Type::TEXT)]).await?;
            let row = rows.first().ok_or(Fault::Odd("an answer without a row"))?;
            Ok(Condition {
                role: door::shown(column(row, 0)?),
                superuser: column(row, 1)?,
                owner: column(row, 2)?,
                wall_ms: column(row, 3)?,
                encrypted: column(row, 4)?,
                synchronous_commit: door::shown(column(row, 5)?),
                fsync: column(row, 6)?,
                standbys: column(row, 7)?,
                confirmed: column(row, 8)?,
                writes: column::<Option<&str>>(row, 9)?.map(door::shown),
            })
        })?;
        Ok(Some(condition))
    }

    fn prune(&mut self, what: &Prune, limit: Duration) -> Result<Pruned, StoreError> {
        let (older, keep) = (ms(what.older_than), what.keep.min(i32::MAX.unsigned_abs()).to_string());
        let dry = what.dry_run.to_string();
        self.as_owner("prune", &[(&older, "bigint"), (&keep, "integer"), (&dry, "boolean")], limit)
    }

    fn raise_epoch(&mut self, above: Option<i64>, limit: Duration) -> Result<Epoch, StoreError> {
        let (above, margin) = (above.unwrap_or(0).to_string(), EPOCH_MARGIN.to_string());
        self.as_owner("raise_epoch", &[(&above, "bigint"), (&margin, "bigint")], limit)
    }

    fn leave_for(&mut self, place: &str, store_id: &str, limit: Duration) -> Result<Vec<Living>, StoreError> {
        #[derive(Deserialize)]
        struct Answer {
            living: Vec<Living>,
        }
        let answer: Answer = self.as_owner("leave_for", &[(place, "text"), (store_id, "text")], limit)?;
        let shown = |Living { name, scope, holder, state }| {
            let [name, scope, holder, state] = [name, scope, holder, state].map(|text| door::shown(&text));
            Living { name, scope, holder, state }
        };
        Ok(answer.living.into_iter().map(shown).collect())
    }

    fn come_back(&mut self, limit: Duration) -> Result<(), StoreError> {
        self.as_owner::<serde::de::IgnoredAny>("come_back", &[], limit).map(drop)
    }

    fn load(&mut self, what: Cargo, skip: u64, limit: Duration) -> Result<Vec<Value>, StoreError> {
        let (skip, most) = (skip.to_string(), PAGE.to_string());
        self.as_owner("load_page", &[(what.as_str(), "text"), (&skip, "bigint"), (&most, "integer")], limit)
    }

    fn unload(&mut self, what: Cargo, rows: &[Value], limit: Duration) -> Result<u64, StoreError> {
        let text = serde_json::to_string(rows).map_err(|_| StoreError::Failed("a row cannot be written".to_owned()))?;
        self.as_owner("unload_page", &[(what.as_str(), "text"), (&text.replace("\\u0000", ""), "jsonb")], limit)
    }
}

/// Never more than the functions take: a hundred years.
fn ms(span: Duration) -> String {
    span.as_millis().min(3_155_760_000_000).to_string()
}
