//! Nesting: a command below a holder joins its lease instead of waiting for its own ancestor.
//!
//! The joins of a lease are a line: the holder, the command that joined it, the command below that one, and so on. Each
//! link has at most one successor at a time, so siblings exclude each other. Ancestry is what the rows say: a grant
//! remembers within which grant it was asked for.
#![forbid(unsafe_code)]

use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow};
use uuid::Uuid;

use crate::store::door::shown;
use crate::store::{LeaseState, LeaseView, Live, Request};
use crate::terms::{GrantId, SessionId};

use super::debt;
use super::fault::Fault;
use super::ledger::Now;
use super::row::{self, Row, live_columns, live_file, uuid};

/// A command that joined a lease.
#[derive(Clone)]
pub(super) struct Join {
    id: i64,
    pub(super) lease: i64,
    pub(super) grant: GrantId,
    pub(super) key_hash: String,
    session: SessionId,
    label: String,
    host: String,
    host_id: String,
    pid: Option<u32>,
    operation: String,
    live: Option<Live>,
    files: String,
    /// Its effect does not stop with its process.
    pub(super) remote: bool,
    /// What of it may still be running: it has settled, and nobody beside it is let in.
    pub(super) may_run_on: Option<String>,
}

const COLUMNS: &str = "id, lease, within_grant, grant_id, key_hash, session, label, host, host_id, pid, operation, \
     live_device, live_inode, files, remote, may_run_on";

fn read(row: &SqlRow<'_>) -> rusqlite::Result<Join> {
    Ok(Join {
        id: row.get("id")?,
        lease: row.get("lease")?,
        grant: GrantId(uuid(row, "grant_id")?),
        key_hash: row.get("key_hash")?,
        session: SessionId(uuid(row, "session")?),
        label: row.get("label")?,
        host: row.get("host")?,
        host_id: row.get("host_id")?,
        pid: row.get("pid")?,
        operation: row.get("operation")?,
        live: live_file(row)?,
        files: row.get("files")?,
        remote: row.get("remote")?,
        may_run_on: row.get("may_run_on")?,
    })
}

/// Where a nested request stands with a lease in its way.
pub(super) enum Standing {
    /// No ancestor of ours holds it.
    Stranger,
    /// We may join, below this grant.
    MayJoin(GrantId),
    /// We have joined already, and the answer was lost.
    Joined,
    /// A command beside us has joined; we wait for it.
    Sibling,
}

/// Looks at the line of joins of a lease that a command runs under.
pub(super) fn standing(
    connection: &Connection,
    row: &Row,
    chain: &[GrantId],
    request: &Request,
) -> Result<Standing, Fault> {
    if !row.runs() || !chain.contains(&row.grant) {
        return Ok(Standing::Stranger);
    }
    let mut last = row.grant;
    while let Some(join) = successor(connection, row.id, last)? {
        if join.grant == request.grant && join.key_hash == request.key.hash() {
            return Ok(Standing::Joined);
        }
        if !chain.contains(&join.grant) {
            return Ok(Standing::Sibling);
        }
        last = join.grant;
    }
    Ok(Standing::MayJoin(last))
}

/// So far up the grants above a request are followed; the functions of the server's schema say the same.
const HIGHEST: usize = 512;

/// The grants above a request, the nearest first: those that its rows were asked for within. Ended ones count too: what
/// they stood in may still run, and only a running lease is ever joined.
pub(super) fn chain(connection: &Connection, within: Option<GrantId>) -> Result<Vec<GrantId>, Fault> {
    let mut chain = Vec::new();
    let mut next = within;
    // Bounded: what somebody put in an environment must not make us run in circles.
    while let Some(grant) = next.filter(|grant| !chain.contains(grant) && chain.len() < HIGHEST) {
        chain.push(grant);
        let sql = "select within_grant from leases where grant_id = ?1 and within_grant is not null \
                   union select within_grant from joins where grant_id = ?1 limit 1";
        let above: Option<String> =
            connection.prepare_cached(sql)?.query_row([grant.to_string()], |row| row.get(0)).optional()?;
        next = above.and_then(|above| Uuid::parse_str(&above).ok()).map(GrantId);
    }
    Ok(chain)
}

/// Joins.
pub(super) fn join(connection: &Connection, row: &Row, below: GrantId, request: &Request) -> Result<(), Fault> {
    let owner = &request.owner;
    let (device, inode) = live_columns(request.live);
    connection
        .prepare_cached(
            "insert into joins (lease, within_grant, grant_id, key_hash, session, label, host, host_id, pid, operation, \
             live_device, live_inode, files, remote) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?
        .execute(rusqlite::params![
            row.id,
            below.to_string(),
            request.grant.to_string(),
            request.key.hash(),
            owner.session.whole(),
            owner.label,
            owner.host,
            owner.host_id,
            owner.pid,
            owner.operation,
            device,
            inode,
            debt::text(&request.files)?,
            request.remote,
        ])?;
    // What is done elsewhere for the command below is done under the holder's lease, and what asks a person is too.
    connection
        .prepare_cached("update leases set remote = max(remote, ?2), ask = max(ask, ?3) where id = ?1")?
        .execute((row.id, request.remote, request.ask.contains(&row.resource)))?;
    Ok(())
}

/// The join of this grant to the live lease of a resource.
pub(super) fn of_grant(connection: &Connection, grant: GrantId, row: &Row) -> Result<Option<Join>, Fault> {
    let sql = format!("select {COLUMNS} from joins where grant_id = ?1 and lease = ?2");
    Ok(connection.prepare_cached(&sql)?.query_row((grant.to_string(), row.id), read).optional()?)
}

/// Every join of a lease.
pub(super) fn of_lease(connection: &Connection, lease: i64) -> Result<Vec<Join>, Fault> {
    let sql = format!("select {COLUMNS} from joins where lease = ?1 order by id");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_map([lease], read)?.collect::<rusqlite::Result<_>>()?)
}

/// Every join of a grant.
pub(super) fn of_any_lease(connection: &Connection, grant: GrantId) -> Result<Vec<Join>, Fault> {
    let sql = format!("select {COLUMNS} from joins where grant_id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_map([grant.to_string()], read)?.collect::<rusqlite::Result<_>>()?)
}

fn successor(connection: &Connection, lease: i64, grant: GrantId) -> Result<Option<Join>, Fault> {
    let sql = format!("select {COLUMNS} from joins where lease = ?1 and within_grant = ?2");
    Ok(connection.prepare_cached(&sql)?.query_row((lease, grant.to_string()), read).optional()?)
}

/// Takes a join out of the line; what stood below it stands below its predecessor now.
pub(super) fn leave(connection: &Connection, join: &Join) -> Result<(), Fault> {
    let predecessor: String = connection
        .prepare_cached("select within_grant from joins where id = ?1")?
        .query_row([join.id], |row| row.get(0))?;
    connection.prepare_cached("delete from joins where id = ?1")?.execute([join.id])?;
    connection
        .prepare_cached("update joins set within_grant = ?3 where lease = ?1 and within_grant = ?2")?
        .execute((join.lease, join.grant.to_string(), predecessor))?;
    Ok(())
}

/// Something of the join may still be running: it stays in the line until that is over or the lease is.
pub(super) fn stay(connection: &Connection, join: &Join, reason: &str) -> Result<(), Fault> {
    connection
        .prepare_cached("update joins set may_run_on = ?2, pid = null where id = ?1")?
        .execute((join.id, reason))?;
    connection.prepare_cached("update leases set remote = 1 where id = ?1")?.execute([join.lease])?;
    Ok(())
}

/// The joins of a lease that is over for all of them: what they may have written is owed by who takes it over.
pub(super) fn bury_all(connection: &Connection, row: &Row) -> Result<Row, Fault> {
    let joins = of_lease(connection, row.id)?;
    for join in &joins {
        bury(connection, join)?;
    }
    if joins.is_empty() {
        return Ok(row.clone());
    }
    row::live(connection, &row.resource)?.ok_or(Fault::Unreadable("a lease with joins is gone"))
}

/// A dead join leaves the line, and its files become a debt of the lease.
pub(super) fn bury(connection: &Connection, join: &Join) -> Result<(), Fault> {
    leave(connection, join)?;
    let files = serde_json::from_str(&join.files).map_err(|_| Fault::Unreadable("a record of files cannot be read"))?;
    let sql = "select debt, token from leases where id = ?1";
    let (debt, token): (String, i64) =
        connection.prepare_cached(sql)?.query_row([join.lease], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let text = debt::with(&debt, token, &join.holder(), &join.operation, &join.host, files)?;
    connection.prepare_cached("update leases set debt = ?2 where id = ?1")?.execute((join.lease, text))?;
    Ok(())
}

/// Replaces the record of a join's files.
pub(super) fn record_files(connection: &Connection, join: &Join, files: &str) -> Result<(), Fault> {
    connection.prepare_cached("update joins set files = ?2 where id = ?1")?.execute((join.id, files))?;
    Ok(())
}

/// Who inherits the lease when it is over for its holder: the command that joined it and lives on.
pub(super) fn heir(connection: &Connection, row: &Row) -> Result<Option<Join>, Fault> {
    successor(connection, row.id, row.grant)
}

/// The join has the lease now, in a row of its own under the same token. The holder's row has ended. What may still be
/// running of the join is given one TTL from here, and more when its keeper says so.
pub(super) fn inherit(connection: &Connection, row: &Row, heir: &Join, now: &Now) -> Result<(), Fault> {
    let (device, inode) = live_columns(heir.live);
    connection
        .prepare_cached(
            "insert into leases (scope, name, token, grant_id, key_hash, session, label, host, host_id, pid, operation, \
             state, settled, reason, remote, live_device, live_inode, files, debt, bad, may_run_on, ttl_ms, hold_ttl_ms, \
             hold_operation, hold_issue, issue, within_grant, boot, expires_ms, acquired_at, renewed_at, revoked, ask) select scope, name, token, ?2, \
             ?3, ?4, ?5, ?6, ?7, ?8, ?9, iif(?14 is null, 'held', 'remote'), ?14 is not null, ?18, remote, ?10, ?11, ?12, \
             ?17, bad, may_run_on, ttl_ms, hold_ttl_ms, hold_operation, hold_issue, issue, grant_id, ?15, \
             iif(?14 is null, expires_ms, ?16 + ttl_ms), ?13, ?13, revoked, ask from leases where id = ?1",
        )?
        .execute(rusqlite::params![
            row.id,
            heir.grant.to_string(),
            heir.key_hash,
            heir.session.whole(),
            heir.label,
            heir.host,
            heir.host_id,
            heir.pid,
            heir.operation,
            device,
            inode,
            heir.files,
            now.wall,
            heir.may_run_on,
            now.boot,
            now.ms,
            debt::text(&debt::for_an_heir(row)?)?,
            // What was taken from the holder is taken from who goes on with it.
            match &heir.may_run_on {
                Some(reason) => Some(row.because(reason)),
                None => row.reason.clone().filter(|_| row.revoked),
            },
        ])?;
    let lease = connection.last_insert_rowid();
    connection.prepare_cached("delete from joins where id = ?1")?.execute([heir.id])?;
    connection.prepare_cached("update joins set lease = ?2 where lease = ?1")?.execute((row.id, lease))?;
    Ok(())
}

impl Join {
    /// It is of this key.
    pub(super) fn is_guarded_by(&self, key_hash: &str) -> bool {
        self.key_hash == key_hash
    }

    fn holder(&self) -> String {
        format!("{} ({})", self.session.short(), self.label)
    }

    /// The lease as people see it while this command has it.
    pub(super) fn view(&self, lease: LeaseView) -> LeaseView {
        LeaseView {
            grant: self.grant,
            live: self.live,
            host_id: self.host_id.clone(),
            session: self.session,
            label: shown(&self.label),
            host: shown(&self.host),
            pid: self.pid,
            operation: shown(&self.operation),
            state: if self.may_run_on.is_some() { LeaseState::Remote } else { lease.state },
            reason: self.may_run_on.as_deref().map(shown).or(lease.reason),
            ..lease
        }
    }
}
