//! A grant in the tables: the predecessor's row ends, the token grows, the new row stands.
#![forbid(unsafe_code)]

use rusqlite::Connection;

use crate::store::{Claim, Ended, Request};
use crate::terms::{Issue, Resource};

use super::debt::{self, Debt};
use super::fate::Fate;
use super::fault::Fault;
use super::ledger::{Now, ms};
use super::nest;
use super::row::{Row, live_columns};
use super::settle::{Word, end};

/// What a new row has from its predecessor.
#[derive(Default)]
pub(super) struct Inherited {
    /// It was this session's own.
    pub(super) adopted: bool,
    /// Files that are not proven.
    pub(super) debts: Vec<Debt>,
    /// It is not taken over without a person's word.
    pub(super) ask: bool,
    /// The explicit hold to hand back to.
    pub(super) hold: Option<Hold>,
    /// The issue that it is for, unless another one is named.
    pub(super) issue: Option<String>,
}

/// An explicit hold that a command adopts.
pub(super) struct Hold {
    ttl_ms: i64,
    operation: String,
    issue: Option<String>,
}

/// Ends the predecessor's row and says what the successor has from it.
pub(super) fn succeed(
    connection: &Connection,
    row: &Row,
    fate: Fate,
    request: &Request,
    now: &Now,
) -> Result<Inherited, Fault> {
    let owner = &request.owner;
    let who = format!("{} ({})", owner.session.short(), owner.label);
    let own = row.session == owner.session;
    let before = row.reason.as_deref().map(|reason| format!("{reason}; ")).unwrap_or_default();
    match fate {
        Fate::Adopt | Fate::Take if own => {
            let ended = if row.explicit { Ended::Completed } else { Ended::Failed };
            end(connection, row, ended, &format!("{before}adopted by its session"), Word::Successor, now)?;
            let hold = match request.claim {
                Claim::Explicit | Claim::Steal => None,
                Claim::Command | Claim::Restore => hold_of(row),
            };
            let debts = if row.takeable { Vec::new() } else { debt::kept_by_own(row)? };
            Ok(Inherited { adopted: true, debts, ask: row.ask, hold, issue: row.own_issue() })
        }
        Fate::Take => {
            end(connection, row, Ended::Failed, &format!("{before}taken by {who}"), Word::Successor, now)?;
            Ok(Inherited::default())
        }
        Fate::Restore => {
            let row = &nest::bury_all(connection, row)?;
            end(connection, row, Ended::Failed, &format!("{before}restored by {who}"), Word::Successor, now)?;
            Ok(Inherited { debts: debt::all_own(row)?, ..Inherited::default() })
        }
        Fate::Reclaim => {
            let row = &nest::bury_all(connection, row)?;
            let (ended, how) = match row.revoked {
                true => (Ended::Stolen, "taken"),
                false if before.is_empty() => (Ended::Expired, "presumed crashed, reclaimed"),
                false => (Ended::Expired, "reclaimed"),
            };
            end(connection, row, ended, &format!("{before}{how} by {who}"), Word::Successor, now)?;
            let issue = if own { row.own_issue() } else { None };
            Ok(Inherited { debts: debt::left_by(row)?, issue, ..Inherited::default() })
        }
        Fate::Ours | Fate::Adopt | Fate::Join | Fate::Blocks => {
            Err(Fault::Unreadable("a lease in the way was to be taken"))
        }
    }
}

/// The hold that this row is, or has adopted.
fn hold_of(row: &Row) -> Option<Hold> {
    let issue = row.own_issue();
    if row.explicit {
        return Some(Hold { ttl_ms: row.ttl_ms, operation: row.operation.clone(), issue });
    }
    let (ttl_ms, operation) = row.hold_ttl_ms.zip(row.hold_operation.clone())?;
    Some(Hold { ttl_ms, operation, issue })
}

/// The next fencing token of a resource: above the last one, and above the wall clock, so that it grows even when the
/// counter was lost with its file. A resource that is new to this file begins above what its epoch says.
pub(super) fn next_token(connection: &Connection, resource: &Resource, now: &Now) -> Result<i64, Fault> {
    Ok(connection
        .prepare_cached(
            "insert into resources (scope, name, last_token) values (?1, ?2, \
             max(?3, coalesce((select cast(value as integer) + 1 from meta where key = 'token_floor'), 0))) \
             on conflict do update set last_token = max(last_token + 1, excluded.last_token) returning last_token",
        )?
        .query_row((&resource.scope.0, resource.name.as_str(), now.wall), |row| row.get(0))?)
}

/// The new row.
pub(super) fn insert(
    connection: &Connection,
    request: &Request,
    resource: &Resource,
    token: i64,
    inherited: &Inherited,
    now: &Now,
) -> Result<(), Fault> {
    let owner = &request.owner;
    let explicit = request.claim.is_explicit();
    let (device, inode) = live_columns(request.live);
    let hold = inherited.hold.as_ref();
    let issue = Issue::of(&owner.operation).map(|issue| issue.to_string());
    connection
        .prepare_cached(
            "insert into leases (scope, name, token, grant_id, key_hash, session, label, host, host_id, pid, operation, \
             rule, state, explicit, remote, ask, adopted, live_device, live_inode, files, debt, ttl_ms, hold_ttl_ms, \
             hold_operation, hold_issue, issue, within_grant, boot, expires_ms, acquired_at, renewed_at) values (:scope, :name, :token, :grant, :key, \
             :session, :label, :host, :host_id, :pid, :operation, :rule, 'held', :explicit, :remote, :ask, :adopted, :device, \
             :inode, :files, :debt, :ttl, :hold_ttl, :hold_operation, :hold_issue, :issue, :within, :boot, :expires, :wall, :wall)",
        )?
        .execute(rusqlite::named_params! {
            ":scope": resource.scope.0,
            ":name": resource.name.as_str(),
            ":token": token,
            ":grant": request.grant.to_string(),
            ":key": request.key.hash(),
            ":session": owner.session.whole(),
            ":label": owner.label,
            ":host": owner.host,
            ":host_id": owner.host_id,
            ":pid": (!explicit).then_some(owner.pid),
            ":operation": owner.operation,
            ":rule": owner.rule,
            ":explicit": explicit,
            ":remote": request.remote,
            ":ask": inherited.ask || request.ask.contains(resource),
            ":adopted": inherited.adopted,
            ":device": device,
            ":inode": inode,
            ":files": debt::text(&request.files)?,
            ":debt": debt::text(&inherited.debts)?,
            ":ttl": ms(request.ttl),
            ":hold_ttl": hold.map(|hold| hold.ttl_ms),
            ":hold_operation": hold.map(|hold| &hold.operation),
            ":hold_issue": hold.and_then(|hold| hold.issue.as_ref()),
            ":issue": issue.or_else(|| inherited.issue.clone()),
            ":within": request.within.map(|within| within.to_string()),
            ":boot": now.boot,
            ":expires": now.ms.saturating_add(ms(request.first_grant.min(request.ttl))),
            ":wall": now.wall,
        })?;
    Ok(())
}
