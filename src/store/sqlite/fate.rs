//! What a live lease means to who asks for its resource. Pure.
#![forbid(unsafe_code)]

use crate::store::{Claim, Request};

use super::ledger::Now;
use super::row::{Row, Stored};

/// What may be done with the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is this very grant: the answer was lost, and is read back.
    Ours,
    /// The session has it without a running command and goes on with it.
    Adopt,
    /// Kept with every file as before: anybody may go on.
    Take,
    /// It ended without settling: the successor takes its debt along.
    Reclaim,
    /// It is quarantined, and the request is to mend that: the successor takes its files along as a debt.
    Restore,
    /// It is in the way.
    Blocks,
}

/// Decides. The order of the arms is the rule: a quarantine yields to a restore alone, what has expired belongs to nobody, and a
/// running command of one's own session is in the way like anyone's.
pub(super) fn fate(row: &Row, request: &Request, key_hash: &str, now: &Now) -> Fate {
    let own = row.session == request.owner.session;
    match row.state {
        _ if row.grant == request.grant && row.key_hash == key_hash => Fate::Ours,
        Stored::Quarantined if request.claim == Claim::Restore => Fate::Restore,
        Stored::Quarantined => Fate::Blocks,
        _ if row.lingers(now) => Fate::Blocks,
        _ if row.expired(now) => Fate::Reclaim,
        Stored::Kept if row.takeable && !row.revoked => Fate::Take,
        _ if own && row.rests() && !row.revoked => Fate::Adopt,
        _ => Fate::Blocks,
    }
}
