//! What is asked of the server: unnamed statements and built-in types alone.
#![forbid(unsafe_code)]

use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::words::{Fault, HeldBy};

/// Session settings that would end or hide a lock's session, where the server has them. A cut client is let go when its
/// TTL has passed since it was last heard, and no sooner: its command has been stopped by then. Where the server's own wire
/// is cut TCP finds that out (these settings: PostgreSQL, "Connections and Authentication", 20.3.2); behind a machine
/// between or a pooler, whose wire stays whole, only that nothing is said any more (`idle_session_timeout`, from 14 on).
const SETTLE_IN: &str = "select pg_catalog.set_config(s.name, w.value, false) from pg_catalog.pg_settings s join (values \
     ('idle_session_timeout', $3::text), ('statement_timeout', '0'), ('lock_timeout', '0'), \
     ('tcp_keepalives_idle', $1::text), ('tcp_keepalives_interval', $2::text), ('tcp_keepalives_count', '5'), \
     ('tcp_user_timeout', $3::text)) w(name, value) on s.name = w.name";
const WHO: &str = "select pg_catalog.pg_backend_pid()::int8, pg_catalog.pg_is_in_recovery()";
const TRY: &str = "select pg_catalog.pg_try_advisory_lock($1::int8)";
const UNLOCK: &str = "select pg_catalog.pg_advisory_unlock($1::int8)";
/// Of these keys, in `pg_locks`' halves, those that a session has: which, and who.
const MINE: &str = "select count(distinct k)::int8 from pg_catalog.unnest($1::text::int8[]) k, pg_catalog.pg_locks l \
     where l.locktype = 'advisory' and l.granted and l.mode = 'ExclusiveLock' and l.objsubid = 1 \
     and l.pid = pg_catalog.pg_backend_pid() and (l.classid::int8 << 32 | l.objid::int8) = k";
const WHOSE: &str = "select k.nth::int8 - 1, coalesce(nullif(a.application_name, ''), a.usename::text, 'somebody'), \
     coalesce(pg_catalog.host(a.client_addr), ''), \
     (extract(epoch from coalesce(a.backend_start, clock_timestamp())) * 1000)::int8 \
     from pg_catalog.unnest($1::text::int8[]) with ordinality k(key, nth) join pg_catalog.pg_locks l \
     on l.locktype = 'advisory' and l.granted and l.objsubid = 1 and (l.classid::int8 << 32 | l.objid::int8) = k.key \
     and l.database = (select oid from pg_catalog.pg_database where datname = current_database()) \
     left join pg_catalog.pg_stat_activity a on a.pid = l.pid where l.pid <> pg_catalog.pg_backend_pid() order by k.nth";

/// Makes the session one that lasts as long as a lease of this TTL.
pub(super) async fn settle_in(client: &Client, ttl: Duration) -> Result<(), Fault> {
    let seconds = |span: Duration| span.as_secs().max(1).to_string();
    let (idle, interval, whole) =
        (seconds(ttl / 2), seconds(ttl / 10), ttl.as_millis().min(i32::MAX.unsigned_abs().into()).to_string());
    client.query_typed(SETTLE_IN, &[(&idle, Type::TEXT), (&interval, Type::TEXT), (&whole, Type::TEXT)]).await?;
    Ok(())
}

/// How many of these keys the session has.
pub(super) async fn mine(client: &Client, keys: &[i64]) -> Result<i64, Error> {
    number(client, MINE, &array(keys)).await
}

/// The server's process for this session, and whether it is a standby's.
pub(super) async fn who(client: &Client) -> Result<(i64, bool), Error> {
    let row = client.query_typed(WHO, &[]).await?;
    match row.first() {
        Some(row) => Ok((row.try_get(0)?, row.try_get(1)?)),
        None => Ok((0, false)),
    }
}

/// Locks all of these or none. Not locked: who has one.
pub(super) async fn take(client: &Client, keys: &[i64]) -> Result<Option<HeldBy>, Fault> {
    for (nth, key) in keys.iter().enumerate() {
        if truth(client, TRY, *key).await? {
            continue;
        }
        let whose = holders(client, &keys[nth..=nth]).await?.into_iter().next();
        unlock(client, &keys[..nth]).await?;
        let unnamed = HeldBy { resource: nth, name: "somebody".to_owned(), address: String::new(), since: 0 };
        return Ok(Some(HeldBy { resource: nth, ..whose.unwrap_or(unnamed) }));
    }
    Ok(None)
}

/// Unlocks all of these; false if one was not locked.
pub(super) async fn unlock(client: &Client, keys: &[i64]) -> Result<bool, Fault> {
    let mut all = true;
    for key in keys.iter().rev() {
        all &= truth(client, UNLOCK, *key).await?;
    }
    Ok(all)
}

async fn truth(client: &Client, sql: &str, key: i64) -> Result<bool, Error> {
    let rows = client.query_typed(sql, &[(&key, Type::INT8)]).await?;
    rows.first().map_or(Ok(false), |row| row.try_get(0))
}

async fn number(client: &Client, sql: &str, keys: &str) -> Result<i64, Error> {
    let rows = client.query_typed(sql, &[(&keys, Type::TEXT)]).await?;
    rows.first().map_or(Ok(0), |row| row.try_get(0))
}

/// Who else has these: the place in the list, and who.
pub(super) async fn holders(client: &Client, keys: &[i64]) -> Result<Vec<HeldBy>, Error> {
    let rows = client.query_typed(WHOSE, &[(&array(keys), Type::TEXT)]).await?;
    let read = |row: &tokio_postgres::Row| {
        let resource = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or_default();
        Ok(HeldBy { resource, name: row.try_get(1)?, address: row.try_get(2)?, since: row.try_get(3)? })
    };
    rows.iter().map(read).collect()
}

/// Numbers as PostgreSQL writes an array of them.
fn array(keys: &[i64]) -> String {
    format!("{{{}}}", keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}
