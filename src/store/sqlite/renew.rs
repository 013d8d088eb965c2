//! Renew, and the record of files: for who has the grant's key, or for the session where no command runs.
#![forbid(unsafe_code)]

use rusqlite::Connection;

use crate::store::{FileRecord, Holding, Receipt, Renewal};
use crate::terms::{GrantId, Resource};

use super::debt;
use super::fault::Fault;
use super::ledger::{Now, ms, span};
use super::left;
use super::nest::{self, Join};
use super::row::{self, Row, Stored};
use super::settle;

/// One resource of a holding: its row, and by what right it is the holder's.
pub(super) struct Part {
    pub(super) row: Row,
    pub(super) right: Right,
}

/// By what right a row is a holder's.
pub(super) enum Right {
    /// It is its own.
    Own,
    /// It joined the lease of somebody above it.
    Joined(Box<Join>),
    /// It had joined, and has settled that.
    Left,
}

/// The parts of a holding, one per resource, ended ones of the same grant included; none when one of them was never this
/// holder's or is somebody else's now.
pub(super) fn parts(connection: &Connection, holding: &Holding) -> Result<Option<Vec<Part>>, Fault> {
    let mut parts = Vec::new();
    match holding {
        Holding::Grant { grant, key, resources } => {
            let key_hash = key.hash();
            for (resource, token) in resources {
                let row = row::of_grant(connection, *grant, resource)?;
                let own = row.filter(|row| row.key_hash == key_hash).map(|row| Part { row, right: Right::Own });
                let part = own.map_or_else(|| joined(connection, *grant, &key_hash, resource), |own| Ok(Some(own)))?;
                let Some(part) = part.filter(|part| part.row.token == token.0) else { return Ok(None) };
                parts.push(part);
            }
        }
        Holding::Session { session, resources } => {
            for resource in resources {
                let row = row::live(connection, resource)?;
                let Some(row) = row.filter(|row| row.session == *session && row.rests()) else { return Ok(None) };
                parts.push(Part { row, right: Right::Own });
            }
        }
        Holding::Kept { session, resources } => {
            for (resource, token) in resources {
                let row = row::live(connection, resource)?;
                let ours = |row: &Row| row.session == *session && row.rests() && row.token == token.0;
                let Some(row) = row.filter(ours) else { return Ok(None) };
                parts.push(Part { row, right: Right::Own });
            }
        }
    }
    Ok(Some(parts))
}

/// The lease that this grant joined, if it lives; else the one that it had joined and has left.
fn joined(connection: &Connection, grant: GrantId, key_hash: &str, resource: &Resource) -> Result<Option<Part>, Fault> {
    if let Some(row) = row::live(connection, resource)?
        && let Some(join) = nest::of_grant(connection, grant, &row)?.filter(|join| join.is_guarded_by(key_hash))
    {
        return Ok(Some(Part { row, right: Right::Joined(Box::new(join)) }));
    }
    let left = left::of_grant(connection, grant, key_hash, resource)?;
    Ok(left.map(|row| Part { row, right: Right::Left }))
}

/// The parts that may go on: all live, and none left behind by an earlier boot (its processes are gone) or by a holder that
/// was proven gone. A session outlives a boot.
fn going_on(connection: &Connection, holding: &Holding, now: &Now) -> Result<Result<Vec<Part>, Renewal>, Fault> {
    let Some(parts) = parts(connection, holding)? else { return Ok(Err(Renewal::Gone)) };
    let by_grant = matches!(holding, Holding::Grant { .. });
    let over = |row: &Row| row.ended || row.state == Stored::Remote || (by_grant && row.boot != now.boot);
    let settled = |part: &Part| match &part.right {
        Right::Own => false,
        Right::Joined(join) => join.may_run_on.is_some(),
        Right::Left => true,
    };
    if parts.is_empty() || parts.iter().any(|part| over(&part.row) || settled(part)) {
        return Ok(Err(Renewal::Gone));
    }
    if parts.iter().any(|part| part.row.revoked) {
        return Ok(Err(Renewal::Revoked));
    }
    Ok(Ok(parts))
}

/// A full TTL from now for every row; what does not expire stays so, and what is kept for longer is not kept for less. By the
/// session what a command left kept has the TTL of the hold that it was: the beats are the hold's. Who keeps it alive in the session's name leaves the moment at which the session was last heard of.
pub(super) fn renew(connection: &Connection, holding: &Holding, now: &Now) -> Result<Renewal, Fault> {
    let parts = match going_on(connection, holding, now)? {
        Ok(parts) => parts,
        Err(answer) => return Ok(answer),
    };
    // Anybody has it who asks: a renew would promise what it does not keep. To hold it the session asks for it.
    if matches!(holding, Holding::Session { .. }) && parts.iter().any(|part| part.row.takeable && !part.row.ask) {
        return Ok(Renewal::Gone);
    }
    let mut statement = connection.prepare_cached(
        "update leases set renewed_at = iif(?5, renewed_at, ?3), \
         expires_ms = case when expires_ms is null then null when state = 'kept' and boot = ?2 then max(expires_ms, ?4) \
         else ?4 end, boot = ?2 where id = ?1",
    )?;
    let (by_grant, in_its_name) = (matches!(holding, Holding::Grant { .. }), matches!(holding, Holding::Kept { .. }));
    let mut lasts = i64::MAX;
    for Part { row, .. } in &parts {
        let ttl = if by_grant { row.ttl_ms } else { row.hold_ttl_ms.unwrap_or(row.ttl_ms) };
        lasts = lasts.min(ttl);
        statement.execute((row.id, &now.boot, now.wall, now.ms.saturating_add(ttl), in_its_name))?;
    }
    Ok(Renewal::Renewed(span(lasts)))
}

/// Replaces the record of files; with it the debt to predecessors is paid, but not what the session's own earlier commands
/// may have written. Gives no time: that is the renew's to do.
pub(super) fn record_files(
    connection: &Connection,
    holding: &Holding,
    files: &[FileRecord],
    receipts: &[Receipt],
    now: &Now,
) -> Result<Renewal, Fault> {
    let parts = match going_on(connection, holding, now)? {
        Ok(parts) => parts,
        Err(answer) => return Ok(answer),
    };
    settle::leave_receipts(connection, receipts, &parts, now)?;
    let text = debt::text(files)?;
    let mut statement = connection.prepare_cached("update leases set files = ?2, debt = ?3 where id = ?1")?;
    let mut lasts = i64::MAX;
    for Part { row, right } in &parts {
        lasts = lasts.min(row.expires_in(now).map_or(row.ttl_ms, ms));
        match right {
            Right::Joined(join) => nest::record_files(connection, join, &text)?,
            Right::Own | Right::Left => {
                statement.execute((row.id, &text, debt::text(&debt::proven(row)?)?))?;
            }
        }
    }
    Ok(Renewal::Renewed(span(lasts)))
}
