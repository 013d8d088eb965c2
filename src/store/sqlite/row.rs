//! One row of the ledger, as it is stored and as it is seen.
#![forbid(unsafe_code)]

use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow};
use uuid::Uuid;

use crate::store::door::{shown, shown_whole};
use crate::store::view::issue_of;
use crate::store::{FileRecord, LeaseState, LeaseView, Live};
use crate::terms::{FencingToken, GrantId, Issue, Resource, ResourceName, Scope, SessionId};

use super::fault::Fault;
use super::ledger::{Now, span};

/// What a live row says of itself. Expiry, revocation and the state that people see come from the clock and the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    Held,
    Kept,
    Quarantined,
    Remote,
}

/// A row.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) resource: Resource,
    pub(super) token: i64,
    pub(super) grant: GrantId,
    pub(super) key_hash: String,
    pub(super) session: SessionId,
    pub(super) label: String,
    pub(super) host: String,
    pub(super) host_id: String,
    pub(super) pid: Option<u32>,
    pub(super) operation: String,
    pub(super) state: Stored,
    pub(super) explicit: bool,
    pub(super) takeable: bool,
    pub(super) revoked: bool,
    pub(super) remote: bool,
    pub(super) ask: bool,
    pub(super) adopted: bool,
    pub(super) settled: bool,
    pub(super) reason: Option<String>,
    pub(super) live: Option<Live>,
    pub(super) files: String,
    pub(super) debt: String,
    pub(super) ttl_ms: i64,
    pub(super) hold_ttl_ms: Option<i64>,
    pub(super) hold_operation: Option<String>,
    pub(super) issue: Option<String>,
    pub(super) hold_issue: Option<String>,
    pub(super) bad: Option<String>,
    pub(super) may_run_on: Option<String>,
    pub(super) boot: String,
    pub(super) expires_ms: Option<i64>,
    pub(super) acquired_at: i64,
    pub(super) renewed_at: i64,
    pub(super) ended: bool,
}

/// The columns that [`read`] reads.
pub(super) const COLUMNS: &str = "id, scope, name, token, grant_id, key_hash, session, label, host, host_id, pid, \
     operation, state, explicit, takeable, revoked, remote, ask, adopted, settled, reason, live_device, live_inode, files, \
     debt, ttl_ms, hold_ttl_ms, hold_operation, issue, hold_issue, bad, may_run_on, boot, expires_ms, acquired_at, renewed_at, ended_at";

/// The live row of a resource.
pub(super) fn live(connection: &Connection, resource: &Resource) -> Result<Option<Row>, Fault> {
    let sql = format!("select {COLUMNS} from leases where scope = ?1 and name = ?2 and ended_at is null");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row((&resource.scope.0, resource.name.as_str()), read).optional()?)
}

/// What commands run under, of these grants.
pub(super) fn running_of(connection: &Connection, grants: &[GrantId]) -> Result<Vec<Resource>, Fault> {
    let sql = format!("select {COLUMNS} from leases where grant_id = ?1 and ended_at is null");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut resources = Vec::new();
    for grant in grants {
        let rows = statement.query_map([grant.to_string()], read)?.collect::<rusqlite::Result<Vec<_>>>()?;
        resources.extend(rows.into_iter().filter(Row::runs).map(|row| row.resource));
    }
    Ok(resources)
}

/// Makes a row last so long from now, if it does not last longer already.
pub(super) fn lasts_at_least(
    connection: &Connection,
    row: &Row,
    span: std::time::Duration,
    now: &Now,
) -> Result<(), Fault> {
    connection
        .prepare_cached("update leases set expires_ms = max(expires_ms, ?2) where id = ?1 and boot = ?3")?
        .execute((row.id, now.ms.saturating_add(super::ledger::ms(span)), &now.boot))?;
    Ok(())
}

/// The row of a grant for a resource, ended or not.
pub(super) fn of_grant(connection: &Connection, grant: GrantId, resource: &Resource) -> Result<Option<Row>, Fault> {
    let sql = format!("select {COLUMNS} from leases where grant_id = ?1 and scope = ?2 and name = ?3");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row((grant.to_string(), &resource.scope.0, resource.name.as_str()), read).optional()?)
}

/// Reads [`COLUMNS`].
pub(super) fn read(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        id: row.get("id")?,
        resource: Resource { name: name(row, "name")?, scope: Scope(row.get("scope")?) },
        token: row.get("token")?,
        grant: GrantId(uuid(row, "grant_id")?),
        key_hash: row.get("key_hash")?,
        session: SessionId(uuid(row, "session")?),
        label: row.get("label")?,
        host: row.get("host")?,
        host_id: row.get("host_id")?,
        pid: row.get("pid")?,
        operation: row.get("operation")?,
        state: state(row)?,
        explicit: row.get("explicit")?,
        takeable: row.get("takeable")?,
        revoked: row.get("revoked")?,
        remote: row.get("remote")?,
        ask: row.get("ask")?,
        adopted: row.get("adopted")?,
        settled: row.get("settled")?,
        reason: row.get("reason")?,
        live: live_file(row)?,
        files: row.get("files")?,
        debt: row.get("debt")?,
        ttl_ms: row.get("ttl_ms")?,
        hold_ttl_ms: row.get("hold_ttl_ms")?,
        hold_operation: row.get("hold_operation")?,
        issue: row.get("issue")?,
        hold_issue: row.get("hold_issue")?,
        bad: row.get("bad")?,
        may_run_on: row.get("may_run_on")?,
        boot: row.get("boot")?,
        expires_ms: row.get("expires_ms")?,
        acquired_at: row.get("acquired_at")?,
        renewed_at: row.get("renewed_at")?,
        ended: row.get::<_, Option<i64>>("ended_at")?.is_some(),
    })
}

impl Row {
    /// A command runs under it.
    pub(super) fn runs(&self) -> bool {
        self.state == Stored::Held && !self.explicit
    }

    /// Its session has it without a running command.
    pub(super) fn rests(&self) -> bool {
        matches!(self.state, Stored::Kept | Stored::Quarantined) || (self.state == Stored::Held && self.explicit)
    }

    /// Its TTL has passed, or the machine was started anew since.
    pub(super) fn expired(&self, now: &Now) -> bool {
        self.expires_ms.is_some_and(|expires| self.boot != now.boot || expires <= now.ms)
    }

    /// A command with a remote effect ended unsettled; nobody may come in until a TTL has passed over that.
    pub(super) fn lingers(&self, now: &Now) -> bool {
        self.runs() && self.remote && self.expired(now) && self.linger_ends(now).is_none_or(|ends| ends > now.ms)
    }

    /// When lingering ends, on this boot's clock; none when an earlier boot left the row and counting starts anew.
    fn linger_ends(&self, now: &Now) -> Option<i64> {
        self.expires_ms.filter(|_| self.boot == now.boot).map(|expires| expires.saturating_add(self.ttl_ms))
    }

    /// Lingering must be counted from now: an earlier boot left the row.
    pub(super) fn lingers_since_boot(&self, now: &Now) -> bool {
        self.runs() && self.remote && self.expires_ms.is_some() && self.boot != now.boot
    }

    /// The issue that it is for.
    pub(super) fn issue(&self) -> Option<Issue> {
        issue_of(self.issue.as_deref(), &self.operation)
    }

    /// The issue of what its session holds by its own word: under a command that has adopted it, the hold's.
    pub(super) fn own_issue(&self) -> Option<String> {
        let hold = |operation: &String| issue_of(self.hold_issue.as_deref(), operation);
        self.hold_operation.as_ref().map_or_else(|| self.issue(), hold).map(|issue| issue.to_string())
    }

    /// The files that it may have written.
    pub(super) fn files(&self) -> Result<Vec<FileRecord>, Fault> {
        serde_json::from_str(&self.files).map_err(|_| Fault::Unreadable("a record of files cannot be read"))
    }

    /// Short session and label.
    pub(super) fn holder(&self) -> String {
        shown(&format!("{} ({})", self.session.short(), self.label))
    }

    /// Its reason and one more, each once however often it is told.
    pub(super) fn moreover(&self, reason: &str) -> String {
        match &self.reason {
            Some(before) if before.contains(reason) => before.clone(),
            Some(before) => format!("{before}; {reason}"),
            None => reason.to_owned(),
        }
    }

    /// A reason for the row's new state. Who took it away, and why, is never lost over what comes after.
    pub(super) fn because(&self, reason: &str) -> String {
        if self.revoked { self.moreover(reason) } else { reason.to_owned() }
    }

    /// How long it still lasts.
    pub(super) fn expires_in(&self, now: &Now) -> Option<std::time::Duration> {
        let expires = self.expires_ms?;
        if self.lingers(now) {
            return Some(self.linger_ends(now).map_or(span(self.ttl_ms), |ends| span(ends - now.ms)));
        }
        Some(if self.expired(now) { std::time::Duration::ZERO } else { span(expires - now.ms) })
    }

    /// How long ago it expired; none where it did not, or before this machine was started.
    fn expired_for(&self, now: &Now) -> Option<std::time::Duration> {
        let expires = self.expires_ms.filter(|_| self.boot == now.boot && !self.lingers(now))?;
        (expires <= now.ms).then(|| span(now.ms - expires))
    }

    /// The state that people see.
    pub(super) fn state(&self, now: &Now) -> LeaseState {
        match self.state {
            Stored::Quarantined => LeaseState::Quarantined,
            _ if self.lingers(now) => LeaseState::Remote,
            _ if self.expired(now) => LeaseState::Expired,
            Stored::Remote => LeaseState::Remote,
            _ if self.revoked => LeaseState::Revoked,
            Stored::Held => LeaseState::Held,
            Stored::Kept => LeaseState::Kept,
        }
    }

    /// The row for people, its texts through the door.
    pub(super) fn view(&self, waiters: u32, now: &Now) -> LeaseView {
        LeaseView {
            grant: self.grant,
            live: self.live,
            host_id: self.host_id.clone(),
            resource: self.resource.clone(),
            token: FencingToken(self.token),
            session: self.session,
            label: shown(&self.label),
            host: shown(&self.host),
            pid: self.pid,
            operation: shown(&self.operation),
            issue: self.issue(),
            hold_issue: self.hold_operation.as_ref().and(self.own_issue()).and_then(|issue| issue.parse().ok()),
            state: self.state(now),
            explicit: self.explicit,
            takeable: self.takeable,
            ask: self.ask,
            reason: self.reason.as_deref().map(shown_whole),
            acquired_at: self.acquired_at,
            renewed_at: self.renewed_at,
            idle: span(now.wall.saturating_sub(self.renewed_at)),
            expires_in: self.expires_in(now),
            expired_for: self.expired_for(now),
            waiters,
            files: super::debt::all_files(self),
        }
    }
}

fn state(row: &SqlRow<'_>) -> rusqlite::Result<Stored> {
    Ok(match row.get_ref("state")?.as_str()? {
        "held" => Stored::Held,
        "kept" => Stored::Kept,
        "quarantined" => Stored::Quarantined,
        "remote" => Stored::Remote,
        _ => return Err(odd()),
    })
}

/// The live file in the two columns `live_device` and `live_inode`; SQLite's integers are signed, the bits are the same.
pub(super) fn live_file(row: &SqlRow<'_>) -> rusqlite::Result<Option<Live>> {
    let (device, inode): (Option<i64>, Option<i64>) = (row.get("live_device")?, row.get("live_inode")?);
    Ok(device.zip(inode).map(|(device, inode)| Live { device: device.cast_unsigned(), inode: inode.cast_unsigned() }))
}

/// The two columns of a live file.
pub(super) fn live_columns(live: Option<Live>) -> (Option<i64>, Option<i64>) {
    (live.map(|live| live.device.cast_signed()), live.map(|live| live.inode.cast_signed()))
}

pub(super) fn uuid(row: &SqlRow<'_>, column: &str) -> rusqlite::Result<Uuid> {
    Uuid::parse_str(row.get_ref(column)?.as_str()?).map_err(|_| odd())
}

pub(super) fn name(row: &SqlRow<'_>, column: &str) -> rusqlite::Result<ResourceName> {
    ResourceName::parse(row.get_ref(column)?.as_bytes()?).map_err(|_| odd())
}

/// A value that we never write. What it is stays out of the error.
fn odd() -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, "not a value of ours".into())
}
