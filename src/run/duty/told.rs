//! What is told when it is over: to the report and to the log, and to whoever finds the store up again.
#![forbid(unsafe_code)]

use crate::clock::Clock as _;
use crate::run::account;
use crate::run::job::Job;
use crate::run::loose;
use crate::run::spool::{self, News};
use crate::settle::Decision;
use crate::state;
use crate::store::{Ended, Ending, Forced, ForcedEnd, Receipt, Release};
use crate::supervise::{Cause, Outcome};
use crate::terms::GrantId;

use super::KeeperDuty;

impl KeeperDuty<'_> {
    /// The store knows how it ended.
    pub(super) fn is_settled(&self, outcome: Outcome, decision: &Decision, release: Release, keeps: bool) {
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
    pub(super) fn leave_word(&self, decision: &Decision, receipts: Vec<Receipt>) {
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
}
