//! The upkeep of the file: the same as the server's, without an owner.
#![forbid(unsafe_code)]

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};
use serde_json::Value;

use crate::store::StoreError;
use crate::store::door::shown;
use crate::store::upkeep::{About, Cargo, EPOCH_MARGIN, Epoch, Initialised, Living, Prune, Pruned, Upkeep};

use super::fault::Fault;
use super::ledger::{Now, ms};
use super::row::{self, Row};
use super::{SqliteStore, board, moving};

impl Upkeep for SqliteStore {
    fn init(&mut self, limit: Duration) -> Result<Initialised, StoreError> {
        let was_there = !self.ledger.is_closed() || super::schema::is_current(self.ledger.file());
        // The first look makes the file, or brings it to this version.
        self.ledger.read(limit, |_, _| Ok(()))?;
        Ok(if was_there { Initialised::Unchanged } else { Initialised::Applied })
    }

    fn faults(&mut self, limit: Duration) -> Result<Vec<String>, StoreError> {
        let mut faults: Vec<String> = self.ledger.read(limit, |connection, _| {
            let mut statement = connection.prepare("pragma integrity_check(10)")?;
            let told = statement.query_map([], |row| row.get::<_, String>(0))?;
            let told: Vec<String> = told.collect::<rusqlite::Result<_>>()?;
            let damaged = told.iter().filter(|it| *it != "ok").map(|it| format!("the file is damaged: {}", shown(it)));
            let differs = super::schema::differences(connection)?;
            let differs = differs.iter().map(|it| {
                format!(
                    "the tables are not those that this program makes, {}: when nothing runs under a lease, move the file \
                     away, and the next command makes an empty one",
                    shown(it)
                )
            });
            Ok(damaged.chain(differs).collect())
        })?;
        if let Some((place, _)) = self.about(limit)?.moved {
            faults.push(format!("it has moved to {place}, and grants nothing any more"));
        }
        Ok(faults)
    }

    fn about(&mut self, limit: Duration) -> Result<About, StoreError> {
        self.ledger.read(limit, |connection, _| {
            let epoch = meta(connection, "epoch")?.and_then(|epoch| epoch.parse().ok()).unwrap_or(1);
            let moved = meta(connection, "moved_to")?.map(|place| shown(&place)).zip(meta(connection, "moved_to_id")?);
            let store_id = meta(connection, "store_id")?.ok_or(Fault::Unreadable("the file does not say its name"))?;
            Ok(About { store_id, epoch, moved })
        })
    }

    fn prune(&mut self, what: &Prune, limit: Duration) -> Result<Pruned, StoreError> {
        let pruned = self.ledger.write(limit, |connection, now| prune(connection, what, now))?;
        Ok(pruned)
    }

    fn raise_epoch(&mut self, above: Option<i64>, limit: Duration) -> Result<Epoch, StoreError> {
        self.ledger.write(limit, |connection, now| raise_epoch(connection, above.unwrap_or(0), now))
    }

    fn leave_for(&mut self, place: &str, store_id: &str, limit: Duration) -> Result<Vec<Living>, StoreError> {
        self.ledger.write(limit, |connection, now| {
            let living = living(connection, now)?;
            if living.is_empty() {
                set_meta(connection, "moved_to", place)?;
                set_meta(connection, "moved_to_id", store_id)?;
                connection.execute_batch(&moving::gate(place))?;
            }
            Ok(living)
        })
    }

    fn come_back(&mut self, limit: Duration) -> Result<(), StoreError> {
        self.ledger.write(limit, |connection, _| {
            connection.execute_batch(
                "drop trigger if exists moved; delete from meta where key in ('moved_to', 'moved_to_id')",
            )?;
            Ok(())
        })
    }

    fn load(&mut self, what: Cargo, skip: u64, limit: Duration) -> Result<Vec<Value>, StoreError> {
        self.ledger.read(limit, |connection, _| moving::load(connection, what, skip))
    }

    fn unload(&mut self, what: Cargo, rows: &[Value], limit: Duration) -> Result<u64, StoreError> {
        self.ledger.write(limit, |connection, now| moving::unload(connection, what, rows, now))
    }
}

pub(super) fn meta(connection: &Connection, key: &str) -> Result<Option<String>, Fault> {
    let mut statement = connection.prepare("select value from meta where key = ?1")?;
    Ok(statement.query_row([key], |row| row.get(0)).optional()?)
}

fn set_meta(connection: &Connection, key: &str, value: &str) -> Result<(), Fault> {
    let sql = "insert into meta (key, value) values (?1, ?2) on conflict do update set value = excluded.value";
    connection.execute(sql, [key, value])?;
    Ok(())
}

fn living(connection: &Connection, now: &Now) -> Result<Vec<Living>, Fault> {
    let sql = format!("select {} from leases where ended_at is null order by name, scope limit 1000", row::COLUMNS);
    let mut statement = connection.prepare(&sql)?;
    let rows: Vec<Row> = statement.query_map([], row::read)?.collect::<rusqlite::Result<_>>()?;
    let living = |row: &Row| Living {
        name: row.resource.name.to_string(),
        scope: row.resource.scope.to_string(),
        holder: row.holder(),
        state: row.state(now).as_str().to_owned(),
    };
    Ok(rows.iter().map(living).collect())
}

/// Into a table of this connection alone: what is old, but never the last of a resource, nor what a live row or a command
/// below one still refers to, nor a duty that nobody has done; and the receipts that go with it, but never the end of a chain.
const MARK: &str = "
    create temp table if not exists old_leases (id integer primary key) strict;
    create temp table if not exists old_receipts (id integer primary key) strict;
    delete from old_leases;
    delete from old_receipts;";
const OLD: &str = "insert into old_leases select x.id from (
      select id, grant_id, ended_at, ended_as, row_number() over (partition by name, scope order by ended_at desc, id desc) as place
      from leases where ended_at is not null) x
    where x.ended_at < ?1 and x.place > ?2 and x.ended_as <> 'human-action'
      and not exists (select 1 from leases n where n.ended_at is null and n.within_grant = x.grant_id)
      and not exists (select 1 from joins j where j.within_grant = x.grant_id or j.lease = x.id)";
const TOLD: &str = "insert into old_receipts select x.id from (
      select id, lease, at, row_number() over (partition by scope, path order by id desc) as place from receipts) x
    where x.at < ?1 and x.place > max(?2, 1)
      and (x.lease in (select id from old_leases) or not exists (select 1 from leases l where l.id = x.lease))";

fn prune(connection: &Connection, what: &Prune, now: &Now) -> Result<Pruned, Fault> {
    let before = now.wall.saturating_sub(ms(what.older_than));
    connection.execute_batch(MARK)?;
    let leases = connection.execute(OLD, (before, what.keep))?;
    let receipts = connection.execute(TOLD, (before, what.keep))?;
    if !what.dry_run {
        board::prune(connection, what, now)?;
        connection.execute_batch(
            "delete from receipts where id in (select id from old_receipts);
             delete from left_joins where lease in (select id from old_leases);
             delete from leases where ended_at is not null and id in (select id from old_leases)",
        )?;
    }
    let ended: i64 =
        connection.query_row("select count(*) from leases where ended_at is not null", [], |row| row.get(0))?;
    let (leases, ended) = (leases as u64, ended.unsigned_abs());
    Ok(Pruned {
        leases,
        receipts: receipts as u64,
        left: if what.dry_run { ended.saturating_sub(leases) } else { ended },
    })
}

fn raise_epoch(connection: &Connection, above: i64, now: &Now) -> Result<Epoch, Fault> {
    let known: i64 = connection.query_row(
        "select max(coalesce((select max(last_token) from resources), 0), coalesce((select max(token) from leases), 0), \
         coalesce((select max(token) from receipts), 0))",
        [],
        |row| row.get(0),
    )?;
    let floor = known.max(now.wall).max(above).saturating_add(EPOCH_MARGIN);
    let resources = connection.execute("update resources set last_token = ?1 where last_token < ?1", [floor])?;
    let epoch: i64 = meta(connection, "epoch")?.and_then(|epoch| epoch.parse().ok()).unwrap_or(1) + 1;
    set_meta(connection, "epoch", &epoch.to_string())?;
    set_meta(connection, "token_floor", &floor.to_string())?;
    Ok(Epoch { epoch, above: floor, resources: resources as u64 })
}
