//! What a store answers.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::terms::{Digest, FencingToken, GrantId, Resource};

use super::{FileRecord, LeaseState, LeaseView, Live, Word};

/// The answer to a request.
#[derive(Debug, Clone)]
#[must_use]
pub enum Acquisition {
    /// Every resource is ours.
    Granted(Granted),
    /// At least one is not; nothing was taken.
    Busy {
        /// The leases in the way, in resource order; empty when only older requests are.
        blockers: Vec<Blocker>,
        /// Older requests that share a resource with ours, oldest first. Our place in the queue is their number + 1.
        ahead: Vec<Ahead>,
        /// Waiting would close a circle: one of those in the way waits for a command above us.
        deadlock: bool,
    },
}

/// A grant.
#[derive(Debug, Clone)]
pub struct Granted {
    /// Every resource with its token, in resource order.
    pub tokens: Vec<(Resource, FencingToken)>,
    /// How long the store honours the grant, counted from when the request was sent.
    pub lasts: Duration,
    /// Predecessors that ended without settling: their files are proven before anything is spawned. Empty rows
    /// (without files) are not listed; a resource can be listed several times, oldest first.
    pub unsettled: Vec<Unsettled>,
    /// Grants of predecessors that were reclaimed: what their commands left running must have ended before anything is
    /// spawned.
    pub reclaimed: Vec<GrantId>,
    /// The resources that were adopted from this session's own holding.
    pub adopted: Vec<Resource>,
    /// What this session's own earlier commands may have written under what was adopted: known to it, not proven.
    pub carried: Vec<Unsettled>,
    /// The newest version of each file of the request by its chain of receipts, in the request's order; none where the path
    /// has no chain. None as a whole when the store did not say (a schema of before): then the chain is to be asked for.
    pub heads: Option<Vec<Option<Digest>>>,
    /// Words that others left for this session ([`Board::leave_word`](super::Board::leave_word)): to be said once.
    pub words: Vec<Word>,
}

/// A lease that ended without settling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsettled {
    /// The resource.
    pub resource: Resource,
    /// Its token.
    pub token: FencingToken,
    /// Short session and label of who held it.
    pub holder: String,
    /// What ran.
    pub operation: String,
    /// Where it ran; files can be proven only there.
    pub host: String,
    /// The files it may have written, with their digests before. Debt that it had to earlier ones comes as entries of
    /// their own, oldest first, since they may have run elsewhere.
    pub files: Vec<FileRecord>,
}

/// A lease in the way.
#[derive(Debug, Clone)]
pub struct Blocker {
    /// The lease as views show it.
    pub lease: LeaseView,
    /// May a proof that the holder is gone free it? Not for kept, quarantined and explicit leases.
    pub reclaimable_when_gone: bool,
}

impl Blocker {
    /// Is this a quarantine rather than a holder?
    #[must_use]
    pub fn quarantined(&self) -> bool {
        self.lease.state == LeaseState::Quarantined
    }
}

/// A request before ours.
#[derive(Debug, Clone)]
pub struct Ahead {
    /// Its grant, for proving that its waiter is gone.
    pub grant: GrantId,
    /// The live file to look at.
    pub live: Option<Live>,
    /// Whose state directory and boot the live file belongs to.
    pub host_id: String,
    /// Short session and label.
    pub holder: String,
}

/// The answer to a renew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Renewal {
    /// Ours for this long, counted from when the renew was sent.
    Renewed(Duration),
    /// Marked for stealing: stop the tree and end the row.
    Revoked,
    /// Not ours any more.
    Gone,
}

/// The answer to a settling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Release {
    /// Done, or found done already by this very grant.
    Released,
    /// At least one resource was not ours any more; nothing was changed.
    NotOurs,
}
