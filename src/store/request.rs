//! What is asked of a store.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::rules::Change;
use crate::terms::{Digest, FencingToken, GrantId, LeaseKey, Resource, SessionId, Times};

/// Who asks, as far as others may see it. No argument values, no environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The session.
    pub session: SessionId,
    /// What people call the session: program and user at host, for example `claude@ws-1`.
    pub label: String,
    /// Host name, for people.
    pub host: String,
    /// Names this machine, this boot of it and the state directory, so that a contender knows whether the kernel lock on
    /// the live file can prove anything to it. The first half stays the same from boot to boot.
    pub host_id: String,
    /// Process id of the wrapper, for people.
    pub pid: u32,
    /// What runs, free of argument values: program, sub-command and target (`sops set secrets/monitoring.env.sops`).
    pub operation: String,
    /// The rule that named the resources, if one did.
    pub rule: Option<String>,
}

/// The live file of a grant: `live/<grant>` in the state directory, by identity. Wrapper and keeper hold its kernel
/// lock; who gets the lock on this very file has proof that both are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

/// May the request wait?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// One try; leaves no ticket (and barges past nobody).
    Try,
    /// Busy leaves or refreshes a ticket, which is skipped when it was silent for this long.
    Wait {
        /// Silence after which others skip the ticket. Polls refresh it when half of this has passed, so poll at least
        /// three times within it.
        silence: Duration,
    },
}

/// What the lease is for, which decides how it lives when no command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// A wrapped command holds it, proven alive by its live file.
    Command,
    /// `locked acquire`: the session holds it without a running command.
    Explicit,
    /// `locked restore`: takes over a quarantine too, and carries its files as a debt until it has settled.
    Restore,
    /// `locked steal`: held as by `acquire`. Its place in the queue is before all others: a person has said so.
    Steal,
}

impl Claim {
    /// The session holds it without a running command.
    #[must_use]
    pub fn is_explicit(self) -> bool {
        matches!(self, Self::Explicit | Self::Steal)
    }
}

/// One request over one or several resources.
#[derive(Debug, Clone)]
pub struct Request {
    /// Made by the client, so that a lost answer can be read back.
    pub grant: GrantId,
    /// Guards renew and settle; the store keeps the hash.
    pub key: LeaseKey,
    /// Sorted, unique, at least one.
    pub resources: Vec<Resource>,
    /// Who asks.
    pub owner: Owner,
    /// Running command or explicit hold.
    pub claim: Claim,
    /// The TTL that renews give.
    pub ttl: Duration,
    /// How long the first grant lasts (never more than the TTL).
    pub first_grant: Duration,
    /// The grant whose command asks (`LOCKED_LEASE` of its environment): its lease is joined, not waited for.
    pub within: Option<GrantId>,
    /// Wait or not.
    pub mode: Mode,
    /// The live file, when there is one.
    pub live: Option<Live>,
    /// The files that the command may write, with their digests as last seen.
    pub files: Vec<FileRecord>,
    /// The effect cannot be stopped by stopping the process (ssh, docker, gh).
    pub remote: bool,
    /// Those of the resources whose lease nobody takes over by himself once it is stale (`stale = "ask"`): run out, its
    /// holder proven gone, or kept and free to take. Others are told that it has expired, and wait for a person's word
    /// ([`Store::revoke`](super::Store::revoke)); the session that held it goes on with its own.
    pub ask: Vec<Resource>,
    /// Grants (leases or tickets) whose wrapper and keeper were proven gone by their kernel lock. Their running leases
    /// expire at once, also those that are not asked for here; each row ends when somebody takes it, with its debt. A
    /// remote effect gets one TTL first. Such tickets are dropped.
    pub gone: Vec<GrantId>,
}

impl Request {
    /// For who runs no command under the lease and so writes no file by it: a hold between commands, or what is done in this
    /// process. It does not wait in line; `resources` are sorted and unique.
    #[must_use]
    pub fn without_a_command(
        key: LeaseKey,
        owner: Owner,
        claim: Claim,
        resources: Vec<Resource>,
        times: &Times,
        within: Option<GrantId>,
    ) -> Self {
        Self {
            grant: GrantId::random(),
            key,
            resources,
            owner,
            claim,
            ttl: times.ttl,
            first_grant: times.first_grant(),
            within,
            mode: Mode::Try,
            live: None,
            files: Vec::new(),
            remote: false,
            ask: Vec::new(),
            gone: Vec::new(),
        }
    }
}

/// A file that a lease may write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Absolute path on the holder's host, percent-encoded byte for byte.
    pub path: String,
    /// The scope whose chain of receipts the file belongs to.
    pub scope: String,
    /// The path within that scope (repository-relative, `/` between parts): the key of the chain.
    pub key: String,
    /// Digest before the command; none when the file did not exist.
    pub before: Option<Digest>,
    /// What the command does to it, so that whoever takes over judges it by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// The resources that stand for it: a command may hold others besides, and when this file is bad it is these that
    /// are quarantined. Empty in records of before it was noted: then it may be any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Resource>,
    /// What was there before was no SOPS file, and the command was not to make one of it: plaintext is no fault of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

impl FileRecord {
    /// Does this resource stand for the file?
    #[must_use]
    pub fn concerns(&self, resource: &Resource) -> bool {
        self.resources.is_empty() || self.resources.contains(resource)
    }
}

/// Who may renew or settle: the key of a grant, or, for a lease without a running command, the session itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Holding {
    /// By grant, token and key.
    Grant {
        /// The grant.
        grant: GrantId,
        /// Its key.
        key: LeaseKey,
        /// Its resources with their tokens, sorted.
        resources: Vec<(Resource, FencingToken)>,
    },
    /// By session, only for leases that it holds without a running command (explicit or kept; quarantined ones too).
    Session {
        /// The session.
        session: SessionId,
        /// Which resources.
        resources: Vec<Resource>,
    },
    /// The same under these very tokens, for who keeps a hold alive in the session's name: another hold that the session has
    /// of one of them meanwhile is none of this holding's. A renew by it is no sign of life of the session.
    Kept {
        /// The session.
        session: SessionId,
        /// Which resources, with their tokens, sorted.
        resources: Vec<(Resource, FencingToken)>,
    },
}
