//! What is said between the store and its steward: one line of JSON each way.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::store::{Claim, FileRecord, Live, Owner, Request, StoreError};
use crate::terms::Resource;

/// What the steward knows of a grant, for those who ask it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) owner: Owner,
    pub(super) resources: Vec<Resource>,
    pub(super) claim: Claim,
    pub(super) files: Vec<FileRecord>,
    pub(super) live: Option<Live>,
    /// Wall clock, ms since 1970.
    pub(super) since: i64,
    /// The server knows nothing of it: a lock of this machine alone.
    pub(super) local: bool,
}

/// A try to get everything.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) facts: Facts,
    pub(super) grant: String,
    /// Hash of the lease key, which nobody needs to know here.
    pub(super) key: String,
    pub(super) ttl_ms: u64,
    pub(super) remote: bool,
    pub(super) limit_ms: u64,
}

impl Wanted {
    pub(super) fn of(request: &Request, since: i64, limit: Duration) -> Self {
        Self {
            facts: Facts {
                owner: request.owner.clone(),
                resources: request.resources.clone(),
                claim: request.claim,
                files: request.files.clone(),
                live: request.live,
                since,
                local: false,
            },
            grant: request.grant.to_string(),
            key: request.key.hash(),
            ttl_ms: ms(request.ttl),
            remote: request.remote,
            limit_ms: ms(limit),
        }
    }
}

/// A question to the steward. `key` is the hash of the lease key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Ask {
    /// All or nothing. From its maker alone.
    Take(Box<Wanted>),
    /// Is everything still locked?
    Prove { key: String, limit_ms: u64 },
    /// These files may be written now.
    Files { key: String, files: Vec<FileRecord>, limit_ms: u64 },
    /// Unlock everything; one TTL later, if something of it may run on.
    Release { key: String, lingers: bool, limit_ms: u64 },
    /// What it is for. Anybody of this directory may know.
    Facts,
}

/// Who has a lock, as the server knows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct HeldBy {
    /// Which of the resources.
    pub(super) resource: usize,
    /// The name that its session gave itself, or its role.
    pub(super) name: String,
    /// Address of its client; empty for a socket.
    pub(super) address: String,
    /// Wall clock of the server, ms since 1970.
    pub(super) since: i64,
}

/// The steward's answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// Everything is locked; by this machine's own lock alone, with the reason.
    Taken {
        alone: Option<String>,
    },
    Busy(HeldBy),
    /// Still locked, for so long.
    Held {
        ttl_ms: u64,
    },
    /// Not any more, or never.
    Lost,
    /// Unlocked.
    Done,
    Facts(Box<Facts>),
    Failed(Fault),
}

/// What went wrong, fit for the wire.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Fault {
    /// Nobody answers.
    Unreachable(String),
    /// Nobody answers, and the cause is known.
    NoWay {
        why: String,
        remedy: String,
    },
    /// Somebody answers, and says no.
    Refused {
        why: String,
        remedy: String,
    },
    /// Somebody answers who is not whom a lock needs.
    Misnamed {
        why: String,
        remedy: String,
    },
    Failed(String),
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unreachable(why) => Self::Unreachable(why),
            Fault::NoWay { why, remedy } => Self::NoWay { why, remedy },
            Fault::Refused { why, remedy } => Self::Refused { why, remedy },
            Fault::Misnamed { why, remedy } => Self::Misnamed { why, remedy },
            Fault::Failed(why) => Self::Failed(why),
        }
    }
}

pub(super) fn ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
