//! What people see: live leases, history and receipts, from the functions' JSON.
#![forbid(unsafe_code)]

use serde::Deserialize;

use crate::store::door::{shown, shown_whole};
use crate::store::view::issue_of;
use crate::store::{Ended, FileRecord, LeaseState, LeaseView, PastLease, StoreError, StoredReceipt};
use crate::terms::{Digest, FencingToken, GrantId, Scope, SessionId};

use super::answer::{live, resource, span, uuid};

/// A live lease.
#[derive(Deserialize)]
pub(super) struct Seen {
    name: String,
    scope: String,
    token: i64,
    session: String,
    label: String,
    host: String,
    grant: String,
    live_device: Option<i64>,
    live_inode: Option<i64>,
    host_id: String,
    pid: Option<i64>,
    operation: String,
    /// A schema of before does not say it.
    #[serde(default)]
    issue: Option<String>,
    /// A schema of before does not say it.
    #[serde(default)]
    hold_issue: Option<String>,
    state: LeaseState,
    explicit: bool,
    takeable: bool,
    /// A schema of before has none that ask.
    #[serde(default)]
    ask: bool,
    reason: Option<String>,
    acquired_at: i64,
    renewed_at: i64,
    /// A schema of before does not say it.
    #[serde(default)]
    idle_ms: i64,
    expires_in_ms: Option<i64>,
    /// A schema of before does not say it.
    #[serde(default)]
    expired_ms: Option<i64>,
    waiters: u32,
    files: Vec<FileRecord>,
}

impl Seen {
    pub(super) fn read(self) -> Result<LeaseView, StoreError> {
        Ok(LeaseView {
            resource: resource(&self.name, self.scope)?,
            token: FencingToken(self.token),
            session: SessionId(uuid(&self.session)?),
            label: shown(&self.label),
            host: shown(&self.host),
            grant: GrantId(uuid(&self.grant)?),
            live: live(self.live_device, self.live_inode),
            host_id: self.host_id,
            pid: self.pid.and_then(|pid| u32::try_from(pid).ok()),
            issue: issue_of(self.issue.as_deref(), &self.operation),
            hold_issue: self.hold_issue.and_then(|issue| issue.parse().ok()),
            operation: shown(&self.operation),
            state: self.state,
            explicit: self.explicit,
            takeable: self.takeable,
            ask: self.ask,
            reason: self.reason.as_deref().map(shown_whole),
            acquired_at: self.acquired_at,
            renewed_at: self.renewed_at,
            idle: span(self.idle_ms),
            expires_in: self.expires_in_ms.map(span),
            expired_for: self.expired_ms.map(span),
            waiters: self.waiters,
            files: self.files,
        })
    }
}

/// An ended lease.
#[derive(Deserialize)]
pub(super) struct Past {
    name: String,
    scope: String,
    token: i64,
    session: String,
    label: String,
    host: String,
    operation: String,
    acquired_at: i64,
    ended_at: i64,
    /// An unknown word of a later program shows as a failure rather than as a success.
    ended_as: serde_json::Value,
    note: Option<String>,
    receipt: Option<String>,
}

impl Past {
    pub(super) fn read(self) -> Result<PastLease, StoreError> {
        Ok(PastLease {
            resource: resource(&self.name, self.scope)?,
            token: FencingToken(self.token),
            session: SessionId(uuid(&self.session)?),
            label: shown(&self.label),
            host: shown(&self.host),
            operation: shown(&self.operation),
            acquired_at: self.acquired_at,
            ended_at: self.ended_at,
            ended_as: serde_json::from_value(self.ended_as).unwrap_or(Ended::Failed),
            note: self.note.as_deref().map(shown_whole),
            receipt: self.receipt.map(Digest::from),
        })
    }
}

/// A receipt in its chain.
#[derive(Deserialize)]
pub(super) struct Link {
    scope: String,
    path: String,
    base: Option<String>,
    new: String,
    blob: Option<String>,
    branch: Option<String>,
    host: String,
    /// Servers of before do not say.
    #[serde(default)]
    host_id: Option<String>,
    worktree: Option<String>,
    token: i64,
    holder: String,
    kind: String,
    at: i64,
}

impl Link {
    pub(super) fn read(self) -> StoredReceipt {
        StoredReceipt {
            scope: Scope(self.scope),
            path: self.path,
            base: self.base.map(Digest::from),
            new: Digest::from(self.new),
            blob: self.blob,
            branch: self.branch,
            host: shown(&self.host),
            host_id: self.host_id.filter(|id| !id.is_empty()),
            worktree: self.worktree,
            token: FencingToken(self.token),
            holder: shown(&self.holder),
            kind: shown(&self.kind),
            at: self.at,
        }
    }
}
