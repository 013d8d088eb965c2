//! The course of a lease while a command runs under it: when to renew, when to stop. Pure; the moment is passed in, and
//! the keeper does what it says.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::Moment;
use crate::terms::Times;

use super::{Beat, Cause, Hold, Outcome, Watch};

/// A deadline that is missed by this much was slept through: the machine was suspended, or we were stopped.
const SLEPT_THROUGH: Duration = Duration::from_secs(1);

/// How often to look whether everything has stood still, where the command must not just go on after that.
pub(super) const LOOKS: Duration = Duration::from_secs(1);

/// Between two such looks there was a pause when they are this far apart: a suspend, a frozen container, a signal that
/// stopped us along with the command. A busy machine is late by less.
const STOOD_STILL: Duration = Duration::from_secs(3);

/// How soon a store that could not be told of a lease given back is told again, at most.
const TELL_AGAIN: Duration = Duration::from_secs(10);

/// Where the command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It lives and the lease is renewed.
    Running,
    /// It ended by itself; the lease is renewed until the wrapper has settled.
    Ended(Outcome),
    /// Its tree was stopped; nothing is renewed any more.
    Stopped(Outcome),
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Wait for something to happen.
    Wait,
    /// Renew, and tell what came of it.
    Beat,
    /// The deadline was slept through, or the command goes on after it stood still: freeze the tree, renew once, and tell.
    FreezeAndBeat,
    /// Give the lease back, and tell what came of it; the command runs on.
    GiveBack,
    /// Stop the tree.
    Stop(Cause),
}

/// The course.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course {
    watch: Watch,
    phase: Phase,
    /// When the tree must be stopped, unless a renew comes first.
    stop_at: Moment,
    /// When the store may let others in.
    ends_at: Moment,
    next_beat: Moment,
    /// Since when the job is stopped (Ctrl-Z).
    halted: Option<Moment>,
    hold: Hold,
    /// When the lease is to be given back, or the store to be told of that again.
    give_back_at: Option<Moment>,
    pauses: Option<Pauses>,
}

/// What is known of pauses of everything, ourselves included, which no event tells of.
#[derive(Debug, Clone, Copy)]
struct Pauses {
    /// When we were last seen to go on.
    seen: Moment,
    /// A renew took longer than it may; it was not answered since.
    in_a_renew: bool,
    /// There was one, and nobody has looked since whether the command may go on.
    unseen: bool,
}

impl Course {
    /// The command begins under a grant that was asked for at `sent` and given for `lasts`.
    pub(super) fn new(watch: Watch, sent: Moment, lasts: Duration) -> Self {
        let stop_at = sent.after(watch.times.stop_after(lasts));
        let next_beat = sent.after(watch.times.heartbeat);
        let ends_at = sent.after(lasts);
        let (phase, hold) = (Phase::Running, Hold::Held);
        Self { watch, phase, stop_at, ends_at, next_beat, halted: None, hold, give_back_at: None, pauses: None }
    }

    /// After whatever pause the command must not just go on: it may be old news by then that it may.
    pub(super) fn asks_again(&mut self, now: Moment) {
        self.pauses = Some(Pauses { seen: now, in_a_renew: false, unseen: false });
    }

    /// We go on: to be told whenever we are about to wait, and have waited.
    pub(super) fn goes_by(&mut self, now: Moment) {
        if let Some(pauses) = &mut self.pauses {
            pauses.unseen |= now >= pauses.seen.after(STOOD_STILL);
            pauses.seen = now;
        }
    }

    /// It was asked whether the command may go on, and it may; that took until now.
    pub(super) fn may_go_on(&mut self, now: Moment) {
        if self.pauses.is_some() {
            self.asks_again(now);
        }
    }

    /// Something of the tree goes on that had stood still.
    pub(super) fn goes_on(&self) -> Act {
        let asks = self.pauses.is_some() && self.phase == Phase::Running && !self.hold.is_over();
        if asks { Act::FreezeAndBeat } else { Act::Wait }
    }

    /// The lease is held without a command, from a renew that was sent at `sent` and gave the whole TTL: it is renewed as
    /// after a command's end, and there is nothing to stop.
    pub(super) fn without_a_command(times: Times, sent: Moment, lasts: Duration) -> Self {
        let stopped_max = times.ttl;
        let watch = Watch { times, stopped_max, give_back: None, edits_unseen: false };
        let mut course = Self::new(watch, sent, lasts);
        course.ended(Outcome::Exited(0));
        course
    }

    /// The command was started.
    pub(super) fn started(&mut self, now: Moment) {
        self.give_back_at = self.watch.give_back.map(|span| now.after(span));
    }

    /// What has become of the lease so far.
    pub(super) fn hold(&self) -> Hold {
        self.hold
    }

    /// The lease's time is over. While the store is not `told` it is asked again, as long as there is a lease to give back.
    pub(super) fn given_back(&mut self, told: bool, now: Moment) {
        let again = now.after(self.watch.times.heartbeat.min(TELL_AGAIN));
        self.hold = if told { Hold::Given } else { Hold::Due };
        self.give_back_at = Some(again).filter(|&again| !told && again < self.ends_at);
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// When the store may let others in, unless a renew comes first.
    pub(super) fn ends_at(&self) -> Moment {
        self.ends_at
    }

    /// The job is stopped (Ctrl-Z).
    pub(super) fn is_halted(&self) -> bool {
        self.halted.is_some()
    }

    /// How long a tree that is stopped now gets between TERM and KILL: `usual`, but never longer than is left before
    /// others may come in, and no time at all when somebody may be in already.
    pub(super) fn grace(&self, cause: Cause, usual: Duration, now: Moment) -> Duration {
        match cause {
            // Nobody is kept waiting.
            _ if self.hold.is_over() => usual,
            Cause::Gone => Duration::ZERO,
            _ => usual.min(now.until(self.stop_at.after(self.watch.times.grace))),
        }
    }

    /// When the tree must be stopped, unless a renew comes first.
    pub(super) fn stop_at(&self) -> Moment {
        self.stop_at
    }

    /// When to look at the clock again, whatever happens.
    pub(super) fn wake_at(&self) -> Option<Moment> {
        match self.phase {
            Phase::Running if self.hold.is_over() => self.give_back_at,
            _ if self.hold.is_over() => None,
            Phase::Running => {
                let give_back_at = self.give_back_at.filter(|_| self.halted.is_none());
                let look_at =
                    self.pauses.map(|pauses| pauses.seen.after(if self.paused() { Duration::ZERO } else { LOOKS }));
                let own = [Some(self.next_beat), Some(self.stop_at), self.halt_ends()];
                own.into_iter().chain([give_back_at, look_at]).flatten().min()
            }
            Phase::Ended(_) => Some(self.next_beat),
            Phase::Stopped(_) => None,
        }
    }

    /// What the clock asks for.
    pub(super) fn act(&self, now: Moment) -> Act {
        match self.phase {
            Phase::Stopped(_) => Act::Wait,
            Phase::Running if self.hold.is_over() && self.gives_back(now) => Act::GiveBack,
            _ if self.hold.is_over() => Act::Wait,
            Phase::Running if self.halt_ends().is_some_and(|ends| now >= ends) => Act::Stop(Cause::StoppedJob),
            Phase::Running if now >= self.stop_at.after(SLEPT_THROUGH) || self.paused() => Act::FreezeAndBeat,
            Phase::Running if now >= self.stop_at => Act::Stop(Cause::Deadline),
            // A job that is stopped does not get on with what its lease is for.
            Phase::Running if self.halted.is_none() && self.gives_back(now) => Act::GiveBack,
            _ if now >= self.next_beat => Act::Beat,
            _ => Act::Wait,
        }
    }

    /// How long a renew that is sent now may take: no longer than until the deadline, so that one that hangs cannot
    /// delay it, nor longer than a heartbeat, so that the next one gets its try.
    pub(super) fn patience(&self, now: Moment) -> Duration {
        now.until(self.stop_at).min(self.watch.times.heartbeat).max(Duration::from_millis(50))
    }

    /// The same for a renew that is sent while nothing runs: it may take its time.
    pub(super) fn patience_while_nothing_runs(&self) -> Duration {
        self.watch.times.heartbeat.max(Duration::from_secs(2))
    }

    /// What a renew came to that was sent at `sent` and answered at `now`.
    pub(super) fn beaten(&mut self, beat: Beat, sent: Moment, now: Moment) -> Act {
        let is_late = now >= sent.after(self.patience(sent)).after(STOOD_STILL);
        self.goes_by(sent);
        if let Some(pauses) = &mut self.pauses {
            pauses.seen = now;
            pauses.in_a_renew |= is_late;
            // Where the store is out of reach the deadline decides, and nobody else is asked.
            pauses.unseen |= pauses.in_a_renew && matches!(beat, Beat::Renewed(_));
            pauses.in_a_renew &= !pauses.unseen;
        }
        match beat {
            Beat::Renewed(lasts) => {
                self.stop_at = sent.after(self.watch.times.stop_after(lasts));
                self.ends_at = sent.after(lasts);
                self.next_beat = sent.after(self.watch.times.heartbeat);
                Act::Wait
            }
            // The wrapper may be settling at this very moment: what it finds decides.
            Beat::Lost(_) if self.phase != Phase::Running => {
                self.next_beat = now.after(self.watch.times.ttl);
                Act::Wait
            }
            Beat::Lost(cause) => Act::Stop(cause),
            // One failed renew kills nothing; ask again soon, until the deadline.
            Beat::Unknown => {
                self.next_beat = now.after((self.watch.times.heartbeat / 4).min(Duration::from_secs(1)));
                Act::Wait
            }
        }
    }

    /// What a renew came to that was sent while nothing ran: the program not started yet, or its tree frozen. Nothing
    /// may run on without time.
    pub(super) fn beaten_while_nothing_runs(&mut self, beat: Beat, sent: Moment, now: Moment) -> Act {
        let act = self.beaten(beat, sent, now);
        if let Some(pauses) = &mut self.pauses {
            (pauses.in_a_renew, pauses.unseen) = (false, false);
        }
        match act {
            Act::Wait if now >= self.stop_at => Act::Stop(Cause::Deadline),
            act => act,
        }
    }

    /// The job was stopped or goes on.
    pub(super) fn halted(&mut self, since: Option<Moment>) {
        self.halted = since;
    }

    /// The command ended by itself.
    pub(super) fn ended(&mut self, outcome: Outcome) {
        self.phase = Phase::Ended(outcome);
    }

    /// The tree was stopped.
    pub(super) fn stopped(&mut self, outcome: Outcome) {
        self.phase = Phase::Stopped(outcome);
    }

    /// A job that is stopped is asked about when it goes on.
    fn paused(&self) -> bool {
        self.halted.is_none() && self.pauses.is_some_and(|pauses| pauses.unseen)
    }

    fn gives_back(&self, now: Moment) -> bool {
        self.give_back_at.is_some_and(|at| now >= at)
    }

    fn halt_ends(&self) -> Option<Moment> {
        self.halted.map(|since| since.after(self.watch.stopped_max))
    }
}

#[cfg(test)]
mod tests;
