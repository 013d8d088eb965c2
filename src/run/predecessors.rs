//! What predecessors left that never settled, for who takes a lease over without a command: a hold between commands is no
//! hold of unproven files. The same proof as before a command.
#![forbid(unsafe_code)]

use crate::clock::Clock as _;
use crate::exit;
use crate::report::Refusal;
use crate::state::StateDir;
use crate::store::{Ending, Granted, Receipt, StoreError};
use crate::terms::{GrantId, Resource};

use super::entry::{nothing_runs_of, runs_nothing};
use super::proof::{self, Bad, Proof};
use super::{Context, arbiter};

/// What was found of them.
#[must_use]
pub enum Predecessors {
    /// Their files on this host are as they were, or sound.
    Sound {
        /// For the writes that were found done.
        receipts: Vec<Receipt>,
        /// Nobody else must look: no file of another host is owed.
        all: bool,
    },
    /// Some are bad.
    Bad {
        /// Each with the resource that is quarantined for it.
        bad: Vec<LeftBad>,
        /// For the writes that were found done and are sound.
        receipts: Vec<Receipt>,
    },
    /// Something of this grant runs on.
    Run(GrantId),
}

/// A file that a predecessor left bad.
#[derive(Debug)]
pub struct LeftBad {
    /// What is quarantined for it.
    pub resource: Resource,
    /// Host, path and fault.
    pub reason: String,
    /// The file, for pasting.
    pub shown: String,
}

impl LeftBad {
    pub(super) fn of(bad: &Bad, host: &str) -> Self {
        Self {
            resource: bad.resource.clone(),
            reason: format!("{host}: {}: {}", bad.shown, bad.fault),
            shown: bad.shown.clone(),
        }
    }

    /// What becomes of its resource.
    #[must_use]
    pub fn ending(&self) -> (Resource, Ending) {
        (self.resource.clone(), Ending::Quarantine { reason: self.reason.clone() })
    }

    /// What is told of it; `then` says what was not done for it.
    #[must_use]
    pub fn refusal(&self, then: &str) -> (Refusal, i32) {
        let refusal = Refusal {
            word: "QUARANTINED",
            what: format!("{}: {}", self.resource, self.reason),
            why: format!("the last writer died without settling and left the file like this; {then}"),
            retry: "no, restore it first".to_owned(),
            next: format!("locked restore {}", self.shown),
        };
        (refusal, exit::QUARANTINED)
    }
}

/// Looks at what this grant has taken over. `ends`: what is left running of predecessors is ended first, or, where it is not,
/// waited for by nobody.
///
/// # Errors
/// The state directory has no place for copies.
pub fn predecessors(
    context: &Context,
    state: &StateDir,
    host: &str,
    granted: &Granted,
    ends: bool,
) -> Result<Predecessors, StoreError> {
    let rests = if ends { nothing_runs_of } else { runs_nothing };
    if let Some(left) = granted.reclaimed.iter().find(|grant| !rests(state, **grant)) {
        return Ok(Predecessors::Run(*left));
    }
    let (copies, arbiter) = (state.copies()?, arbiter::arbiter(context, None));
    let Proof { receipts, bad } = proof::prove(&granted.unsettled, host, &copies, &arbiter, context.clock.wall_ms());
    if bad.is_empty() {
        let all = granted.unsettled.iter().all(|left| left.host == host);
        return Ok(Predecessors::Sound { receipts, all });
    }
    Ok(Predecessors::Bad { bad: bad.iter().map(|bad| LeftBad::of(bad, host)).collect(), receipts })
}

/// Processes of a dead holder could not be ended; `then` says what was not done for it.
#[must_use]
pub fn still_running(wanted: &str, grant: GrantId, then: &str) -> Refusal {
    Refusal {
        word: "BLOCKED",
        what: format!("{wanted}: its last holder is gone, but processes of it run on"),
        why: format!("they could not be stopped, and may still be writing; {then}"),
        retry: "yes, when they have ended".to_owned(),
        next: format!("grep -lz LOCKED_LEASE={grant} /proc/[0-9]*/environ"),
    }
}
