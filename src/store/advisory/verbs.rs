//! The store's verbs, as far as locks without a table have them.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::store::{
    Acquisition, Blocker, Claim, Contents, Distance, Ending, FileRecord, Forced, ForcedEnd, HistoryFilter, Holding,
    LeaseView, Mode, PastLease, Receipt, Release, Renewal, Request, Revocation, Settlement, Store, StoreError,
    StoredReceipt, Theft,
};
use crate::terms::{GrantId, Resource, Scope};

use super::hired::{self, Reached};
use super::key::AdvisoryKey;
use super::quarantine::{self, Mark};
use super::server::Session;
use super::words::{Answer, Ask, Facts, HeldBy, Wanted, ms};
use super::{AdvisoryStore, SLACK, demand, name};

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
    fn keeps(&self) -> bool {
        false
    }

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

    fn revoke(&mut self, _resources: &[Resource], _theft: &Theft, _limit: Duration) -> Result<Revocation, StoreError> {
        Err(demand::refused("taking a live lock from its holder"))
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

    fn chains(&mut self, _scope: &Scope, _paths: &[&str], _limit: Duration) -> Result<Vec<StoredReceipt>, StoreError> {
        Ok(Vec::new())
    }

    fn receipts_of(
        &mut self,
        _scope: &Scope,
        _contents: &Contents,
        _limit: Duration,
    ) -> Result<Vec<StoredReceipt>, StoreError> {
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
                // One that anybody may take is as good as free.
                Ending::Keep { reason, takeable: false, .. } | Ending::Elsewhere { reason, .. } => (self.outside.say)(
                    &format!("locked: {resource} was to be kept ({reason}), and the advisory store cannot: it is free"),
                ),
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
