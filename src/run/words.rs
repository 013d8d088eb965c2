//! What the wrapper tells the keeper when the lease is had.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::{Clock as _, Moment};
use crate::store::{FileRecord, Live, Receipt};
use crate::supervise::Begin;
use crate::terms::{Digest, FencingToken};

use super::job::Job;

/// The variable by which commands below learn of every issue that the work above them is for, where those are several.
pub(super) const ISSUES: &str = "LOCKED_ISSUES";

/// The wrapper's words at "go".
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Words {
    /// When the granted request was sent, ms on the boot clock.
    pub(super) sent: u64,
    /// For how long it was granted, ms.
    pub(super) lasts: u64,
    /// The tokens, in the plan's order of resources; none for a run by force.
    pub(super) tokens: Vec<i64>,
    /// The run is by force and holds nothing.
    pub(super) forced: bool,
    /// The live file, where the state directory has a spool.
    pub(super) live: Option<Live>,
    /// Files that the session's own earlier commands may have written under the same lease.
    pub(super) carried: Vec<FileRecord>,
    /// The bases that a person has accepted, for the ledger once something is written upon them.
    pub(super) accepted: Vec<Receipt>,
    /// The versions that the command began with, in the plan's order of files, where what lay there did not say it.
    pub(super) bases: Vec<Option<Digest>>,
    /// The issues that it is for, which are to be open still when the program goes on after a stop.
    pub(super) issues: Vec<String>,
}

impl Words {
    /// Those of a run that holds nothing, and so has all the time.
    pub(super) fn forced(job: &Job<'_>, live: Live, in_refuge: bool) -> Self {
        let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self {
            sent: ms(job.context.clock.now().0),
            lasts: ms(job.options.times.ttl),
            tokens: Vec::new(),
            forced: true,
            carried: Vec::new(),
            accepted: Vec::new(),
            bases: Vec::new(),
            issues: super::recheck::issues_of_option(job),
            live: (!in_refuge).then_some(live),
        }
    }

    pub(super) fn tokens(&self) -> Vec<FencingToken> {
        self.tokens.iter().copied().map(FencingToken).collect()
    }

    /// For how long the lease has been ours.
    pub(super) fn held(&self, job: &Job<'_>) -> Duration {
        Moment(Duration::from_millis(self.sent)).until(job.context.clock.now())
    }

    /// These receipts behind those of the bases that they were written upon by a person's word.
    pub(super) fn with_accepted(&self, receipts: Vec<Receipt>) -> Vec<Receipt> {
        let written = |base: &&Receipt| receipts.iter().any(|it| it.scope == base.scope && it.path == base.path);
        self.accepted.iter().filter(written).cloned().chain(receipts.iter().cloned()).collect()
    }

    /// The issue for which the commands below are done: the one that was named, else that of the hold.
    fn issue_below(&self, job: &Job<'_>) -> Option<String> {
        job.options.issue.as_ref().map(ToString::to_string).or_else(|| self.issues.first().cloned())
    }

    pub(super) fn begin(&self, job: &Job<'_>) -> Begin {
        let held = job.plan.resources.iter().filter(|_| !self.forced);
        let names = held.map(|resource| resource.name.to_string()).collect::<Vec<_>>().join(" ");
        let tokens = self.tokens.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        Begin {
            sent: Moment(Duration::from_millis(self.sent)),
            lasts: Duration::from_millis(self.lasts),
            asks_again: job.plan.rotates() || !self.issues.is_empty(),
            variables: vec![
                ("LOCKED_RESOURCES".to_owned(), names),
                ("LOCKED_TOKENS".to_owned(), tokens),
                ("LOCKED_LEASE".to_owned(), job.grant.to_string()),
                ("LOCKED_HOLDER".to_owned(), job.owner.session.short()),
            ]
            .into_iter()
            .chain(self.issue_below(job).map(|issue| ("LOCKED_ISSUE".to_owned(), issue)))
            .chain((!self.issues.is_empty()).then(|| (ISSUES.to_owned(), self.issues.join(" "))))
            .collect(),
        }
    }
}
