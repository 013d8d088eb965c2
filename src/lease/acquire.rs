//! Ask, wait, give up: all or none.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::{Clock, Moment};
use crate::store::{Acquisition, Ahead, Blocker, Granted, LeaseView, Live, Mode, Request, Store, StoreError};
use crate::terms::GrantId;

use super::pause::pause;

/// How long one call of the store may take.
pub(super) const CALL: Duration = Duration::from_secs(10);
/// A waiter that was silent for this long is skipped by others.
pub(super) const SILENCE: Duration = Duration::from_secs(4);
/// Proofs that somebody is gone cost a look at files and processes; one look a second is enough.
const PROVE_EVERY: Duration = Duration::from_millis(500);

/// May the request wait, and for how long?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// One try.
    None,
    /// Up to this long.
    Wait(Duration),
}

impl Patience {
    /// That of a wait of this length; one of no length is one try.
    #[must_use]
    pub fn of(wait: Duration) -> Self {
        if wait.is_zero() { Self::None } else { Self::Wait(wait) }
    }
}

/// Who can tell whether somebody is provably gone. Each answer `false` means only "not proven".
pub trait Witness {
    /// Are wrapper, keeper and every process of this lease gone?
    fn holder_gone(&self, grant: GrantId, live: Live, host_id: &str) -> bool;
    /// Is the wrapper of this lease an ancestor process of ours?
    fn is_above_us(&self, lease: &LeaseView) -> bool;
    /// Is this waiter gone?
    fn waiter_gone(&self, grant: GrantId, live: Live, host_id: &str) -> bool;
}

/// What a waiter is told.
#[derive(Debug, Clone, Copy)]
pub struct Notice<'a> {
    /// Leases in the way.
    pub blockers: &'a [Blocker],
    /// Our place in the queue; the first is 1.
    pub place: usize,
    /// How long we have waited.
    pub waited: Duration,
}

/// Everything that asking needs.
pub struct Asker<'a> {
    /// The store.
    pub store: &'a mut dyn Store,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// Who proves others gone.
    pub witness: &'a dyn Witness,
    /// Called at every look while we wait.
    pub notice: &'a mut dyn FnMut(Notice<'_>),
}

impl Asker<'_> {
    /// Finds out that one of those in the way is a command above us, where nothing has said so; then it is asked again, as
    /// from below that. Who is none is `looked` at once: that goes through every process above us.
    pub(super) fn stands_below(&self, request: &mut Request, blockers: &[Blocker], looked: &mut Vec<GrantId>) -> bool {
        let unknown = request.within.is_none();
        let mut new = blockers.iter().filter(|it| unknown && !looked.contains(&it.lease.grant));
        let above = new.find(|it| self.witness.is_above_us(&it.lease));
        request.within = above.map(|above| above.lease.grant).or(request.within);
        looked.clear();
        looked.extend(blockers.iter().map(|it| it.lease.grant));
        above.is_some()
    }
}

/// Not granted.
#[derive(Debug)]
pub struct Busy {
    /// Leases in the way; empty when only older requests are.
    pub blockers: Vec<Blocker>,
    /// Older requests.
    pub ahead: Vec<Ahead>,
    /// How long we have waited.
    pub waited: Duration,
    /// Waiting would close a circle.
    pub deadlock: bool,
}

/// The end of asking.
#[derive(Debug)]
#[must_use]
pub enum Obtained {
    /// Every resource is ours; `sent` is when the request was sent that the store granted.
    Granted {
        /// The grant.
        granted: Granted,
        /// When it was asked for.
        sent: Moment,
    },
    /// Somebody else has at least one.
    Busy(Busy),
    /// At least one is quarantined: waiting would not help.
    Quarantined(Busy),
}

/// Asks until every resource is granted, one is quarantined, or patience ends. A request that gives up leaves no place
/// in the queue.
///
/// # Errors
/// The store could not answer. Nothing is held: a grant whose answer was lost ends by its short first term.
pub fn acquire(mut request: Request, patience: Patience, asker: &mut Asker<'_>) -> Result<Obtained, StoreError> {
    let began = asker.clock.now();
    let limit = match patience {
        Patience::None => Duration::ZERO,
        Patience::Wait(limit) => limit,
    };
    request.mode = if limit.is_zero() { Mode::Try } else { Mode::Wait { silence: SILENCE } };
    let (mut prover, mut looked) = (Prover { last: None }, Vec::new());
    loop {
        let sent = asker.clock.now();
        let answer = asker.store.acquire(&request, CALL)?;
        let (blockers, ahead, deadlock) = match answer {
            Acquisition::Granted(granted) => return Ok(Obtained::Granted { granted, sent }),
            Acquisition::Busy { blockers, ahead, deadlock } => (blockers, ahead, deadlock),
        };
        let now = asker.clock.now();
        let waited = began.until(now);
        if blockers.iter().any(Blocker::quarantined) {
            leave(&request, asker);
            return Ok(Obtained::Quarantined(Busy { blockers, ahead, waited, deadlock }));
        }
        // sudo drops the environment; the process tree still says whose child we are.
        if asker.stands_below(&mut request, &blockers, &mut looked) {
            continue;
        }
        if deadlock {
            leave(&request, asker);
            return Ok(Obtained::Busy(Busy { blockers, ahead, waited, deadlock }));
        }
        if prover.due(now) {
            request.gone = prove(&blockers, &ahead, asker.witness);
            if !request.gone.is_empty() {
                continue;
            }
        }
        if waited >= limit {
            leave(&request, asker);
            return Ok(Obtained::Busy(Busy { blockers, ahead, waited, deadlock }));
        }
        let place = ahead.len() + 1;
        (asker.notice)(Notice { blockers: &blockers, place, waited });
        let span = pause(asker.store.distance(), place, jitter(now)).min(began.after(limit).0.saturating_sub(now.0));
        asker.store.await_change(&request.resources, place, span);
    }
}

/// Looks for proofs at the first busy answer and then every now and then.
struct Prover {
    last: Option<Moment>,
}

impl Prover {
    fn due(&mut self, now: Moment) -> bool {
        let due = self.last.is_none_or(|last| last.until(now) >= PROVE_EVERY);
        if due {
            self.last = Some(now);
        }
        due
    }
}

fn prove(blockers: &[Blocker], ahead: &[Ahead], witness: &dyn Witness) -> Vec<GrantId> {
    let holders = blockers.iter().filter(|blocker| blocker.reclaimable_when_gone);
    let holders =
        holders.filter_map(|blocker| Some((blocker.lease.grant, blocker.lease.live?, &blocker.lease.host_id)));
    let waiters = ahead.iter().filter_map(|ahead| Some((ahead.grant, ahead.live?, &ahead.host_id)));
    let mut gone: Vec<GrantId> =
        holders.filter(|(grant, live, host)| witness.holder_gone(*grant, *live, host)).map(|h| h.0).collect();
    gone.extend(waiters.filter(|(grant, live, host)| witness.waiter_gone(*grant, *live, host)).map(|w| w.0));
    gone.dedup();
    gone
}

pub(super) fn leave(request: &Request, asker: &mut Asker<'_>) {
    // A ticket that stays falls silent and is skipped, so a store that cannot answer now changes nothing.
    let _silence_does_the_rest = asker.store.leave_queue(request.grant, CALL);
}

fn jitter(now: Moment) -> u64 {
    u64::from(now.0.subsec_nanos()) ^ (u64::from(std::process::id()) << 7)
}
