//! A run without a lease enters the ledger: a row that has ended, or, where its files are bad or not proven, one that
//! stands in the way.
#![forbid(unsafe_code)]

use std::time::Duration;

use rusqlite::Connection;

use crate::store::{Ended, FileRecord, Forced, ForcedEnd};
use crate::terms::Resource;

use super::debt::{self, Debt};
use super::fault::Fault;
use super::grant::next_token;
use super::ledger::{Now, ms};
use super::renew::{Part, Right};
use super::row::{self, Row, Stored};
use super::settle::{self, Word};

/// What the lease lasts that is reclaimed at once.
const NO_TIME: i64 = 1_000;

/// Records it, once: what stands there under this grant already is left alone.
pub(super) fn record(connection: &Connection, forced: &Forced, now: &Now) -> Result<(), Fault> {
    let mut parts = Vec::new();
    for resource in &forced.resources {
        if row::of_grant(connection, forced.grant, resource)?.is_some() {
            continue;
        }
        // A person must still be asked where the lease made room for what this run left.
        let ask = row::live(connection, resource)?.is_some_and(|row| row.ask);
        let standing = enter(connection, forced, resource, now)?;
        insert(connection, forced, resource, &standing, ask, now)?;
        let row = row::of_grant(connection, forced.grant, resource)?;
        parts.extend(row.map(|row| Part { row, right: Right::Own }));
    }
    settle::leave_receipts(connection, &forced.receipts, &parts, now)
}

/// How the row stands.
enum Standing {
    /// Ended so.
    Ended(Ended),
    /// In quarantine, with what predecessors left unproven.
    Quarantined(String, Vec<Debt>),
    /// Nobody's for so long, with what predecessors left unproven.
    Lingers(String, Duration, Vec<Debt>),
    /// Expired: the next one takes it over and proves its files.
    Expired,
}

/// Makes room for the row, or hands its burden to the lease that lives there.
fn enter(connection: &Connection, forced: &Forced, resource: &Resource, now: &Now) -> Result<Standing, Fault> {
    let live = row::live(connection, resource)?;
    match (forced.of(resource), live) {
        (ForcedEnd::Ended(ended), _) => Ok(Standing::Ended(*ended)),
        (ForcedEnd::Quarantine { reason }, None) => Ok(Standing::Quarantined(reason.clone(), Vec::new())),
        (ForcedEnd::Quarantine { reason }, Some(row)) => quarantine(connection, &row, reason, now),
        (ForcedEnd::Lingers { reason, lasts }, None) => Ok(Standing::Lingers(reason.clone(), *lasts, Vec::new())),
        (ForcedEnd::Lingers { reason, lasts }, Some(row)) => linger(connection, &row, (reason, *lasts), forced, now),
        (ForcedEnd::Unsettled, None) => Ok(Standing::Expired),
        (ForcedEnd::Unsettled, Some(row)) => {
            owe(connection, &row, forced)?;
            Ok(Standing::Ended(Ended::Failed))
        }
    }
}

fn quarantine(connection: &Connection, row: &Row, reason: &str, now: &Now) -> Result<Standing, Fault> {
    if row.runs() && row.expired(now) && !row.lingers(now) {
        let debts = debt::left_by(row)?;
        settle::end(connection, row, Ended::Expired, "a forced run left its file bad", Word::Successor, now)?;
        return Ok(Standing::Quarantined(reason.to_owned(), debts));
    }
    if row.runs() {
        // Its holder goes on; what it gives back is in quarantine.
        connection.prepare_cached("update leases set bad = ?2 where id = ?1")?.execute((row.id, reason))?;
    } else {
        settle::quarantine(connection, row, reason, now)?;
    }
    Ok(Standing::Ended(Ended::Failed))
}

fn linger(
    connection: &Connection,
    row: &Row,
    (reason, lasts): (&str, Duration),
    forced: &Forced,
    now: &Now,
) -> Result<Standing, Fault> {
    if row.state == Stored::Quarantined {
        // Nobody is let in as it is, and who restores it is told what else to prove.
        owe(connection, row, forced)?;
        return Ok(Standing::Ended(Ended::Failed));
    }
    if row.runs() && row.expired(now) && !row.lingers(now) {
        let debts = debt::left_by(row)?;
        settle::end(connection, row, Ended::Expired, "a forced run may still run", Word::Successor, now)?;
        return Ok(Standing::Lingers(reason.to_owned(), lasts, debts));
    }
    owe(connection, row, forced)?;
    if row.runs() {
        settle::will_linger(connection, row, reason)?;
    } else {
        settle::linger(connection, row, reason, row.ttl_ms.max(ms(lasts)), now)?;
    }
    Ok(Standing::Ended(Ended::Failed))
}

/// Whoever comes after the lease that lives there proves the files.
fn owe(connection: &Connection, row: &Row, forced: &Forced) -> Result<(), Fault> {
    let owner = &forced.owner;
    let holder = format!("{} ({})", owner.session.short(), owner.label);
    let files: Vec<FileRecord> = forced.files.clone();
    let debts = debt::with(&row.debt, row.token, &holder, &owner.operation, &owner.host, files)?;
    connection.prepare_cached("update leases set debt = ?2, takeable = 0 where id = ?1")?.execute((row.id, debts))?;
    Ok(())
}

fn insert(
    connection: &Connection,
    forced: &Forced,
    resource: &Resource,
    standing: &Standing,
    ask: bool,
    now: &Now,
) -> Result<(), Fault> {
    let owner = &forced.owner;
    let note = format!("forced: {}", forced.reason);
    let (state, reason, debts) = match standing {
        Standing::Quarantined(reason, debts) => ("quarantined", format!("{reason} ({note})"), debt::text(debts)?),
        Standing::Lingers(reason, _, debts) => ("remote", format!("{reason} ({note})"), debt::text(debts)?),
        Standing::Expired => ("held", note.clone(), "[]".to_owned()),
        Standing::Ended(_) => ("held", note.clone(), "[]".to_owned()),
    };
    let (ended_at, ended_as) = match standing {
        Standing::Ended(ended) => (Some(forced.ended_at), Some(ended.as_str())),
        Standing::Quarantined(..) | Standing::Lingers(..) | Standing::Expired => (None, None),
    };
    let expires = match standing {
        Standing::Quarantined(..) => None,
        Standing::Lingers(_, lasts, _) => Some(now.ms.saturating_add(ms(*lasts))),
        Standing::Expired | Standing::Ended(_) => Some(now.ms),
    };
    connection
        .prepare_cached(
            // No key hashes to nothing: nobody renews or settles this row.
            "insert into leases (scope, name, token, grant_id, key_hash, session, label, host, host_id, operation, \
             rule, state, settled, ask, reason, files, debt, ttl_ms, boot, expires_ms, acquired_at, renewed_at, ended_at, \
             ended_as, note) values (:scope, :name, :token, :grant, '', :session, :label, :host, :host_id, \
             :operation, :rule, :state, :settled, :ask, :reason, :files, :debt, :ttl, :boot, :expires, :began, :renewed, \
             :ended_at, :ended_as, :note)",
        )?
        .execute(rusqlite::named_params! {
            ":scope": resource.scope.0,
            ":name": resource.name.as_str(),
            ":token": next_token(connection, resource, now)?,
            ":grant": forced.grant.to_string(),
            ":session": owner.session.whole(),
            ":label": owner.label,
            ":host": owner.host,
            ":host_id": owner.host_id,
            ":operation": owner.operation,
            ":rule": owner.rule,
            ":state": state,
            ":settled": !matches!(standing, Standing::Expired),
            ":ask": ask,
            ":reason": reason,
            ":files": debt::text(&forced.files)?,
            ":debt": debts,
            ":ttl": NO_TIME,
            ":boot": now.boot,
            ":expires": expires,
            ":began": forced.began_at,
            ":renewed": forced.ended_at,
            ":ended_at": ended_at,
            ":ended_as": ended_as,
            // Of a row that lives the reason says it, and its end is noted with that.
            ":note": ended_at.is_some().then_some(&note),
        })?;
    Ok(())
}
