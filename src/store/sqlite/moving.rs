//! From one store to another: pages of rows, in the form that every store has them in.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow};
use serde_json::{Map, Value, json};

use crate::store::upkeep::{Cargo, PAGE};

use super::fault::Fault;
use super::ledger::Now;

/// The trigger that stands before every new lease once the store has moved. Its sentence is ours.
pub(super) fn gate(place: &str) -> String {
    let said = format!("this store has moved to {place}").replace('\'', "''").replace('\0', "");
    format!(
        "drop trigger if exists moved; create trigger moved before insert on leases begin select raise(abort, '{said}'); end"
    )
}

const LEASES: [&str; 18] = [
    "name",
    "scope",
    "token",
    "grant_id",
    "session",
    "label",
    "host",
    "host_id",
    "operation",
    "rule",
    "reason",
    "ttl_ms",
    "within_grant",
    "acquired_at",
    "renewed_at",
    "ended_at",
    "ended_as",
    "note",
];
/// SQLite has them as 0 and 1.
const FLAGS: [&str; 3] = ["explicit", "remote", "adopted"];
const RECEIPTS: [&str; 12] =
    ["scope", "path", "base", "new", "blob", "branch", "host", "worktree", "token", "holder", "kind", "at"];

pub(super) fn load(connection: &Connection, what: Cargo, skip: u64) -> Result<Vec<Value>, Fault> {
    let sql = match what {
        Cargo::Resources => "select name, scope, last_token from resources order by name, scope limit ?1 offset ?2",
        Cargo::Leases => "select * from leases where ended_at is not null order by id limit ?1 offset ?2",
        // By path, so that a page touches few chains.
        Cargo::Receipts => {
            "select r.*, l.grant_id as grant_id, l.name as name, l.scope as lease_scope \
             from receipts r left join leases l on l.id = r.lease order by r.scope, r.path, r.id limit ?1 offset ?2"
        }
    };
    let mut statement = connection.prepare(sql)?;
    let skip = i64::try_from(skip).unwrap_or(i64::MAX);
    let rows = statement.query_map((PAGE, skip), |row| match what {
        Cargo::Resources => columns(row, &["name", "scope", "last_token"]).map(Value::Object),
        Cargo::Leases => lease(row),
        Cargo::Receipts => {
            let mut receipt = columns(row, &RECEIPTS)?;
            receipt.extend(columns(row, &["grant_id", "name", "lease_scope"])?);
            Ok(Value::Object(receipt))
        }
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn lease(row: &SqlRow<'_>) -> rusqlite::Result<Value> {
    let mut lease = columns(row, &LEASES)?;
    for flag in FLAGS {
        lease.insert(flag.to_owned(), row.get::<_, bool>(flag)?.into());
    }
    let files: String = row.get("files")?;
    lease.insert("files".to_owned(), serde_json::from_str(&files).unwrap_or_else(|_| json!([])));
    Ok(Value::Object(lease))
}

fn columns(row: &SqlRow<'_>, names: &[&str]) -> rusqlite::Result<Map<String, Value>> {
    let value = |name: &&str| {
        let value = match row.get_ref(*name)? {
            rusqlite::types::ValueRef::Null => Value::Null,
            rusqlite::types::ValueRef::Integer(number) => number.into(),
            rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
            other => return Err(rusqlite::Error::InvalidColumnType(0, (*name).to_owned(), other.data_type())),
        };
        Ok(((*name).to_owned(), value))
    };
    names.iter().map(value).collect()
}

/// Takes rows in, once however often they come.
pub(super) fn unload(connection: &Connection, what: Cargo, rows: &[Value], now: &Now) -> Result<u64, Fault> {
    match what {
        Cargo::Resources => rows.iter().map(|row| count(connection, row)).sum(),
        Cargo::Leases => rows.iter().map(|row| enter(connection, row, now)).sum(),
        Cargo::Receipts => receipts(connection, rows),
    }
}

fn count(connection: &Connection, row: &Value) -> Result<u64, Fault> {
    let sql = "insert into resources (name, scope, last_token) values (?1, ?2, ?3) \
               on conflict do update set last_token = max(last_token, excluded.last_token)";
    let values = (text(row, "name")?, text(row, "scope")?, number(row, "last_token")?);
    Ok(connection.prepare_cached(sql)?.execute(values)? as u64)
}

fn enter(connection: &Connection, row: &Value, now: &Now) -> Result<u64, Fault> {
    Ok(connection
        .prepare_cached(
            "insert into leases (name, scope, token, grant_id, key_hash, session, label, host, host_id, operation, rule, state, \
             explicit, remote, adopted, settled, reason, files, ttl_ms, within_grant, boot, acquired_at, renewed_at, ended_at, \
             ended_as, note) select :name, :scope, :token, :grant_id, '', :session, :label, :host, :host_id, :operation, :rule, \
             'held', :explicit, :remote, :adopted, 1, :reason, :files, :ttl_ms, :within_grant, :boot, :acquired_at, :renewed_at, \
             :ended_at, :ended_as, :note \
             where not exists (select 1 from leases where grant_id = :grant_id and name = :name and scope = :scope)",
        )?
        .execute(rusqlite::named_params! {
            ":name": text(row, "name")?,
            ":scope": text(row, "scope")?,
            ":token": number(row, "token")?,
            ":grant_id": text(row, "grant_id")?,
            ":session": text(row, "session")?,
            ":label": text(row, "label")?,
            ":host": text(row, "host")?,
            ":host_id": text(row, "host_id")?,
            ":operation": text(row, "operation")?,
            ":rule": row["rule"].as_str(),
            ":explicit": row["explicit"].as_bool(),
            ":remote": row["remote"].as_bool(),
            ":adopted": row["adopted"].as_bool(),
            ":reason": row["reason"].as_str(),
            ":files": row["files"].to_string(),
            ":ttl_ms": number(row, "ttl_ms")?,
            ":within_grant": row["within_grant"].as_str(),
            ":boot": now.boot,
            ":acquired_at": number(row, "acquired_at")?,
            ":renewed_at": number(row, "renewed_at")?,
            ":ended_at": number(row, "ended_at")?,
            ":ended_as": text(row, "ended_as")?,
            ":note": row["note"].as_str(),
        })? as u64)
}

/// Receipts come into the chains of their paths by their moments, so that the newest stays the newest: those that are there
/// and later are put behind them. The id is the place in the chain.
fn receipts(connection: &Connection, rows: &[Value]) -> Result<u64, Fault> {
    let mut chains: BTreeMap<(&str, &str), Vec<(usize, &Value)>> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        chains.entry((text(row, "scope")?, text(row, "path")?)).or_default().push((place, row));
    }
    let mut taken = 0;
    for ((scope, path), incoming) in chains {
        let there = known(connection, scope, path)?;
        let mut chain = Vec::new();
        for (place, row) in incoming.into_iter().filter(|(_, row)| !there.contains(&mark(row))) {
            let mut row = row.clone();
            row["lease"] = lease_of(connection, &row, place)?.into();
            chain.push(row);
        }
        taken += chain.len() as u64;
        let first = chain.iter().filter_map(|row| row["at"].as_i64()).min().unwrap_or(i64::MAX);
        chain.extend(take_out(connection, scope, path, first)?);
        chain.sort_by_key(|row| row["at"].as_i64());
        chain.iter().try_for_each(|row| append(connection, row))?;
    }
    Ok(taken)
}

/// What tells one receipt of a path from another.
type Mark = (Option<i64>, Option<String>, Option<String>, Option<String>);

fn mark(row: &Value) -> Mark {
    let text = |name: &str| row[name].as_str().map(str::to_owned);
    (row["at"].as_i64(), text("new"), text("base"), text("kind"))
}

/// The receipts of a path that are there.
fn known(connection: &Connection, scope: &str, path: &str) -> Result<BTreeSet<Mark>, Fault> {
    let sql = "select at, new, base, kind from receipts where scope = ?1 and path = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let marks = statement.query_map((scope, path), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    Ok(marks.collect::<rusqlite::Result<_>>()?)
}

/// The row here that it belongs to. Where that was pruned it stands alone, under no row's number.
fn lease_of(connection: &Connection, row: &Value, place: usize) -> Result<i64, Fault> {
    let sql = "select id from leases where grant_id = ?1 and name = ?2 and scope = ?3";
    let named = (row["grant_id"].as_str(), row["name"].as_str(), row["lease_scope"].as_str());
    let lease: Option<i64> = connection.prepare_cached(sql)?.query_row(named, |row| row.get(0)).optional()?;
    Ok(lease.unwrap_or_else(|| -1 - i64::try_from(place).unwrap_or(0)))
}

/// The receipts of a path that are later than that, taken out.
fn take_out(connection: &Connection, scope: &str, path: &str, after: i64) -> Result<Vec<Value>, Fault> {
    let rest = "from receipts where scope = ?1 and path = ?2 and at > ?3";
    let mut statement = connection.prepare_cached(&format!("select * {rest} order by id"))?;
    let rows = statement.query_map((scope, path, after), |row| {
        let mut receipt = columns(row, &RECEIPTS)?;
        receipt.extend(columns(row, &["lease"])?);
        Ok(Value::Object(receipt))
    })?;
    let rows = rows.collect::<rusqlite::Result<_>>()?;
    connection.prepare_cached(&format!("delete {rest}"))?.execute((scope, path, after))?;
    Ok(rows)
}

fn append(connection: &Connection, row: &Value) -> Result<(), Fault> {
    let sql = "insert or ignore into receipts (lease, scope, path, base, new, blob, branch, host, worktree, token, holder, kind, at) \
               values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    connection.prepare_cached(sql)?.execute(rusqlite::params![
        number(row, "lease")?,
        text(row, "scope")?,
        text(row, "path")?,
        row["base"].as_str(),
        text(row, "new")?,
        row["blob"].as_str(),
        row["branch"].as_str(),
        text(row, "host")?,
        row["worktree"].as_str(),
        number(row, "token")?,
        text(row, "holder")?,
        text(row, "kind")?,
        number(row, "at")?,
    ])?;
    Ok(())
}

fn text<'a>(row: &'a Value, name: &str) -> Result<&'a str, Fault> {
    row[name].as_str().ok_or(Fault::Unreadable("a row of another store cannot be read"))
}

fn number(row: &Value, name: &str) -> Result<i64, Fault> {
    row[name].as_i64().ok_or(Fault::Unreadable("a row of another store cannot be read"))
}
