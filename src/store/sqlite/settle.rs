//! Settle: receipts, then what becomes of the rows; all or none.
#![forbid(unsafe_code)]

use rusqlite::{Connection, OptionalExtension as _};

use crate::store::{Discharge, Ended, Ending, Holding, Receipt, Release, Settlement};
use crate::terms::Resource;

use super::board;
use super::debt;
use super::fault::Fault;
use super::ledger::{Now, ms};
use super::left;
use super::nest::{self, Join};
use super::renew::{Part, Right, parts};
use super::row::{Row, Stored};

/// Settles every row of the holding, or none.
pub(super) fn settle(
    connection: &Connection,
    holding: &Holding,
    settlement: &Settlement,
    now: &Now,
) -> Result<Release, Fault> {
    let Some(parts) = parts(connection, holding)?.filter(|parts| !parts.is_empty()) else {
        return Ok(Release::NotOurs);
    };
    let by_grant = matches!(holding, Holding::Grant { .. });
    if parts.iter().all(|part| is_done(part, by_grant)) {
        return Ok(Release::Released);
    }
    if parts.iter().any(|part| part.row.ended && !matches!(part.right, Right::Left)) {
        // One part ended and another stays, quarantined: both by this grant's word.
        let heard = |part: &Part| match part.right {
            Right::Own => part.row.settled,
            Right::Joined(_) => false,
            Right::Left => true,
        };
        return Ok(if by_grant && parts.iter().all(heard) { Release::Released } else { Release::NotOurs });
    }
    leave_receipts(connection, &settlement.receipts, &parts, now)?;
    for part in &parts {
        if is_done(part, by_grant) {
            // Said before; a second time would end the hold that it went back to.
            continue;
        }
        let row = &part.row;
        if let Right::Joined(join) = &part.right {
            leave(connection, row, join, settlement.of(&row.resource), now)?;
            continue;
        }
        let ending = ending_of(row, settlement);
        let heir = if by_grant { nest::heir(connection, row)? } else { None };
        if let Some(heir) = heir.filter(|_| !matches!(ending, Ending::Quarantine { .. })) {
            hand_down(connection, row, &heir, &ending, now)?;
            continue;
        }
        match &ending {
            Ending::Release(ended) if by_grant && hands_back(row, *ended) => hand_back(connection, row, now)?,
            Ending::Release(_) if debt::owes(row)? => leave_unproven(connection, row, now)?,
            Ending::Release(ended) => {
                // A person's word first; what became of the hold meanwhile comes after it.
                let words = [settlement.note.as_deref(), row.reason.as_deref()];
                let note = words.into_iter().flatten().collect::<Vec<_>>().join("; ");
                end(connection, row, *ended, &note, Word::Own, now)?;
            }
            Ending::Keep { takeable: true, .. }
                if row.hold_ttl_ms.is_some() && !row.revoked && debt::of(row)?.is_empty() =>
            {
                hand_back(connection, row, now)?;
            }
            Ending::Keep { reason, keep_for, takeable } => {
                keep(connection, row, reason, ms(*keep_for), *takeable, now)?;
            }
            Ending::Elsewhere { reason, keep_for } if row.hold_ttl_ms.is_some() => {
                keep(connection, row, reason, ms(*keep_for), false, now)?;
            }
            Ending::Elsewhere { reason, keep_for } => linger(connection, row, reason, ms(*keep_for), now)?,
            Ending::Linger { reason } => linger(connection, row, reason, row.ttl_ms, now)?,
            Ending::Quarantine { reason } => quarantine(connection, row, reason, now)?,
        }
    }
    Ok(Release::Released)
}

/// What becomes of one row. What was noted of it while its holder had it weighs more than the holder's own word: a file that
/// a command below left bad, then something that may still run.
fn ending_of(row: &Row, settlement: &Settlement) -> Ending {
    let own = settlement.of(&row.resource);
    match (&row.bad, &row.may_run_on, own) {
        (Some(reason), ..) => Ending::Quarantine { reason: reason.clone() },
        (None, _, Ending::Quarantine { .. }) | (None, None, _) => own.clone(),
        (None, Some(reason), _) => Ending::Linger { reason: reason.clone() },
    }
}

/// A command below the holder lives on, and the lease with it.
fn hand_down(connection: &Connection, row: &Row, heir: &Join, ending: &Ending, now: &Now) -> Result<(), Fault> {
    let (ended, why) = match ending {
        Ending::Release(ended) => (*ended, String::new()),
        Ending::Elsewhere { reason, .. } => (Ended::Completed, format!("{reason}; ")),
        Ending::Keep { reason, .. } | Ending::Linger { reason } | Ending::Quarantine { reason } => {
            (Ended::Failed, format!("{reason}; "))
        }
    };
    let note = row.because(&format!("{why}a command below it goes on with the lease"));
    end(connection, row, ended, &note, Word::Own, now)?;
    nest::inherit(connection, row, heir, now)
}

/// A command that joined leaves the line. That it failed is its holder's affair; a file that it left bad is everybody's,
/// and quarantines the lease when the holder is done. With what may still be running of it it stays.
fn leave(connection: &Connection, row: &Row, join: &Join, ending: &Ending, now: &Now) -> Result<(), Fault> {
    match ending {
        Ending::Quarantine { reason } => {
            connection.prepare_cached("update leases set bad = ?2 where id = ?1")?.execute((row.id, reason))?;
        }
        Ending::Linger { reason } => {
            if row.state == Stored::Remote {
                // Its holder is gone: the time is counted from here again.
                linger(connection, row, reason, row.ttl_ms, now)?;
            }
            return nest::stay(connection, join, reason);
        }
        Ending::Release(_) | Ending::Keep { .. } | Ending::Elsewhere { .. } => {}
    }
    left::part(connection, join)
}

/// When its holder is done the row lingers; when its holder is gone without a word, too.
pub(super) fn will_linger(connection: &Connection, row: &Row, reason: &str) -> Result<(), Fault> {
    connection
        .prepare_cached("update leases set may_run_on = ?2, remote = 1 where id = ?1")?
        .execute((row.id, reason))?;
    Ok(())
}

/// This very grant had its say already, and its answer was lost: the row has ended by its word, or went back to the hold, or
/// the grant has left the line of those who joined it.
fn is_done(part: &Part, by_grant: bool) -> bool {
    let row = &part.row;
    match part.right {
        Right::Own => by_grant && row.settled && (row.ended || (row.explicit && row.adopted)),
        Right::Joined(_) => false,
        Right::Left => true,
    }
}

/// A command that adopted an explicit hold gives it back when its work is over; a theft or a person ends the hold too.
fn hands_back(row: &Row, ended: Ended) -> bool {
    row.hold_ttl_ms.is_some() && !row.revoked && matches!(ended, Ended::Completed | Ended::Failed)
}

/// Ends a row. `word` tells a later question of the same grant whether it ended by its own word or by another's; its own
/// stands before what was noted of it. What was taken away and failed, as a command does that is stopped, was stolen.
pub(super) fn end(
    connection: &Connection,
    row: &Row,
    ended: Ended,
    note: &str,
    word: Word,
    now: &Now,
) -> Result<(), Fault> {
    let ended = if row.revoked && word == Word::Own && ended == Ended::Failed { Ended::Stolen } else { ended };
    connection
        .prepare_cached(
            "update leases set ended_at = ?2, ended_as = ?3, note = case when note is null then nullif(?4, '') \
             when ?4 = '' then note when ?5 then ?4 || '; ' || note else note || '; ' || ?4 end, settled = max(settled, ?5), takeable = 0 where id = ?1",
        )?
        .execute((row.id, now.wall, ended.as_str(), note, word == Word::Own))?;
    Ok(())
}

/// What was left to a person ends; what it was stays in the note. It was counted as left to a person, and stays so: counts only
/// grow.
pub(super) fn discharge(connection: &Connection, resource: &Resource, how: &Discharge) -> Result<u64, Fault> {
    let done = connection
        .prepare_cached(
            "update leases set ended_as = ?3, note = case when note is null then ?4 else note || '; ' || ?4 end \
             where scope = ?1 and name = ?2 and ended_as = 'human-action'",
        )?
        .execute((&resource.scope.0, resource.name.as_str(), how.ended.as_str(), how.told()))?;
    if done > 0 {
        board::count_as_left(connection, how.ended, done)?;
    }
    Ok(done as u64)
}

/// By whose word a row ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// Its holder's, at settling.
    Own,
    /// A successor's.
    Successor,
}

/// The row is the explicit hold again, for the hold's TTL from now. Which command it was meanwhile is noted: nothing else
/// would say it.
fn hand_back(connection: &Connection, row: &Row, now: &Now) -> Result<(), Fault> {
    let ttl = row.hold_ttl_ms.unwrap_or(row.ttl_ms);
    connection
        .prepare_cached(
            "update leases set state = 'held', explicit = 1, settled = 1, takeable = 0, remote = 0, reason = null, \
             pid = null, live_device = null, live_inode = null, files = '[]', debt = ?6, ttl_ms = ?2, \
             note = ?7, operation = coalesce(hold_operation, operation), issue = hold_issue, hold_ttl_ms = null, \
             hold_operation = null, hold_issue = null, boot = ?3, \
             expires_ms = ?4, renewed_at = ?5 where id = ?1",
        )?
        .execute(rusqlite::params![
            row.id,
            ttl,
            &now.boot,
            now.ms.saturating_add(ttl),
            now.wall,
            debt::text(&debt::to_others(row)?)?,
            crate::store::ran(&row.operation),
        ])?;
    Ok(())
}

/// Its holder is done, and something came to it meanwhile that nobody has proven: a command below that died, a run by force.
/// It has run out, so that whoever comes next proves that first; who asked that a person be asked is done.
fn leave_unproven(connection: &Connection, row: &Row, now: &Now) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "update leases set state = 'kept', explicit = 0, settled = 1, takeable = 0, remote = 0, ask = 0, pid = null, \
             live_device = null, live_inode = null, files = '[]', debt = ?2, boot = ?3, expires_ms = ?4, renewed_at = ?5, \
             reason = ?6 where id = ?1",
        )?
        .execute((
            row.id,
            debt::text(&debt::to_others(row)?)?,
            &now.boot,
            now.ms,
            now.wall,
            row.because("its holder is done; files that another command left are not proven yet"),
        ))?;
    Ok(())
}

/// The row stays with its session, for what was left half done. Under an explicit hold it stays at least as long as the hold would, and nobody may take
/// it: the failure of one command does not give away what the session holds by its own word. Nor does a command that
/// changed nothing give away what an earlier one of the session changed: its debt stays, for who comes after expiry. What was
/// taken away meanwhile has run out: it is whoever's is next, who proves the files.
fn keep(
    connection: &Connection,
    row: &Row,
    reason: &str,
    keep_ms: i64,
    takeable: bool,
    now: &Now,
) -> Result<(), Fault> {
    let held_by_word = row.hold_ttl_ms.or(row.explicit.then_some(row.ttl_ms));
    // It changed nothing; an earlier one did, and why that was kept goes on to be why.
    let left = debt::of(row)?.pop().filter(|_| takeable);
    let before = left.as_ref().map(|left| reason_under(connection, row, left.token)).transpose()?.flatten();
    let lasts = if row.revoked { 0 } else { keep_ms.max(held_by_word.unwrap_or(0)) };
    connection
        .prepare_cached(
            "update leases set state = 'kept', settled = 1, takeable = ?2, reason = ?3, pid = null, live_device = null, \
             live_inode = null, boot = ?4, expires_ms = ?5, renewed_at = ?6 where id = ?1",
        )?
        .execute((
            row.id,
            takeable && held_by_word.is_none() && !row.revoked && left.is_none(),
            row.because(before.as_deref().unwrap_or(reason)),
            &now.boot,
            now.ms.saturating_add(lasts),
            now.wall,
        ))?;
    Ok(())
}

/// Why its session kept it under that token.
fn reason_under(connection: &Connection, row: &Row, token: i64) -> Result<Option<String>, Fault> {
    let sql = "select reason from leases where scope = ?1 and name = ?2 and session = ?3 and token = ?4";
    let of = (&row.resource.scope.0, row.resource.name.as_str(), row.session.whole(), token);
    Ok(connection.prepare_cached(sql)?.query_row(of, |row| row.get(0)).optional()?.flatten())
}

/// The row is nobody's for so long. The record of files stays, and what a command below left with it: who comes after
/// that proves them once more.
pub(super) fn linger(connection: &Connection, row: &Row, reason: &str, lasts: i64, now: &Now) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "update leases set state = 'remote', settled = 1, takeable = 0, reason = ?2, pid = null, \
             live_device = null, live_inode = null, boot = ?3, expires_ms = ?4, renewed_at = ?5 where id = ?1",
        )?
        .execute((row.id, row.because(reason), &now.boot, now.ms.saturating_add(lasts), now.wall))?;
    Ok(())
}

/// The row stays without expiry, and with all that it owes: who restores must know which files it is about. That it was
/// taken away meanwhile is said, and frees nothing.
pub(super) fn quarantine(connection: &Connection, row: &Row, reason: &str, now: &Now) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "update leases set state = 'quarantined', settled = 1, takeable = 0, reason = ?2, pid = null, \
             live_device = null, live_inode = null, expires_ms = null, renewed_at = ?3 where id = ?1",
        )?
        .execute((row.id, quarantined_because(row, reason), now.wall))?;
    Ok(())
}

/// The file comes first: people are shown the beginning.
fn quarantined_because(row: &Row, reason: &str) -> String {
    match &row.reason {
        Some(before) if row.revoked && before.contains(reason) => before.clone(),
        Some(before) if row.revoked => format!("{reason} ({before})"),
        _ => reason.to_owned(),
    }
}

/// Leaves receipts under the rows of the resources that they name.
pub(super) fn leave_receipts(
    connection: &Connection,
    receipts: &[Receipt],
    parts: &[Part],
    now: &Now,
) -> Result<(), Fault> {
    for receipt in receipts {
        if let Some(part) = parts.iter().find(|part| part.row.resource == receipt.resource).or(parts.first()) {
            leave_receipt(connection, receipt, &part.row, now)?;
        }
    }
    Ok(())
}

fn leave_receipt(connection: &Connection, receipt: &Receipt, row: &Row, now: &Now) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "insert or ignore into receipts (lease, scope, path, base, new, blob, branch, host, worktree, token, holder, \
             kind, at) values (:lease, :scope, :path, :base, :new, :blob, :branch, :host, :worktree, :token, :holder, \
             :kind, :at)",
        )?
        .execute(rusqlite::named_params! {
            ":lease": row.id,
            ":scope": receipt.scope.0,
            ":path": receipt.path,
            ":base": receipt.base.as_ref().map(crate::terms::Digest::as_str),
            ":new": receipt.new.as_str(),
            ":blob": receipt.blob,
            ":branch": receipt.branch,
            ":host": row.host,
            ":worktree": receipt.worktree,
            ":token": row.token,
            ":holder": row.holder(),
            ":kind": receipt.kind.as_str(),
            ":at": now.wall,
        })?;
    Ok(())
}
