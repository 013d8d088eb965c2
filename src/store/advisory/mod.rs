//! The advisory store: `pg_try_advisory_lock` on the key of each resource, for the life of one session of the server.
//! Nothing is installed there, and other clients that hash the same subject meet us on the same key.
//!
//! It promises less than a ledger. The lock is the session: it falls with it, at once, also when the server restarts or
//! the connection breaks, and a holder finds out at its next heartbeat (so keep heartbeats short). There is no token,
//! receipt, history, queue or keep; what must have one is refused before it starts, a failed command's lock is given
//! back, and a file that was found bad is marked on this machine alone, loudly. A holder that the network cuts off, or
//! a machine between, or that is frozen with all of its processes, is let go by the server when it has said nothing for its
//! TTL, and no sooner.
//!
//! | file | what it does |
//! |---|---|
//! | `key` | the number that stands for a resource |
//! | `verbs`, `demand` | what can be asked of it, and what not |
//! | `server`, `queries` | the session: connected, proven, asked |
//! | `steward`, `held`, `hired`, `words`, `speak`, `unix` | the process that has the session, and how it is spoken to |
//! | `local` | locks of this machine, when nobody answers and the user chose so |
//! | `name`, `quarantine` | who holds it, for people; bad files |
// `deny`, not `forbid`: the platform file below is made of system calls.
#![deny(unsafe_code)]

mod demand;
#[cfg(unix)]
mod held;
#[cfg(unix)]
mod hired;
mod key;
#[cfg(unix)]
mod local;
#[cfg_attr(windows, allow(dead_code, reason = "for the steward, and there is none yet"))]
mod name;
mod quarantine;
#[cfg_attr(windows, allow(dead_code, reason = "for the steward, and there is none yet"))]
mod queries;
#[cfg_attr(windows, allow(dead_code, reason = "for the steward, and there is none yet"))]
mod server;
#[cfg(unix)]
mod speak;
#[cfg(unix)]
mod steward;
#[cfg(unix)]
mod unix;
mod verbs;
#[cfg(windows)]
mod windows;
mod words;

#[cfg(windows)]
use windows as hired;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::config::OnUnreachable;
use crate::state::StateDir;
use crate::terms::{FencingToken, GrantId, Resource};

use super::{Acquisition, Granted, Request, StoreError};
pub use demand::refused as without_a_table;
use hired::{Hired, Reached};
pub use key::{AdvisoryKey, subject};
use quarantine::Mark;
pub use server::Reach;
use words::{Answer, Ask, Facts};

/// The steward answers within the limit of its own work and this.
const SLACK: Duration = Duration::from_secs(1);

/// What the store has done by rooms that it does not know.
#[derive(Clone)]
pub struct Outside {
    /// Tells people what they must know, on standard error.
    pub say: Arc<dyn Fn(&str) + Send + Sync>,
    /// Ends what is left of the command of a grant whose wrapper and keeper are gone. False: something of it runs on.
    pub end_rest: Arc<dyn Fn(GrantId) -> bool + Send + Sync>,
}

impl std::fmt::Debug for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Outside")
    }
}

/// The store.
pub struct AdvisoryStore {
    reach: Arc<Reach>,
    state: StateDir,
    clock: Arc<dyn Clock + Send + Sync>,
    on_unreachable: OnUnreachable,
    outside: Outside,
    hired: Vec<Hired>,
}

impl std::fmt::Debug for AdvisoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdvisoryStore").field("reach", &self.reach).finish_non_exhaustive()
    }
}

impl AdvisoryStore {
    /// The store on this server. Nothing is connected before the first call.
    #[must_use]
    pub fn new(
        reach: Reach,
        on_unreachable: OnUnreachable,
        state: &StateDir,
        clock: Arc<dyn Clock + Send + Sync>,
        outside: Outside,
    ) -> Self {
        let (reach, state) = (Arc::new(reach), state.clone());
        Self { reach, state, clock, on_unreachable, outside, hired: Vec::new() }
    }

    fn directory(&self) -> Result<PathBuf, StoreError> {
        self.state.below("advisory")
    }

    fn hire(&self, grant: Option<GrantId>) -> Result<Hired, StoreError> {
        let local = self.on_unreachable == OnUnreachable::Local;
        Hired::start(&self.reach, &self.state, self.directory()?, local, &self.outside, grant)
    }

    /// The steward of this grant, or one that has none yet.
    fn steward(&mut self, grant: GrantId) -> Result<usize, StoreError> {
        let fit = |hired: &Hired| hired.is_ours() && hired.grant.is_none_or(|of| of == grant);
        let at = match self.hired.iter().position(fit) {
            Some(at) => at,
            None => {
                self.hired.push(self.hire(Some(grant))?);
                self.hired.len() - 1
            }
        };
        self.hired[at].grant = Some(grant);
        Ok(at)
    }

    /// Asks the steward of a grant, whoever made it.
    fn ask(&mut self, grant: GrantId, question: &Ask, limit: Duration) -> Result<Reached, StoreError> {
        let limit = limit + SLACK;
        if let Some(hired) = self.hired.iter().find(|hired| hired.is_ours() && hired.grant == Some(grant)) {
            return Ok(hired.ask(question, limit));
        }
        Ok(hired::ask_by_name(&self.state, &self.directory()?, grant, question, limit))
    }

    fn facts(&mut self, grant: GrantId, limit: Duration) -> Result<Option<Facts>, StoreError> {
        match self.ask(grant, &Ask::Facts, limit)? {
            Reached::Answered(Answer::Facts(facts)) => Ok(Some(*facts)),
            _ => Ok(None),
        }
    }

    /// A command below one that has the same lock would wait for it for ever.
    fn not_below(&mut self, request: &Request, limit: Duration) -> Result<(), StoreError> {
        let Some(above) = request.within.filter(|above| *above != request.grant) else { return Ok(()) };
        let Some(facts) = self.facts(above, limit)? else { return Ok(()) };
        match request.resources.iter().find(|resource| facts.resources.contains(resource)) {
            Some(resource) => {
                Err(demand::refused(&format!("{resource}, which the command above this one holds and would share,")))
            }
            None => Ok(()),
        }
    }

    fn marks(&self, resources: &[Resource]) -> Result<Vec<Mark>, StoreError> {
        let directory = self.directory()?;
        let found = resources.iter().map(|resource| quarantine::find(&self.state, &directory, resource));
        Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    fn quarantine(&self, mark: &Mark) -> Result<(), StoreError> {
        quarantine::mark(&self.state, &self.directory()?, mark)?;
        (self.outside.say)(&format!(
            "locked: {} is quarantined on this machine alone: the advisory store cannot tell others; nobody else should write it before it is restored",
            mark.resource
        ));
        Ok(())
    }

    fn granted(&self, request: &Request, marks: &[Mark], alone: Option<&str>) -> Acquisition {
        if let Some(why) = alone {
            (self.outside.say)(&format!(
                "locked: WARNING: {why}; going on under a lock of this machine alone (on_unreachable = \"local\"): others on other machines may be writing"
            ));
        }
        let tokens = request.resources.iter().map(|resource| (resource.clone(), FencingToken(0))).collect();
        Acquisition::Granted(Granted {
            tokens,
            lasts: request.ttl,
            unsettled: Vec::new(),
            reclaimed: Vec::new(),
            adopted: Vec::new(),
            carried: marks.iter().map(Mark::debt).collect(),
            heads: Some(vec![None; request.files.len()]),
            words: Vec::new(),
        })
    }
}
