//! What the keeper does for the lease: renew it, and finish the run when the wrapper cannot.
#![forbid(unsafe_code)]

mod told;

use std::time::Duration;

use crate::clock::{Clock as _, Moment};
use crate::state;
use crate::store::{FileRecord, Release, Renewal, Store};
use crate::supervise::{Beat, Begin, Cause, Duty, Hold, Outcome};
use crate::terms::FencingToken;

use super::Before;
use super::ending::{reached, settle_within};
use super::forced;
use super::job::Job;
use super::later::Later;
use super::loose;
use super::recheck;
use super::spool;
use super::tending::{self, Edit};
use super::words::Words;

/// What the keeper does for this job's lease.
pub(super) struct KeeperDuty<'a> {
    job: &'a Job<'a>,
    /// Opened when first needed: most commands end before the first heartbeat.
    store: Option<Box<dyn Store>>,
    words: Option<Words>,
    tokens: Vec<FencingToken>,
    before: Vec<Before>,
    carried: Vec<FileRecord>,
    /// Whether the lease is held still, or was given back while the command ran on.
    hold: Hold,
}

impl<'a> KeeperDuty<'a> {
    pub(super) fn new(job: &'a Job<'a>) -> Self {
        Self {
            job,
            store: None,
            words: None,
            tokens: Vec::new(),
            before: Vec::new(),
            carried: Vec::new(),
            hold: Hold::Held,
        }
    }

    fn is_forced(&self) -> bool {
        self.words.as_ref().is_some_and(|words| words.forced)
    }

    fn store(&mut self) -> Option<&mut Box<dyn Store>> {
        if self.store.is_none() {
            self.store = super::entry::open_untold(self.job.context, self.job.state, &self.job.store).ok();
        }
        self.store.as_mut()
    }
}

impl Duty for KeeperDuty<'_> {
    fn abandon(&mut self) {
        let grant = self.job.grant;
        if let Some(store) = self.store() {
            // A ticket that stays is skipped: its live file's lock falls with us.
            let _skipped_otherwise = store.leave_queue(grant, settle_within(store.as_ref()));
        }
    }

    fn begin(&mut self, words: &str) -> Result<Begin, String> {
        let words: Words = serde_json::from_str(words).map_err(|error| error.to_string())?;
        self.tokens = words.tokens();
        self.before = self.job.observe();
        for (before, base) in self.before.iter_mut().zip(&words.bases) {
            before.base.clone_from(base);
        }
        let begin = words.begin(self.job);
        self.carried.clone_from(&words.carried);
        self.words = Some(words);
        Ok(begin)
    }

    fn hang_up(&mut self) {
        self.store = None;
    }

    fn renew(&mut self, limit: Duration) -> Beat {
        if self.words.as_ref().is_some_and(|words| words.forced) {
            return Beat::Renewed(self.job.options.times.ttl);
        }
        let holding = self.job.holding(&self.tokens);
        let Some(store) = self.store() else { return Beat::Unknown };
        match store.renew(&holding, limit) {
            Ok(Renewal::Renewed(lasts)) => {
                // A connection is not kept from one beat to the next: others may want it.
                store.hang_up();
                Beat::Renewed(lasts)
            }
            Ok(Renewal::Revoked) => Beat::Lost(Cause::Revoked),
            Ok(Renewal::Gone) => Beat::Lost(Cause::Gone),
            Err(_) => {
                self.store = None;
                Beat::Unknown
            }
        }
    }

    fn look_again(&mut self, limit: Duration) -> Option<Cause> {
        let issues = self.words.as_ref().map_or(&[][..], |words| &words.issues);
        recheck::in_keeper(self.job, issues, limit)
    }

    fn give_back(&mut self) -> bool {
        let (job, tokens) = (self.job, self.tokens.clone());
        // A run by force holds nothing.
        let told = self.is_forced()
            || self.store().is_some_and(|store| {
                let (limit, decision) = (settle_within(store.as_ref()), loose::decision(Outcome::Exited(0)));
                job.settle(store.as_mut(), &tokens, &decision, Vec::new(), limit).is_ok()
            });
        self.store = None;
        self.hold = if told { Hold::Given } else { Hold::Due };
        told
    }

    fn tend(&mut self) {
        let (job, tokens, carried) = (self.job, self.tokens.clone(), self.carried.clone());
        let edit = Edit::of(job, &self.before, &carried);
        tending::tend(&edit, |settlement| {
            let told = self.store().map(|store| {
                let limit = settle_within(store.as_ref());
                store.settle(&job.holding(&tokens), settlement, limit).is_ok()
            });
            self.store = None;
            told.unwrap_or(false)
        });
    }

    fn finish(&mut self, outcome: Outcome, deadline: Moment) {
        let (job, tokens) = (self.job, self.tokens.clone());
        let before = self.before.clone();
        let (mut decision, receipts) = match self.hold {
            Hold::Given if !self.is_forced() => {
                return self.is_settled(outcome, &loose::decision(outcome), Release::Released, true);
            }
            Hold::Due => (loose::decision(outcome), Vec::new()),
            // What ran by force is still to be noted, as it ended.
            Hold::Held | Hold::Given => {
                let later = self.words.as_ref().map(|words| Later::proven(job, outcome, words)).unwrap_or_default();
                let carried = self.carried.clone();
                let store = if self.is_forced() { None } else { self.store() };
                let store = store.map(|store| &mut **store as &mut dyn Store);
                let (decision, receipts) = job.decide(outcome, &before, &carried, &later, store);
                let receipts = self.words.as_ref().map_or_else(Vec::new, |words| words.with_accepted(receipts));
                (decision, receipts)
            }
        };
        if let Some(words) = self.words.as_ref().filter(|words| words.forced) {
            decision = forced::reached(job, outcome, decision, words, &receipts);
            let ends = spool::end_of(&decision, job.options.times.ttl);
            // What cannot be recorded stays as it was written at the start: unsettled.
            let _unsettled = forced::note(job, words, &before, (ends, decision.note.as_deref()), receipts);
            return;
        }
        if let Some(store) = self.store().filter(|_| job.plan.rotates()) {
            decision = reached(job, outcome, decision, &receipts, store.as_mut());
        }
        loop {
            let settled = self.store().map(|store| {
                let limit = settle_within(store.as_ref());
                (job.settle(store.as_mut(), &tokens, &decision, receipts.clone(), limit), store.keeps())
            });
            if let Some((Ok(release), keeps)) = settled {
                // What carries the connection (an ssh client) is below us, where only what could not be stopped is looked for.
                self.store = None;
                self.is_settled(outcome, &decision, release, keeps);
                // Where the command's own process does this, its caller waits for it.
                if decision.is_open_edit() && keeps && release == Release::Released && !cfg!(windows) {
                    self.tend();
                }
                return;
            }
            self.store = None;
            if job.context.clock.now() >= deadline {
                self.leave_word(&decision, receipts);
                // Nothing of ours runs, and the TTL has passed: there is nothing left to prove.
                state::discard(job.state, job.grant);
                return;
            }
            rest();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "between two attempts to settle there is nothing to wait for")]
fn rest() {
    std::thread::sleep(Duration::from_millis(100));
}
