//! Revoke: live leases are marked for stealing, all of them or none.
#![forbid(unsafe_code)]

use rusqlite::Connection;

use crate::store::door::shown;
use crate::store::{Became, Ended, Revocation, Theft, Victim};
use crate::terms::{FencingToken, Resource};

use super::debt;
use super::fault::Fault;
use super::ledger::Now;
use super::row::{self, Row, Stored};
use super::settle::{Word, end};

/// Marks them. A running command learns it from its next renew, stops and settles, and only then (or when its TTL ends) is
/// anybody else granted. What rests with its session, or has run out, has no command to wait for: it can be taken from now
/// on, and what it may have written is proven by who takes it.
pub(super) fn revoke(
    connection: &Connection,
    resources: &[Resource],
    theft: &Theft,
    now: &Now,
) -> Result<Revocation, Fault> {
    let mut rows: Vec<Row> = Vec::new();
    for resource in resources {
        let row = row::live(connection, resource)?;
        if !theft.was_shown(resource, row.as_ref().map(|row| FencingToken(row.token))) {
            return Ok(Revocation::Changed);
        }
        rows.extend(row);
    }
    if rows.iter().any(|row| row.state == Stored::Quarantined) {
        return Ok(Revocation::Quarantined);
    }
    if rows.is_empty() {
        return Ok(Revocation::Nothing);
    }
    let how = if theft.at_once { "revoked at once" } else { "revoked" };
    let why = format!("{how} by {} ({}): {}", theft.session.short(), theft.label, theft.why());
    let victims: Result<Vec<_>, Fault> = rows
        .iter()
        .map(|row| {
            let became = take_away(connection, row, &why, theft.at_once, now)?;
            let (resource, token) = (row.resource.clone(), FencingToken(row.token));
            Ok(Victim { resource, token, holder: shown(&row.holder()), became })
        })
        .collect();
    Ok(Revocation::Revoked(victims?))
}

fn take_away(connection: &Connection, row: &Row, why: &str, at_once: bool, now: &Now) -> Result<Became, Fault> {
    let why = &row.moreover(why);
    if row.rests() && row.files()?.is_empty() && debt::of(row)?.is_empty() {
        end(connection, row, Ended::Stolen, why, Word::Successor, now)?;
        return Ok(Became::Ended);
    }
    if row.rests() || at_once || (row.expired(now) && !row.lingers(now)) {
        // Nobody is given time for what may run on elsewhere either.
        let since = if row.runs() && row.remote { row.ttl_ms } else { 0 };
        connection
            .prepare_cached(
                "update leases set revoked = 1, reason = ?2, takeable = 0, boot = ?3, expires_ms = ?4 where id = ?1",
            )?
            .execute((row.id, why, &now.boot, now.ms - since))?;
        return Ok(Became::Free);
    }
    connection.prepare_cached("update leases set revoked = 1, reason = ?2 where id = ?1")?.execute((row.id, why))?;
    Ok(Became::Told)
}
