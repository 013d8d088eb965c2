//! The advisory store: `pg_try_advisory_lock` on the key of each resource, for the life of one session of the server.
//! Nothing is installed there, and other clients that hash the same subject meet us on the same key.
//!
//! It promises less than a ledger. The lock is the session: it falls with it, at once, also when the server restarts or
//! the connection breaks, and a holder finds out at its next heartbeat (so keep heartbeats short). There is no token,
//! receipt, history, queue or keep; what must have one is refused before it starts, a failed command's lock is given
//! back, and a file that was found bad is marked on this machine alone, loudly. A holder that the network cuts off is
//! let go by the server when its TTL has passed, and no sooner.
//!
//! | file | what it does |
//! |---|---|
//! | `key` | the number that stands for a resource |
//! | `demand` | what cannot be asked |
//! | `server` | the session: connected, proven, asked |
//! | `steward`, `words`, `unix` | the process that has the session, and how it is spoken to |
//! | `local` | locks of this machine, when nobody answers and the user chose so |
//! | `name`, `quarantine` | who holds it, for people; bad files |
// `deny`, not `forbid`: the platform file below is made of system calls.
#![deny(unsafe_code)]

mod demand;
mod hired;
mod key;
mod local;
mod name;
mod quarantine;
mod server;
mod steward;
mod unix;
mod words;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::config::OnUnreachable;
use crate::state::StateDir;
use crate::terms::{FencingToken, GrantId, Resource, Scope};

use super::{
    Acquisition, Blocker, Claim, Distance, Ending, FileRecord, Forced, ForcedEnd, Granted, HistoryFilter, Holding,
    LeaseView, Mode, PastLease, Receipt, Release, Renewal, Request, Settlement, Store, StoreError, StoredReceipt,
};
use hired::{Hired, Reached};
pub use key::{AdvisoryKey, subject};
use quarantine::Mark;
pub use server::Reach;
use server::Session;
use words::{Answer, Ask, Facts, HeldBy, Wanted, ms};

/// The steward answers within the limit of its own work and this.
const SLACK: Duration = Duration::from_secs(1);

/// How people are told what they must know, on standard error.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// The store.
pub struct AdvisoryStore {
    reach: Arc<Reach>,
    state: StateDir,
    clock: Arc<dyn Clock + Send + Sync>,
    on_unreachable: OnUnreachable,
    say: Say,
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
        say: Say,
    ) -> Self {
        let (reach, state) = (Arc::new(reach), state.clone());
        Self { reach, state, clock, on_unreachable, say, hired: Vec::new() }
    }

    fn directory(&self) -> Result<PathBuf, StoreError> {
        self.state.below("advisory")
    }

    fn hire(&self, grant: Option<GrantId>) -> Result<Hired, StoreError> {
        let local = self.on_unreachable == OnUnreachable::Local;
        Hired::start(&self.reach, &self.state, self.directory()?, local, grant)
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
        (self.say)(&format!(
            "locked: {} is quarantined on this machine alone: the advisory store cannot tell others; nobody else should write it before it is restored",
            mark.resource
        ));
        Ok(())
    }

    fn granted(&self, request: &Request, marks: &[Mark], alone: Option<&str>) -> Acquisition {
        if let Some(why) = alone {
            (self.say)(&format!(
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
        })
    }
}

fn busy(blockers: Vec<Blocker>) -> Acquisition {
    Acquisition::Busy { blockers, ahead: Vec::new(), deadlock: false }
}

fn in_the_way(request: &Request, by: &HeldBy) -> Acquisition {
    busy(request.resources.get(by.resource).map(|resource| name::blocker(resource, by)).into_iter().collect())
}

fn unanswered() -> StoreError {
    StoreError::Unreachable("the process that has its session does not answer".to_owned())
}

impl Store for AdvisoryStore {
    /// Nobody is told when such a lock falls, so who waits asks again and again.
    fn distance(&self) -> Distance {
        Distance::Far
    }

    /// Starts the process that will have the session of the first grant. Without it that happens at the first request, and
    /// a wrapper that has to stop its whole tree stops it along, last.
    fn prepare(&mut self) -> Result<(), StoreError> {
        let hired = self.hire(None)?;
        self.hired.push(hired);
        Ok(())
    }

    fn acquire(&mut self, request: &Request, limit: Duration) -> Result<Acquisition, StoreError> {
        demand::refuse(request)?;
        let marks = self.marks(&request.resources)?;
        if request.claim != Claim::Restore && !marks.is_empty() {
            let blocked = |mark: &Mark| Blocker { lease: mark.view(), reclaimable_when_gone: false };
            return Ok(busy(marks.iter().map(blocked).collect()));
        }
        self.not_below(request, limit)?;
        let at = self.steward(request.grant)?;
        let wanted = Wanted::of(request, self.clock.wall_ms(), limit);
        match self.hired[at].ask(&Ask::Take(Box::new(wanted)), limit + SLACK) {
            Reached::Answered(Answer::Taken { alone }) => Ok(self.granted(request, &marks, alone.as_deref())),
            Reached::Answered(Answer::Busy(by)) => {
                if request.mode == Mode::Try {
                    self.hired.remove(at).dismiss();
                }
                Ok(in_the_way(request, &by))
            }
            Reached::Answered(Answer::Failed(fault)) => {
                self.hired.remove(at).dismiss();
                Err(fault.into())
            }
            _ => {
                self.hired.remove(at).dismiss();
                Err(unanswered())
            }
        }
    }

    fn renew(&mut self, holding: &Holding, limit: Duration) -> Result<Renewal, StoreError> {
        let Holding::Grant { grant, key, .. } = holding else { return Ok(Renewal::Gone) };
        let question = Ask::Prove { key: key.hash(), limit_ms: ms(limit) };
        renewed(self.ask(*grant, &question, limit)?)
    }

    fn record_files(
        &mut self,
        holding: &Holding,
        files: &[FileRecord],
        _receipts: &[Receipt],
        limit: Duration,
    ) -> Result<Renewal, StoreError> {
        let Holding::Grant { grant, key, .. } = holding else { return Ok(Renewal::Gone) };
        let question = Ask::Files { key: key.hash(), files: files.to_vec(), limit_ms: ms(limit) };
        renewed(self.ask(*grant, &question, limit)?)
    }

    fn settle(&mut self, holding: &Holding, settlement: &Settlement, limit: Duration) -> Result<Release, StoreError> {
        let Holding::Grant { grant, key, resources } = holding else { return Ok(Release::NotOurs) };
        let facts = self.facts(*grant, limit)?;
        let endings = || resources.iter().map(|(resource, _)| (resource, settlement.of(resource)));
        // Order: marked before anybody else can get it.
        for (resource, ending) in endings() {
            if let Ending::Quarantine { reason } = ending {
                self.quarantine(&mark_of(resource, reason, facts.as_ref(), self.clock.wall_ms()))?;
            }
        }
        let lingers = endings().any(|(_, ending)| matches!(ending, Ending::Linger { .. }));
        let question = Ask::Release { key: key.hash(), lingers, limit_ms: ms(limit) };
        let release = match self.ask(*grant, &question, limit)? {
            Reached::Answered(Answer::Done) => Release::Released,
            Reached::Answered(Answer::Failed(fault)) => return Err(fault.into()),
            Reached::Silent => return Err(unanswered()),
            // Who gave it back took the name away.
            Reached::Unnamed => return Ok(Release::Released),
            Reached::Answered(_) | Reached::Dead => Release::NotOurs,
        };
        self.part_with(*grant, lingers);
        if release == Release::Released {
            self.after(facts.as_ref(), endings())?;
        }
        Ok(release)
    }

    fn record_forced(&mut self, forced: &Forced, _limit: Duration) -> Result<(), StoreError> {
        for resource in &forced.resources {
            if let ForcedEnd::Quarantine { reason } = forced.of(resource) {
                let (owner, files) = (Some(forced.owner.clone()), forced.files.clone());
                let mark =
                    Mark { resource: resource.clone(), reason: reason.clone(), owner, files, at: forced.ended_at };
                self.quarantine(&mark)?;
            }
        }
        Ok(())
    }

    fn leave_queue(&mut self, grant: GrantId, _limit: Duration) -> Result<(), StoreError> {
        // There is no queue; only the session that we polled with.
        while let Some(at) = self.hired.iter().position(|hired| hired.is_ours() && hired.grant == Some(grant)) {
            self.hired.remove(at).dismiss();
        }
        Ok(())
    }

    fn standing(&mut self, grants: &[GrantId], limit: Duration) -> Result<Vec<GrantId>, StoreError> {
        let mut standing = Vec::new();
        for grant in grants {
            if self.facts(*grant, limit)?.is_some() {
                standing.push(*grant);
            }
        }
        Ok(standing)
    }

    /// Of all resources those that this machine knows of: the server has numbers, not names. Of named ones every holder.
    fn leases(&mut self, resources: Option<&[Resource]>, limit: Duration) -> Result<Vec<LeaseView>, StoreError> {
        let directory = self.directory()?;
        let ours = hired::seen(&self.state, &directory, limit);
        let mut views: Vec<LeaseView> = quarantine::all(&self.state, &directory).iter().map(Mark::view).collect();
        views.extend(
            ours.iter()
                .flat_map(|(grant, facts)| facts.resources.iter().map(|resource| name::seen(resource, *grant, facts))),
        );
        let Some(wanted) = resources else { return Ok(views) };
        views.retain(|view| wanted.contains(&view.resource));
        let keys: Vec<i64> = wanted.iter().map(|resource| AdvisoryKey::of_resource(resource).0).collect();
        let mut session = Session::new()?;
        session.look(&self.reach, limit)?;
        for by in session.holders(&keys, limit)? {
            let Some(resource) = wanted.get(by.resource) else { continue };
            if !views.iter().any(|view| view.resource == *resource && view.pid.is_some()) {
                views.push(name::blocker(resource, &by).lease);
            }
        }
        Ok(views)
    }

    fn history(&mut self, _filter: &HistoryFilter, _limit: Duration) -> Result<Vec<PastLease>, StoreError> {
        Err(demand::refused("a history"))
    }

    fn receipts(&mut self, _scope: &Scope, _path: &str, _limit: Duration) -> Result<Vec<StoredReceipt>, StoreError> {
        Ok(Vec::new())
    }
}

impl AdvisoryStore {
    fn part_with(&mut self, grant: GrantId, lingers: bool) {
        while let Some(at) = self.hired.iter().position(|hired| hired.is_ours() && hired.grant == Some(grant)) {
            self.hired.remove(at).part(!lingers);
        }
    }

    /// What people must know of an ending that this store cannot give, and the end of a restored file's mark.
    fn after<'a>(
        &self,
        facts: Option<&Facts>,
        endings: impl Iterator<Item = (&'a Resource, &'a Ending)>,
    ) -> Result<(), StoreError> {
        let restores = facts.is_some_and(|facts| facts.claim == Claim::Restore);
        for (resource, ending) in endings {
            match ending {
                Ending::Keep { reason, .. } => (self.say)(&format!(
                    "locked: {resource} was to be kept ({reason}), and the advisory store cannot: it is free"
                )),
                Ending::Release(_) if restores => quarantine::clear(&self.state, &self.directory()?, resource)?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn mark_of(resource: &Resource, reason: &str, facts: Option<&Facts>, at: i64) -> Mark {
    Mark {
        resource: resource.clone(),
        reason: reason.to_owned(),
        owner: facts.map(|facts| facts.owner.clone()),
        files: facts.map(|facts| facts.files.clone()).unwrap_or_default(),
        at,
    }
}

fn renewed(reached: Reached) -> Result<Renewal, StoreError> {
    match reached {
        Reached::Answered(Answer::Held { ttl_ms }) => Ok(Renewal::Renewed(Duration::from_millis(ttl_ms))),
        Reached::Answered(Answer::Failed(fault)) => Err(fault.into()),
        Reached::Silent => Err(unanswered()),
        Reached::Answered(_) | Reached::Unnamed | Reached::Dead => Ok(Renewal::Gone),
    }
}
