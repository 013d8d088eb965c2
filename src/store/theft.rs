//! Taking a live lease away: a person's word, in two steps. First the lease is marked; then its holder stops and ends it,
//! or its time runs out, and only then is anybody else granted.
#![forbid(unsafe_code)]

use crate::terms::{FencingToken, Resource, SessionId};

/// Who takes live leases away, and by what right.
#[derive(Debug, Clone)]
pub struct Theft {
    /// The session that wants them.
    pub session: SessionId,
    /// What people call that session.
    pub label: String,
    /// Why, in one sentence without secrets.
    pub reason: String,
    /// The person who said so, where nobody could be asked on a terminal.
    pub approved_by: Option<String>,
    /// Nobody waits for the holder: two may be writing then.
    pub at_once: bool,
    /// What the person was shown who said so: each resource with the token under which it was held, or that nobody held it.
    /// None where nobody was shown anything.
    pub shown: Option<Vec<(Resource, Option<FencingToken>)>>,
}

impl Theft {
    /// Whether the person was shown this lease, or that there is none: it is taken from nobody else.
    #[must_use]
    pub(super) fn was_shown(&self, resource: &Resource, now: Option<FencingToken>) -> bool {
        let shown = self.shown.as_ref().and_then(|shown| shown.iter().find(|(it, _)| it == resource));
        now.is_none() || shown.is_none_or(|(_, token)| *token == now)
    }

    /// The reason as the ledger keeps it.
    #[must_use]
    pub fn why(&self) -> String {
        let approved = self.approved_by.as_ref().map(|name| format!(" (approved by {name})")).unwrap_or_default();
        format!("{}{approved}", self.reason)
    }
}

/// What a theft came to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Revocation {
    /// Every live lease among those asked for is marked, or has ended already.
    Revoked(Vec<Victim>),
    /// None of them lives.
    Nothing,
    /// One of them is quarantined, which is no holder: it is restored, not stolen. Nothing was marked.
    Quarantined,
    /// Somebody has one of them whom the person was not shown ([`Theft::shown`]). Nothing was marked.
    Changed,
}

/// A lease that was taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Victim {
    /// What.
    pub resource: Resource,
    /// Its token.
    pub token: FencingToken,
    /// Short session and label of who had it.
    pub holder: String,
    /// What became of it.
    pub became: Became,
}

/// What became of a lease that was taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// Its command learns of it at its next renew; until it has stopped, or the TTL is over, nobody is let in.
    Told,
    /// Whoever is next may have it, and proves what it may have written.
    Free,
    /// It was held without a command and has ended.
    Ended,
}
