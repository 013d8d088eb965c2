//! The end of a run under a lease: what its outcome means, told to the store and to people.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::exit::{self, Exit};
use crate::report::{self, Voice};
use crate::settle::Decision;
use crate::store::{
    Distance, Ended as As, Granted, HistoryFilter, LeaseState, Receipt, Release, Renewal, Settlement, Store, StoreError,
};
use crate::supervise::{Cause, Outcome, Wrapper};
use crate::terms::{FencingToken, Resource};

use super::consumers::{self, Left};
use super::follow::{Followed, Follower};
use super::hold::refuse;
use super::job::Job;
use super::later::Later;
use super::successor::Successor;
use super::words::Words;
use super::{account, base, on_lost, stale, tell};

/// How long giving the lease back may take before the keeper goes on with it. A server may be far away, and must be
/// connected to anew after a long command.
pub(super) fn settle_within(store: &dyn Store) -> Duration {
    match store.distance() {
        Distance::Near => Duration::from_secs(2),
        Distance::Far | Distance::Calling => Duration::from_secs(8),
    }
}

/// How a run ended.
pub(super) struct Ended {
    pub(super) exit: Exit,
    /// The lease may still stand: the keeper goes on with it, or it runs out.
    pub(super) unsettled: bool,
}

impl From<Exit> for Ended {
    fn from(exit: Exit) -> Self {
        Self { exit, unsettled: false }
    }
}

/// Something failed between the grant and the child. Nothing was run, so the lease goes back; if the store does not
/// take it, the live file stays as the proof that nobody has it.
pub(super) fn give_back(job: &Job<'_>, granted: &Granted, store: &mut dyn Store, error: &StoreError) -> Ended {
    let tokens: Vec<FencingToken> = granted.tokens.iter().map(|(_, token)| *token).collect();
    let settlement = Settlement::whole(base::undone(job, granted), Vec::new());
    let back = store.settle(&job.holding(&tokens), &settlement, settle_within(store));
    let exit = refuse(job.context, &report::store_down(error), super::status_of(error));
    Ended { exit, unsettled: back.is_err() }
}

/// What a run has come to when its command has ended.
pub(super) struct After<'a> {
    pub(super) outcome: Outcome,
    pub(super) before: &'a [super::Before],
    pub(super) words: &'a Words,
    /// Who follows what it set off elsewhere, where that is to be followed.
    pub(super) follower: Option<Follower<'a>>,
    /// Who looks after an open edit.
    pub(super) successor: Successor,
}

impl After<'_> {
    /// Follows what the command set off elsewhere; none when there is nothing to follow. The command itself has ended
    /// under the lease if a renew says so now: what becomes of the lease later takes nothing from its success.
    fn follow(&self, job: &Job<'_>, store: &mut dyn Store, wrapper: &Wrapper) -> Option<Followed> {
        let follower = self.follower.as_ref().filter(|_| job.succeeded(self.outcome))?;
        let renewed = store.renew(&job.holding(&self.words.tokens()), settle_within(store));
        // It may take hours, and others want the connection.
        store.hang_up();
        let ours = !matches!(renewed, Ok(Renewal::Revoked | Renewal::Gone));
        ours.then(|| follower.follow(wrapper))
    }
}

/// Everything from here on yields values: no path out of it forgets the lease.
pub(super) fn finish(job: &Job<'_>, after: After<'_>, store: &mut dyn Store, wrapper: Wrapper) -> Ended {
    let After { outcome, before, words, .. } = after;
    let followed = after.follow(job, store, &wrapper);
    let later = match followed {
        None => Later::proven(job, outcome, words),
        Some(Followed::Over) => Later::followed(job, outcome, words),
        Some(Followed::Lost) => Later { followed: true, unproven: None },
        Some(Followed::Left(_)) => Later::default(),
    };
    let (mut decision, receipts) = job.decide(outcome, before, &words.carried, &later, Some(&mut *store));
    let proofs = receipts.len();
    let receipts = words.with_accepted(receipts);
    let limit = settle_within(store);
    decision = reached(job, outcome, decision, &receipts, store);
    let settled = job.settle(store, &words.tokens(), &decision, receipts.clone(), limit);
    if job.succeeded(outcome) && matches!(settled, Ok(Release::Released)) {
        stale::remember(job, before, &receipts);
    }
    let (word, why) = account::account_of(outcome, &decision, &settled, store.keeps());
    job.context.account.ended(word, words.held(job), why.as_deref());
    let lost_at_settling = matches!(settled, Ok(Release::NotOurs)) || outcome.cause().is_some_and(Cause::is_loss);
    if !store.keeps() {
        // The store has said so itself where it matters.
        decision = decision.unkept();
    }
    if matches!(settled, Ok(Release::Released)) && decision.says_how_long() {
        let live = store.leases(Some(&job.plan.resources), limit).unwrap_or_default();
        let ours = |it: &Resource| live.iter().find(|lease| lease.resource == *it && lease.grant == job.grant);
        decision = decision.lasting(&|resource| ours(resource)?.expires_in);
    }
    let now = lost_at_settling.then(|| holder_now(job, store)).flatten();
    // Who does not wait for us takes it at once, and then ours is gone.
    let may_be_taken =
        matches!(outcome.cause(), Some(Cause::Revoked | Cause::Gone)) || matches!(settled, Ok(Release::NotOurs));
    let taken = may_be_taken.then(|| taken_by(job, &words.tokens(), store)).flatten();
    if let Some(taken) = &taken {
        let how = outcome.cause().unwrap_or(Cause::Gone).clause();
        job.context.account.because(&format!("the lease {how} ({taken})"));
    }
    tell::tell(job, outcome, &decision, (now.as_deref(), taken.as_deref()), &words.issues);
    if job.context.voice == Voice::Verbose {
        let back = if settled.is_ok() { back(job, store) } else { Vec::new() };
        report::say(&report::settled(&decision, &job.plan.resources, &back, proofs));
    }
    let mut lost = outcome.cause().filter(|cause| cause.is_loss());
    let mut ended = Ended::from(decision.exit);
    match settled {
        // The keeper goes on with it for as long as the process lives.
        Ok(Release::Released) if matches!(outcome, Outcome::Stuck { .. }) => {
            wrapper.leave_to_keeper();
            ended.unsettled = true;
        }
        Ok(Release::Released) if decision.is_open_edit() => after.successor.tend(job, before, words, wrapper),
        Ok(Release::Released) => wrapper.dismiss(),
        Ok(Release::NotOurs) => {
            wrapper.dismiss();
            if followed.is_some() {
                report::say(&report::lost_later(&job.wanted(), now.as_deref()));
            } else if lost.is_none() {
                report::say(&report::lost_by_the_end(&job.wanted(), now.as_deref(), taken.as_deref()));
                (lost, ended) = (Some(Cause::Gone), Exit::Code(exit::LOST).into());
            }
        }
        Err(error) => {
            report::say(&report::kept_by_keeper(&job.wanted(), &error.to_string()));
            wrapper.leave_to_keeper();
            ended.unsettled = true;
        }
    }
    // Order: after the settling, so that whom the command tells finds the lease as it is.
    if let Some(cause) = lost {
        on_lost::run(job, cause);
    }
    ended
}

/// What its session holds by its own word again, if the store can say.
fn back(job: &Job<'_>, store: &mut dyn Store) -> Vec<Resource> {
    let live = store.leases(Some(&job.plan.resources), settle_within(store)).unwrap_or_default();
    let ours = live.into_iter().filter(|it| it.session == job.owner.session && it.explicit);
    ours.filter(|it| it.state == LeaseState::Held).map(|it| it.resource).collect()
}

/// Who has what was ours, if the store can say.
fn holder_now(job: &Job<'_>, store: &mut dyn Store) -> Option<String> {
    let live = store.leases(Some(&job.plan.resources), settle_within(store)).ok()?;
    let other = live.iter().find(|lease| lease.grant != job.grant)?;
    Some(format!("{} ({})", other.session, other.label))
}

/// Who took it away, and why, if the store can say: in the row of ours, which has ended or lives on.
fn taken_by(job: &Job<'_>, tokens: &[FencingToken], store: &mut dyn Store) -> Option<String> {
    let limit = settle_within(store);
    let live = store.leases(Some(&job.plan.resources), limit).ok()?;
    let ours = live.into_iter().filter(|lease| lease.grant == job.grant).find_map(|lease| lease.reason);
    let ours = ours.filter(|reason| reason.contains("revoked"));
    let mut past = |(resource, token): (Resource, FencingToken)| {
        let filter = HistoryFilter { name: Some(resource.name.to_string()), limit: Some(LAST), since: None };
        let rows = store.history(&filter, limit).ok()?;
        rows.into_iter().find(|row| row.resource == resource && row.token == token && row.ended_as == As::Stolen)?.note
    };
    ours.or_else(|| job.tokens_of(tokens).into_iter().find_map(&mut past))
}

/// So many ended leases of a resource are looked at for ours, which has ended a moment ago.
const LAST: u32 = 20;

/// A rotation is completed when everybody who has the secret has learnt of its new value, or when somebody says that it is.
/// Where nobody can tell it is not completed.
pub(super) fn reached(
    job: &Job<'_>,
    outcome: Outcome,
    mut decision: Decision,
    receipts: &[Receipt],
    store: &mut dyn Store,
) -> Decision {
    if !job.succeeded(outcome) || !store.keeps() {
        return decision;
    }
    let limit = settle_within(store);
    for rotation in job.plan.resources.iter().filter(|resource| resource.name.is_rotation()) {
        let left = consumers::left(job.context, store, rotation, job.owner.session, receipts, limit);
        let left = left.unwrap_or_else(|error| Left { unseen: Some(error.to_string()), ..Left::default() });
        if left.is_nothing() || left.goes_on {
            continue;
        }
        decision = match job.options.consumers_ok {
            true => decision.noting(left.noted()),
            false => decision.held_back(rotation, left.shown(), job.options.times.ttl),
        };
    }
    decision
}
