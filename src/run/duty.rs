//! What the keeper does for the lease: renew it, and finish the run when the wrapper cannot.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::{Clock as _, Moment};
use crate::settle::Decision;
use crate::state;
use crate::store::{Ended, Ending, FileRecord, Forced, ForcedEnd, Live, Receipt, Release, Renewal, Store};
use crate::supervise::{Beat, Begin, Cause, Duty, Hold, Outcome};
use crate::terms::{Digest, FencingToken, GrantId};

use super::Before;
use super::account;
use super::ending::{reached, settle_within};
use super::forced;
use super::job::Job;
use super::later::Later;
use super::loose;
use super::recheck;
use super::spool::{self, News};
use super::tending::{self, Edit};

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

    pub(super) fn begin(&self, job: &Job<'_>) -> Begin {
        let held = job.plan.resources.iter().filter(|_| !self.forced);
        let names = held.map(|resource| resource.name.to_string()).collect::<Vec<_>>().join(" ");
        let tokens = self.tokens.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        Begin {
            sent: Moment(Duration::from_millis(self.sent)),
            lasts: Duration::from_millis(self.lasts),
            variables: vec![
                ("LOCKED_RESOURCES".to_owned(), names),
                ("LOCKED_TOKENS".to_owned(), tokens),
                ("LOCKED_LEASE".to_owned(), job.grant.to_string()),
                ("LOCKED_HOLDER".to_owned(), job.owner.session.short()),
            ]
            .into_iter()
            .chain(job.options.issue.iter().map(|issue| ("LOCKED_ISSUE".to_owned(), issue.to_string())))
            .collect(),
        }
    }
}

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

    fn is_settled(&self, outcome: Outcome, decision: &Decision, release: Release, keeps: bool) {
        state::discard(self.job.state, self.job.grant);
        self.give_account(outcome, decision, release, keeps);
    }

    /// The wrapper was killed while the command ran, so it cannot tell how that went; its exit is not known here.
    fn give_account(&self, outcome: Outcome, decision: &Decision, release: Release, keeps: bool) {
        let (Some(Cause::WrapperDied), Some(words)) = (outcome.cause(), &self.words) else { return };
        let account = &self.job.context.account;
        account.runs(&self.job.tokens_of(&self.tokens));
        let loose = self.hold.is_over().then(|| (loose::ACCOUNT.0, Some(loose::ACCOUNT.1.to_owned())));
        let (word, why) = loose.unwrap_or_else(|| account::account_of(outcome, decision, &Ok(release), keeps));
        account.ended(word, words.held(self.job), why.as_deref());
        account.write();
    }

    /// The store was down until the lease ended: whoever finds it up again tells it.
    fn leave_word(&self, decision: &Decision, receipts: Vec<Receipt>) {
        let Some(live) = self.words.as_ref().and_then(|words| words.live) else { return };
        let bad = self.bad_of(decision);
        let news = News::Settled(self.job.holding(&self.tokens), Job::settlement(decision, receipts), bad);
        // What cannot be written either is found by the next writer, who proves the files.
        let _found_by_the_next = spool::write(self.job.state, &self.job.store, self.job.grant, live, news);
    }

    /// What of the lease is bad, as a record of its own: the lease's row may have ended by then.
    fn bad_of(&self, decision: &Decision) -> Option<Forced> {
        let whole = self.job.plan.resources.iter().map(|resource| (resource.clone(), &decision.ending));
        let endings = whole.filter(|_| decision.apart.is_empty());
        let endings = endings.chain(decision.apart.iter().map(|(resource, ending)| (resource.clone(), ending)));
        let bad: Vec<_> = endings
            .filter_map(|(resource, ending)| match ending {
                Ending::Quarantine { reason } => Some((resource, ForcedEnd::Quarantine { reason: reason.clone() })),
                _ => None,
            })
            .collect();
        let now = self.job.context.clock.wall_ms();
        let held = self.words.as_ref().map(|words| words.held(self.job)).unwrap_or_default();
        (!bad.is_empty()).then(|| Forced {
            grant: GrantId::random(),
            owner: self.job.owner.clone(),
            resources: bad.iter().map(|(resource, _)| resource.clone()).collect(),
            reason: "its lease was over before the store could be told".to_owned(),
            began_at: now.saturating_sub(i64::try_from(held.as_millis()).unwrap_or_default()),
            ended_at: now,
            files: self.job.records(&self.before),
            receipts: Vec::new(),
            end: ForcedEnd::Ended(Ended::Failed),
            apart: bad,
        })
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
        recheck::in_keeper(self.job, limit)
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
        if let Some(store) = self.store().filter(|_| job.plan.rotates()) {
            decision = reached(job, outcome, decision, &receipts, store.as_mut());
        }
        if let Some(words) = self.words.as_ref().filter(|words| words.forced) {
            // What cannot be recorded stays as it was written at the start: unsettled.
            let _unsettled =
                forced::note(job, words, &before, spool::end_of(&decision, job.options.times.ttl), receipts);
            return;
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
                if decision.is_open_edit() && keeps && release == Release::Released {
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
