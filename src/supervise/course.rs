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
                let look_at = self.pauses.map(|pauses| pauses.seen.after(LOOKS));
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
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(seconds: f64) -> Moment {
        Moment(Duration::from_secs_f64(1_000.0 + seconds))
    }

    fn watch(give_back: Option<Duration>) -> Watch {
        let times = Times::new(Some(30 * SECOND), None, None, None).expect("fits");
        Watch { times, stopped_max: times.ttl, give_back, edits_unseen: false }
    }

    /// One that gives its lease back a minute after its start at 1 s; renewed last at 55 s.
    fn giving() -> Course {
        let mut course = Course::new(watch(Some(60 * SECOND)), at(0.0), 30 * SECOND);
        course.started(at(1.0));
        for second in (5..60).step_by(5) {
            let now = at(f64::from(second));
            assert_eq!(course.act(now), Act::Beat);
            assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), now, now), Act::Wait);
        }
        course
    }

    /// TTL 30 s: heartbeat 5 s, deadline 20 s, grace 3 s, slack 2 s; the grant is renewed at once, so it lasts the TTL.
    fn course() -> Course {
        Course::new(watch(None), at(0.0), watch(None).times.ttl)
    }

    #[test]
    fn a_store_that_vanishes_stops_the_child_at_the_deadline_and_before_the_ttl() {
        let mut course = course();
        assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), at(5.0), at(5.1)), Act::Wait);
        let mut now = at(10.0);
        let mut tries = 0;
        while course.act(now) == Act::Beat {
            assert!(now.after(course.patience(now)) <= course.stop_at, "a renew that hangs ends before the deadline");
            assert_eq!(
                course.beaten(Beat::Unknown, now, now.after(SECOND / 10)),
                Act::Wait,
                "one failure kills nothing"
            );
            tries += 1;
            now = course.wake_at().expect("awake");
        }
        assert!(tries > 5, "it is tried until the end");
        assert_eq!(
            (now, course.act(now)),
            (at(25.0), Act::Stop(Cause::Deadline)),
            "20 s after the last good renew was sent"
        );
        let gone_by = now.after(3 * SECOND);
        assert!(gone_by < at(5.0 + 30.0), "grace included, before the store lets anyone in");
    }

    #[test]
    fn the_deadline_counts_from_when_a_renew_was_sent_not_answered() {
        let mut course = course();
        assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), at(5.0), at(14.0)), Act::Wait);
        assert_eq!(course.stop_at, at(25.0));
    }

    #[test]
    fn a_short_grant_brings_the_deadline_forward() {
        let mut course = course();
        assert_eq!(course.beaten(Beat::Renewed(10 * SECOND), at(5.0), at(5.0)), Act::Wait);
        assert_eq!(course.stop_at, at(10.0), "10 s − 3 s grace − 2 s slack after it was sent");
    }

    #[test]
    fn what_is_lost_is_stopped_at_once() {
        for cause in [Cause::Gone, Cause::Revoked] {
            assert_eq!(course().beaten(Beat::Lost(cause), at(5.0), at(5.0)), Act::Stop(cause));
        }
    }

    #[test]
    fn a_deadline_slept_through_gives_the_lease_one_more_chance_with_the_tree_frozen() {
        let mut slept = course();
        assert_eq!(slept.act(at(500.0)), Act::FreezeAndBeat);
        assert_eq!(
            slept.beaten_while_nothing_runs(Beat::Renewed(30 * SECOND), at(500.0), at(500.1)),
            Act::Wait,
            "nobody took it"
        );
        assert_eq!(slept.act(at(501.0)), Act::Wait);
        for beat in [Beat::Unknown, Beat::Lost(Cause::Gone)] {
            assert!(matches!(course().beaten_while_nothing_runs(beat, at(500.0), at(500.1)), Act::Stop(_)), "{beat:?}");
        }
        let mut slow = course();
        assert!(
            matches!(slow.beaten_while_nothing_runs(Beat::Renewed(SECOND), at(500.0), at(502.0)), Act::Stop(_)),
            "over before it was told"
        );
    }

    /// One that may not just go on, with a TTL of half an hour: heartbeat 60 s, deadline 20 min.
    fn asking() -> Course {
        let times = Times::new(None, None, None, None).expect("fits");
        let watch = Watch { times, stopped_max: times.ttl, give_back: None, edits_unseen: false };
        let mut course = Course::new(watch, at(0.0), times.ttl);
        course.asks_again(at(0.0));
        course
    }

    #[test]
    fn a_pause_of_everything_is_seen_long_before_any_deadline() {
        let mut course = asking();
        for second in 0..50 {
            let now = at(f64::from(second));
            course.goes_by(now);
            assert_eq!(course.wake_at(), Some(now.after(SECOND)), "a look a second");
            // Late by a busy machine's doing.
            course.goes_by(now.after(2 * SECOND));
            assert_eq!(course.act(now.after(2 * SECOND)), Act::Wait);
        }
        course.goes_by(at(50.0));
        course.goes_by(at(53.0));
        assert_eq!(course.act(at(53.0)), Act::FreezeAndBeat);
        course.goes_by(at(53.0));
        course.goes_by(at(53.1));
        assert_eq!(course.act(at(53.1)), Act::FreezeAndBeat, "until somebody has looked");
        assert_eq!(course.beaten_while_nothing_runs(Beat::Renewed(1800 * SECOND), at(53.1), at(60.0)), Act::Wait);
        course.goes_by(at(60.0));
        assert_eq!((course.wake_at(), course.act(at(60.0))), (Some(at(61.0)), Act::Wait));
    }

    #[test]
    fn a_pause_in_the_middle_of_a_renew_is_seen_when_the_store_answers() {
        let lasts = Beat::Renewed(1800 * SECOND);
        let asking = || {
            let mut course = asking();
            course.asks_again(at(59.0));
            course
        };
        let mut slow = asking();
        assert_eq!(slow.beaten(lasts, at(60.0), at(119.0)), Act::Wait);
        assert_eq!(slow.act(at(119.0)), Act::Wait, "a heartbeat is what it may take");
        let mut paused = asking();
        assert_eq!(paused.beaten(lasts, at(60.0), at(123.0)), Act::Wait);
        assert_eq!(paused.act(at(123.0)), Act::FreezeAndBeat);
        let mut down = asking();
        assert_eq!(down.beaten(Beat::Unknown, at(60.0), at(123.0)), Act::Wait);
        assert_eq!(down.act(at(123.0)), Act::Wait, "one failed renew kills nothing");
        assert_eq!(down.beaten(lasts, at(124.0), at(124.1)), Act::Wait);
        assert_eq!(down.act(at(124.1)), Act::FreezeAndBeat);
    }

    #[test]
    fn a_pause_between_two_renews_is_seen_and_one_while_it_is_asked_is_none() {
        let mut course = asking();
        course.goes_by(at(56.0));
        assert_eq!(course.beaten_while_nothing_runs(Beat::Renewed(1800 * SECOND), at(56.0), at(56.1)), Act::Wait);
        course.may_go_on(at(66.0));
        course.goes_by(at(66.1));
        assert_eq!(course.act(at(66.1)), Act::Wait, "that was gh's time");
        assert_eq!(course.beaten(Beat::Renewed(1800 * SECOND), at(70.0), at(70.1)), Act::Wait);
        assert_eq!(course.act(at(70.1)), Act::FreezeAndBeat, "before the renew was sent");
    }

    #[test]
    fn what_stands_still_is_asked_about_when_it_goes_on() {
        let mut course = asking();
        course.halted(Some(at(1.0)));
        course.goes_by(at(9.0));
        assert_eq!(course.act(at(9.0)), Act::Wait, "it would run while it is asked");
        course.halted(None);
        assert_eq!((course.goes_on(), course.act(at(9.0))), (Act::FreezeAndBeat, Act::FreezeAndBeat));
        course.ended(Outcome::Exited(0));
        assert_eq!((course.goes_on(), course.act(at(9.0))), (Act::Wait, Act::Wait), "nothing goes on");
        let mut loose = asking();
        loose.given_back(true, at(1.0));
        loose.goes_by(at(9.0));
        assert_eq!((loose.goes_on(), loose.act(at(9.0))), (Act::Wait, Act::Wait), "there is no lease to lose");
        assert_eq!((loose.wake_at(), course.goes_on()), (None, Act::Wait));
    }

    #[test]
    fn what_has_nothing_to_ask_about_is_woken_by_no_look_and_no_pause() {
        let mut course = course();
        course.goes_by(at(0.0));
        assert_eq!(course.wake_at(), Some(at(5.0)), "the heartbeat");
        course.goes_by(at(15.0));
        assert_eq!((course.act(at(15.0)), course.goes_on()), (Act::Beat, Act::Wait));
    }

    #[test]
    fn what_was_granted_long_ago_is_renewed_before_anything_is_started() {
        let late = || {
            let course = course();
            assert_ne!(course.act(at(6.0)), Act::Wait, "a heartbeat has passed");
            course
        };
        assert_eq!(late().beaten_while_nothing_runs(Beat::Renewed(30 * SECOND), at(6.0), at(6.1)), Act::Wait);
        assert_eq!(late().beaten_while_nothing_runs(Beat::Unknown, at(6.0), at(6.1)), Act::Wait, "there is time left");
        assert_eq!(
            late().beaten_while_nothing_runs(Beat::Unknown, at(21.0), at(21.1)),
            Act::Stop(Cause::Deadline),
            "no time left"
        );
        let gone = late().beaten_while_nothing_runs(Beat::Lost(Cause::Gone), at(6.0), at(6.1));
        assert_eq!(gone, Act::Stop(Cause::Gone));
        assert_eq!(course().act(at(1.0)), Act::Wait, "the usual command costs no renew");
    }

    #[test]
    fn the_grace_ends_before_others_may_come_in() {
        let (usual, course) = (3 * SECOND, course());
        assert_eq!(course.grace(Cause::Deadline, usual, at(20.0)), 3 * SECOND);
        assert_eq!(course.grace(Cause::Deadline, usual, at(22.0)), SECOND, "late by two seconds");
        assert_eq!(course.grace(Cause::WrapperDied, SECOND / 2, at(22.8)), SECOND / 5);
        assert_eq!(course.grace(Cause::StoppedJob, usual, at(500.0)), Duration::ZERO);
        assert_eq!(course.grace(Cause::Gone, usual, at(1.0)), Duration::ZERO, "somebody may be in already");
        assert_eq!(course.grace(Cause::Revoked, usual, at(1.0)), 3 * SECOND, "it is ours until we end it");
    }

    #[test]
    fn a_stopped_job_is_renewed_for_a_while_and_then_stopped_for_good() {
        let mut course = course();
        course.halted(Some(at(1.0)));
        assert!(course.is_halted());
        for second in (5..30).step_by(5) {
            let now = at(f64::from(second));
            assert_eq!(course.act(now), Act::Beat);
            assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), now, now), Act::Wait);
        }
        assert_eq!(course.act(at(31.0)), Act::Stop(Cause::StoppedJob));
        course.halted(None);
        assert!(!course.is_halted());
        assert_eq!(course.act(at(31.0)), Act::Beat, "resumed in time, it goes on");
    }

    #[test]
    fn a_lease_is_given_back_while_the_command_runs_on_and_nothing_stops_it_any_more() {
        let mut course = giving();
        assert_eq!(course.wake_at(), Some(at(60.0)));
        assert_eq!(course.act(at(60.0)), Act::Beat, "it is held until then");
        assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), at(60.0), at(60.0)), Act::Wait);
        assert_eq!((course.wake_at(), course.act(at(61.0))), (Some(at(61.0)), Act::GiveBack));
        course.given_back(true, at(61.0));
        assert_eq!((course.hold(), course.wake_at()), (Hold::Given, None));
        assert_eq!(course.act(at(1e6)), Act::Wait, "no renew, no deadline");
        course.halted(Some(at(70.0)));
        assert_eq!(
            (course.act(at(1e6)), course.wake_at()),
            (Act::Wait, None),
            "it may be stopped for as long as it likes"
        );
        assert_eq!(course.grace(Cause::WrapperDied, SECOND / 2, at(1e6)), SECOND / 2);
        course.ended(Outcome::Exited(0));
        assert_eq!((course.act(at(1e6)), course.wake_at()), (Act::Wait, None), "nor after the end");
    }

    #[test]
    fn a_store_that_cannot_be_told_is_told_again_until_the_lease_has_ended() {
        let mut course = giving();
        let mut now = at(61.0);
        let mut tries = 0;
        while course.act(now) == Act::GiveBack {
            course.given_back(false, now);
            tries += 1;
            assert_eq!(course.hold(), Hold::Due);
            let Some(next) = course.wake_at() else { break };
            assert!(next > now && next < at(85.0), "renewed at 55 s for 30 s");
            now = next;
        }
        assert!(tries > 3, "{tries}");
        assert_eq!((course.act(at(1e6)), course.wake_at()), (Act::Wait, None), "and the command runs on all the same");
        let mut course = giving();
        course.given_back(false, at(61.0));
        course.given_back(true, at(66.0));
        assert_eq!((course.hold(), course.wake_at()), (Hold::Given, None));
    }

    #[test]
    fn before_its_time_a_lease_that_is_given_back_later_is_one_like_any() {
        let lost = giving().beaten(Beat::Lost(Cause::Gone), at(60.0), at(60.0));
        assert_eq!(lost, Act::Stop(Cause::Gone));
        let mut early = Course::new(watch(Some(60 * SECOND)), at(0.0), 30 * SECOND);
        early.started(at(1.0));
        assert_eq!(early.act(at(20.0)), Act::Stop(Cause::Deadline), "the deadline comes first");
        assert_eq!(giving().act(at(500.0)), Act::FreezeAndBeat, "slept through both: first, is it ours?");
        let mut halted = giving();
        halted.halted(Some(at(59.0)));
        assert_eq!(halted.act(at(62.0)), Act::Beat, "a stopped job does not get on");
        halted.halted(None);
        assert_eq!(halted.act(at(62.0)), Act::GiveBack);
    }

    #[test]
    fn nobody_is_told_again_at_the_moment_when_the_lease_has_ended() {
        for (told_at, again) in [(79.0, Some(at(84.0))), (80.0, None), (81.0, None)] {
            let mut course = giving();
            course.given_back(false, at(told_at));
            assert_eq!(course.wake_at(), again, "renewed at 55 s for 30 s, told at {told_at}");
        }
    }

    #[test]
    fn a_renew_may_take_a_heartbeat_but_not_past_the_deadline_and_never_no_time_at_all() {
        let course = course();
        for (now, patience) in [(0.0, 5.0), (14.0, 5.0), (15.0, 5.0), (17.0, 3.0), (19.99, 0.05), (25.0, 0.05)] {
            assert_eq!(course.patience(at(now)), Duration::from_secs_f64(patience), "at {now}");
        }
        assert_eq!(course.patience_while_nothing_runs(), 5 * SECOND);
        let short = Watch { times: Times::new(Some(6 * SECOND), None, None, None).expect("fits"), ..watch(None) };
        assert_eq!(Course::new(short, at(0.0), 6 * SECOND).patience_while_nothing_runs(), 2 * SECOND);
    }

    #[test]
    fn a_renew_that_failed_is_tried_again_after_a_quarter_of_a_heartbeat_and_at_most_a_second() {
        for (ttl, again) in [(30, 11.0), (6, 10.25)] {
            let times = Times::new(Some(ttl * SECOND), None, None, None).expect("fits");
            let mut course = Course::new(Watch { times, ..watch(None) }, at(0.0), ttl * SECOND);
            assert_eq!(course.beaten(Beat::Unknown, at(9.9), at(10.0)), Act::Wait);
            assert_eq!(course.next_beat, at(again), "TTL {ttl} s");
        }
    }

    #[test]
    fn after_the_end_the_lease_is_renewed_but_nothing_is_stopped() {
        let mut course = course();
        course.ended(Outcome::Exited(0));
        assert_eq!(course.act(at(5.0)), Act::Beat);
        assert_eq!(course.beaten(Beat::Lost(Cause::Gone), at(5.0), at(5.0)), Act::Wait, "the wrapper has released it");
        assert_eq!(course.act(at(25.0)), Act::Wait);
        course.stopped(Outcome::Stopped(Cause::Gone));
        assert_eq!((course.act(at(1e6)), course.wake_at()), (Act::Wait, None));
    }

    #[test]
    fn a_hold_without_a_command_is_renewed_as_one_with_it_and_tried_again_for_ever() {
        let times = watch(None).times;
        let mut course = Course::without_a_command(times, at(0.0), times.ttl);
        assert_eq!((course.wake_at(), course.act(at(4.9))), (Some(at(5.0)), Act::Wait), "the wrapper's heartbeat");
        assert_eq!(course.act(at(5.0)), Act::Beat);
        for second in [5.0, 20.0, 29.0, 31.0, 4_000.0] {
            assert_eq!(course.beaten(Beat::Unknown, at(second), at(second)), Act::Wait);
            assert_eq!(course.act(at(second + 1.25)), Act::Beat, "neither the deadline nor the lease's end ends that");
        }
        assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), at(5_000.0), at(5_000.1)), Act::Wait, "nobody took it");
        assert_eq!((course.wake_at(), course.ends_at()), (Some(at(5_005.0)), at(5_030.0)));
    }
}
