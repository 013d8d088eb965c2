//! What views of a store show.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::terms::{Digest, FencingToken, GrantId, Issue, Resource, Scope, SessionId};

use super::{Ended, FileRecord, Live, StoreError};

/// The state of a live row as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaseState {
    /// A command runs, or the session holds it by `acquire`.
    Held,
    /// The command failed and the lease stays with its session.
    Kept,
    /// The file is bad.
    Quarantined,
    /// The TTL has passed and nobody took it yet.
    Expired,
    /// Marked for stealing.
    Revoked,
    /// Ended unsettled, its effect may still be running elsewhere.
    Remote,
}

impl LeaseState {
    /// The word in JSON and in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Kept => "kept",
            Self::Quarantined => "quarantined",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
            Self::Remote => "remote",
        }
    }
}

/// A live lease.
#[derive(Debug, Clone)]
pub struct LeaseView {
    /// What.
    pub resource: Resource,
    /// Its fencing token.
    pub token: FencingToken,
    /// Whose. Shown short.
    pub session: SessionId,
    /// What people call the session.
    pub label: String,
    /// Where.
    pub host: String,
    /// The grant, for proving that its holder is gone.
    pub grant: GrantId,
    /// The live file to look at, if it has one.
    pub live: Option<Live>,
    /// Whose state directory and boot the live file belongs to.
    pub host_id: String,
    /// Process id of the wrapper there; none for a lease without a running command.
    pub pid: Option<u32>,
    /// What runs or ran.
    pub operation: String,
    /// The issue that it is for.
    pub issue: Option<Issue>,
    /// The issue of the hold that a command of its session has adopted; none where it is no such command's.
    pub hold_issue: Option<Issue>,
    /// The state, expiry judged by the store's clock.
    pub state: LeaseState,
    /// Held by `locked acquire` rather than by a running command.
    pub explicit: bool,
    /// Others may take it at once.
    pub takeable: bool,
    /// When it is stale nobody takes it over without a person's word.
    pub ask: bool,
    /// Why it is kept, quarantined, revoked or expired.
    pub reason: Option<String>,
    /// Wall clock, ms since 1970, for showing.
    pub acquired_at: i64,
    /// Wall clock, ms since 1970, for showing.
    pub renewed_at: i64,
    /// How long ago it was renewed or granted, by the store's clock.
    pub idle: Duration,
    /// How long it still lasts; zero when expired, none when it does not expire.
    pub expires_in: Option<Duration>,
    /// How long ago it expired, where the store says it.
    pub expired_for: Option<Duration>,
    /// Requests that wait for it.
    pub waiters: u32,
    /// What it may have written, earlier commands of its session included.
    pub files: Vec<FileRecord>,
}

impl LeaseView {
    /// Every issue that it is for: the command's, and that of the hold that the command runs under.
    pub fn issues(&self) -> impl Iterator<Item = &Issue> {
        let hold = self.hold_issue.as_ref().filter(|&hold| self.issue.as_ref() != Some(hold));
        self.issue.iter().chain(hold)
    }

    /// It is its session's, and anybody who asks for it has it.
    #[must_use]
    pub fn is_free_to_take(&self) -> bool {
        self.state == LeaseState::Kept && self.takeable && !self.ask
    }
}

/// The issue that a row is for, as it was noted; rows of before have it behind the operation alone, which has not been cut.
pub(super) fn issue_of(noted: Option<&str>, operation: &str) -> Option<Issue> {
    noted.and_then(|noted| noted.parse().ok()).or_else(|| Issue::of(operation))
}

/// Which ended leases to show.
#[derive(Debug, Clone, Default)]
pub struct HistoryFilter {
    /// Only of this resource name (any scope).
    pub name: Option<String>,
    /// Only those that ended within this time.
    pub since: Option<Duration>,
    /// At most so many; none means 50.
    pub limit: Option<u32>,
}

/// An ended lease.
#[derive(Debug, Clone)]
pub struct PastLease {
    /// What.
    pub resource: Resource,
    /// Its token.
    pub token: FencingToken,
    /// Whose. Shown short.
    pub session: SessionId,
    /// What people call the session.
    pub label: String,
    /// Where.
    pub host: String,
    /// What ran.
    pub operation: String,
    /// Wall clock, ms since 1970.
    pub acquired_at: i64,
    /// Wall clock, ms since 1970.
    pub ended_at: i64,
    /// How it ended.
    pub ended_as: Ended,
    /// Reason, or who reclaimed or adopted it.
    pub note: Option<String>,
    /// The receipt it left for its file, if one: the newest.
    pub receipt: Option<Digest>,
}

/// The last lease of this resource that the session had, the newest row first: a command that goes on with what its session
/// holds has a row of its own. `past`: the newest first.
#[must_use]
pub fn last_of<'p>(past: &'p [PastLease], resource: &Resource, session: SessionId) -> Vec<&'p PastLease> {
    let mut last: Vec<&PastLease> = Vec::new();
    for row in past.iter().filter(|row| row.resource == *resource && row.session == session) {
        match last.last() {
            None => last.push(row),
            Some(next) if row.ended_at == next.acquired_at && row.was_adopted(next.acquired_at) => last.push(row),
            Some(_) => {}
        }
    }
    last
}

/// What the stores write when a session goes on with what it held.
const ADOPTED: &str = "adopted by its session";

impl PastLease {
    /// The issue that it was for, as its row says it.
    #[must_use]
    pub fn issue(&self) -> Option<Issue> {
        Issue::of(&self.operation)
    }

    /// Whether its session went on with it in the lease that began then. An adoption is one act: the next row begins in the
    /// moment in which this one ends, which tells it where the note was cut.
    #[must_use]
    pub fn was_adopted(&self, next_began: i64) -> bool {
        let note = self.note.as_deref().unwrap_or_default();
        let ended_well = matches!(self.ended_as, Ended::Completed | Ended::Failed);
        ended_well && (note.ends_with(ADOPTED) || (note.ends_with('…') && self.ended_at == next_began))
    }
}

/// A receipt in its chain.
#[derive(Debug, Clone)]
pub struct StoredReceipt {
    /// The scope.
    pub scope: Scope,
    /// The path within the scope.
    pub path: String,
    /// Digest before.
    pub base: Option<Digest>,
    /// Digest after.
    pub new: Digest,
    /// Git blob id.
    pub blob: Option<String>,
    /// Branch.
    pub branch: Option<String>,
    /// Host.
    pub host: String,
    /// Which machine that was: it and its boot, as its lease has it. Two may have one name. None where nobody knows:
    /// the lease was pruned, or the server's functions are older than this program.
    pub host_id: Option<String>,
    /// Root of the worktree.
    pub worktree: Option<String>,
    /// Token of the lease.
    pub token: FencingToken,
    /// Short session and label.
    pub holder: String,
    /// `proven`, `unverified`, `recovered`, `restored`, `adopted`, `accepted`.
    pub kind: String,
    /// Wall clock, ms since 1970.
    pub at: i64,
}

/// How many contents one question may be about: [`Store::receipts_of`](super::Store::receipts_of).
pub const MOST_CONTENTS: usize = 1000;

/// Contents that a store is asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// By their digest, which is of the content with line ends normalised.
    pub digests: Vec<Digest>,
    /// By the name that git gives them as blobs. Receipts of before, and those that were left for a dead command, have none:
    /// who has the content asks by digest.
    pub blobs: Vec<String>,
}

impl Contents {
    /// How many they are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.digests.len() + self.blobs.len()
    }

    /// There is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Refuses what is too much for one question.
    pub(super) fn bounded(&self) -> Result<&Self, StoreError> {
        match self.len() {
            ..=MOST_CONTENTS => Ok(self),
            more => Err(StoreError::Failed(format!(
                "{more} contents are too many for one question, at most {MOST_CONTENTS}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_issue_of_a_row_of_before_stands_behind_its_operation() {
        for (noted, operation, expected) in [
            (Some("acme/infra#3"), "locked acquire", Some("acme/infra#3")),
            (Some("acme/infra#3"), "x for acme/infra#4", Some("acme/infra#3")),
            (None, "locked acquire for acme/infra#4", Some("acme/infra#4")),
            (None, "locked acquire", None),
            (Some("no issue"), "locked acquire", None),
        ] {
            let found = issue_of(noted, operation).map(|issue| issue.to_string());
            assert_eq!(found.as_deref(), expected, "{noted:?} {operation}");
        }
    }
}
