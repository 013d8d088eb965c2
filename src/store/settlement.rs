//! How a lease ends: what becomes of it, and the receipts of what was written under it.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::terms::{Digest, Resource, Scope};

/// What the ledger says of a hold that a command has had meanwhile, `operation` being that command's.
#[must_use]
pub(super) fn ran(operation: &str) -> String {
    format!("ran {operation}")
}

/// How a row of the ledger ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The work was done and proven.
    Completed,
    /// The command failed or was stopped, and its files were proven.
    Failed,
    /// The TTL passed, or the holder was proven gone.
    Expired,
    /// Taken by a person.
    Stolen,
    /// Handed to a person; the slot is free and the duty visible.
    HumanAction,
}

impl Ended {
    /// The word in the ledger and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Expired => "expired",
            Self::Stolen => "stolen",
            Self::HumanAction => "human-action",
        }
    }
}

/// What becomes of the lease at settling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// The row ends, unless it was adopted from an explicit hold: then the hold goes on (same row, explicit again).
    Release(Ended),
    /// Nothing runs any more and the lease stays with its session.
    Keep {
        /// Why, in one sentence without secrets.
        reason: String,
        /// How long it stays.
        keep_for: Duration,
        /// Others may take it at once: every file is byte for byte as before.
        takeable: bool,
    },
    /// It succeeded, and what it set off goes on elsewhere: nobody is let in for so long, its own session neither, which
    /// would set it off once more. Under an explicit hold it is kept with that.
    Elsewhere {
        /// What goes on, in one sentence without secrets.
        reason: String,
        /// For how long.
        keep_for: Duration,
    },
    /// Something of it may still be running where we cannot stop it: nobody is let in for one TTL, its own session
    /// neither. After that the successor proves the files once more. A command that joined leaves this to its holder's
    /// lease, which then ends so whatever its holder says.
    Linger {
        /// What may be running, in one sentence without secrets.
        reason: String,
    },
    /// Kept without expiry until `locked restore`.
    Quarantine {
        /// Host, worktree, path and fault, in one sentence without secrets.
        reason: String,
    },
}

/// The whole settling: one transaction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settlement {
    /// What becomes of the lease.
    pub ending: Ending,
    /// Resources of it that end in another way: those whose file is bad, while the others are sound.
    pub apart: Vec<(Resource, Ending)>,
    /// Receipts of proven writes.
    pub receipts: Vec<Receipt>,
    /// What its holder says of the end, for the ledger; of what is released alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Settlement {
    /// One ending for all of the lease.
    #[must_use]
    pub fn whole(ending: Ending, receipts: Vec<Receipt>) -> Self {
        Self { ending, apart: Vec::new(), receipts, note: None }
    }

    /// The same with this word of its holder's.
    #[must_use]
    pub fn noting(self, note: Option<String>) -> Self {
        Self { note, ..self }
    }

    /// What becomes of this resource.
    #[must_use]
    pub fn of(&self, resource: &Resource) -> &Ending {
        self.apart.iter().find(|(apart, _)| apart == resource).map_or(&self.ending, |(_, ending)| ending)
    }
}

/// Why a receipt was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptKind {
    /// The canary proved it right after the write.
    Proven,
    /// It looks sound, but no key was at hand to decrypt it.
    Unverified,
    /// Found changed and sound after its writer had died.
    Recovered,
    /// Brought back by `locked restore`.
    Restored,
    /// Accepted by a person (`restore --accept`, `adopt`).
    Adopted,
    /// An older or unknown version that a person has accepted as the base of a write (`--accept-stale`): the chain starts
    /// anew from it.
    Accepted,
}

impl ReceiptKind {
    /// The word in the ledger and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Unverified => "unverified",
            Self::Recovered => "recovered",
            Self::Restored => "restored",
            Self::Adopted => "adopted",
            Self::Accepted => "accepted",
        }
    }
}

/// The record of a proven write: one link in the chain of its (scope, path).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The scope.
    pub scope: Scope,
    /// The path within the scope.
    pub path: String,
    /// The resource under whose lease it was written.
    pub resource: Resource,
    /// Digest before; none for a new file.
    pub base: Option<Digest>,
    /// Digest after.
    pub new: Digest,
    /// Git blob id of the new content, where the file is in a repository.
    pub blob: Option<String>,
    /// Branch, where there is one.
    pub branch: Option<String>,
    /// Root of the worktree.
    pub worktree: Option<String>,
    /// Why it was written.
    pub kind: ReceiptKind,
}
