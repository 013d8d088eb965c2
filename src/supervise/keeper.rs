//! The keeper: parent and subreaper of the child. It renews, watches the deadline, stops the tree, and settles when the
//! wrapper is gone. One thread, one loop; what it waits for is the next packet, the child, or its own timer.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use crate::clock::{Clock, Moment};

use super::course::{Act, Course, Phase};
use super::editor::Editors;
use super::link::{Heard, Link, Tale, Word};
use super::standing::Standing;
use super::unix::{self, Changed, Process, Signals, Timer};
use super::{Beat, Cause, Duty, Outcome, Watch, tree};

/// How long a lease is held for a process that could not be stopped: 2 hours.
const STUCK_MAX: Duration = Duration::from_secs(2 * 60 * 60);
/// How often to look whether it is gone. It is no child of ours, so nobody tells us.
const STUCK_LOOK: Duration = Duration::from_secs(1);

/// How long the tree gets between TERM and KILL when the wrapper has died: long enough for a write of a few
/// milliseconds to end well, short enough that everything is gone within a second.
const WRAPPER_DIED_GRACE: Duration = Duration::from_millis(500);
// The whole tree is gone within a second: it is promised.
const _: () = assert!(WRAPPER_DIED_GRACE.as_millis() < 1_000);

/// How long a wrapper that stopped with its job is woken after the job goes on or ends: it may stop itself only after
/// we told.
const WRAPPER_WAKES: Duration = Duration::from_secs(2);

/// How often it is.
const WAKES_AGAIN: Duration = Duration::from_millis(20);

/// How long a wrapper may take to settle the lease of a tree that we stopped, before we do: settling twice is settling
/// once.
const WRAPPER_SETTLES: Duration = Duration::from_secs(5);

/// For the link.
pub(super) fn ms(moment: Moment) -> u64 {
    u64::try_from(moment.0.as_millis()).unwrap_or(u64::MAX)
}

/// The keeper at its work; `hire` makes it.
pub(super) struct Keeper<'a, D> {
    pub(super) watch: Watch,
    /// When the command goes on after it stood still, it is looked again whether it may.
    pub(super) standing: Option<Standing>,
    pub(super) clock: &'a dyn Clock,
    pub(super) link: Link,
    pub(super) signals: Signals,
    pub(super) timer: Timer,
    pub(super) duty: D,
    pub(super) child: i32,
    pub(super) course: Course,
    pub(super) editors: Option<Editors>,
    pub(super) wrapper: Option<(i32, Process)>,
    /// Until then a wrapper that stopped with its job is woken.
    pub(super) wake_until: Option<Moment>,
    /// Then a stopped tree's lease is settled without the wrapper.
    pub(super) settle_at: Option<Moment>,
}

impl<D: Duty> Keeper<'_, D> {
    /// Until the wrapper has settled, or we have.
    pub(super) fn work(mut self) -> io::Result<()> {
        loop {
            self.course.goes_by(self.clock.now());
            self.timer.set(self.wake_at())?;
            let ready = unix::wait_readable(&[self.link.as_fd(), self.signals.as_fd(), self.timer.as_fd()], None)?;
            self.course.goes_by(self.clock.now());
            if ready[2] {
                self.timer.clear();
            }
            if ready[1] {
                while self.signals.next().is_some() {}
                self.look_at_child()?;
            }
            if ready[0] && self.wrapper_spoke()? {
                return Ok(());
            }
            self.look_at_tree()?;
            self.look_at_clock()?;
            self.look_at_editor()?;
            if self.look_at_wrapper() {
                return Ok(());
            }
        }
    }

    fn wake_at(&self) -> Option<Moment> {
        let soon = self.wake_until.map(|_| self.clock.now().after(WAKES_AGAIN));
        let look = self.editors.as_ref().filter(|_| self.course.phase() == Phase::Running).map(Editors::next_look);
        [soon, self.settle_at, look, self.course.wake_at()].into_iter().flatten().min()
    }

    fn look_at_editor(&mut self) -> io::Result<()> {
        let Some(editors) = self.editors.as_mut().filter(|_| self.course.phase() == Phase::Running) else {
            return Ok(());
        };
        if editors.look(self.child, self.clock.now()) { self.lose(Cause::EditorLoop) } else { Ok(()) }
    }

    /// The job has ended, by itself or by us.
    fn ended(&mut self, outcome: Outcome) -> io::Result<()> {
        let now = self.clock.now();
        if self.course.is_halted() {
            self.wake_until = Some(now.after(WRAPPER_WAKES));
        }
        let stopped = outcome.cause().is_some();
        self.settle_at = stopped.then(|| now.after(WRAPPER_SETTLES));
        if stopped {
            self.course.stopped(outcome);
        } else {
            self.course.ended(outcome);
        }
        self.link.say(&Tale::Ended(outcome, self.course.hold()))
    }

    /// A wrapper that stopped with its job would never see it go on or end, nor would its caller; and one that is frozen
    /// would keep a lost lease from the next one. True when there is nothing left to do.
    fn look_at_wrapper(&mut self) -> bool {
        let now = self.clock.now();
        if let Some(until) = self.wake_until {
            if let Some((pid, process)) = &self.wrapper
                && tree::member(*pid).is_some_and(|wrapper| wrapper.halted())
            {
                let _it_may_be_dead = process.signal(libc::SIGCONT);
            }
            self.wake_until = self.wake_until.filter(|_| now < until);
        }
        if self.settle_at.is_some_and(|at| now >= at)
            && let Phase::Stopped(outcome) = self.course.phase()
        {
            self.finish(outcome);
            return true;
        }
        false
    }

    fn look_at_child(&mut self) -> io::Result<()> {
        unix::reap_orphans(self.child);
        if self.course.phase() != Phase::Running {
            return Ok(());
        }
        let mut goes_on = false;
        while let Some(changed) = unix::next_halt(self.child) {
            match changed {
                Changed::Halted(signal) => {
                    goes_on = false;
                    self.course.halted(Some(self.clock.now()));
                    self.wake_until = None;
                    self.link.say(&Tale::Halted(signal))?;
                }
                // Where its stop was not seen, we stood still with it.
                _ if !self.course.is_halted() => goes_on = true,
                _ => {
                    goes_on = true;
                    // With `fg` the wrapper goes on too; when the child alone was continued, nobody else tells it.
                    self.course.halted(None);
                    self.wake_until = Some(self.clock.now().after(WRAPPER_WAKES));
                }
            }
        }
        if goes_on && self.course.goes_on() == Act::FreezeAndBeat {
            // Whatever had a stop behind it may be old news by now. The tree stands still until it is known.
            if let Act::Stop(cause) = self.beat_frozen()? {
                return self.lose(cause);
            }
        }
        let outcome = match unix::peek_end(self.child) {
            Some(Changed::Exited(code)) => Outcome::Exited(code),
            Some(Changed::Signaled(signal)) => Outcome::Signaled(signal),
            _ => return Ok(()),
        };
        let outcome = match outcome {
            Outcome::Signaled(signal) => self.stop_the_rest(signal)?,
            outcome => outcome,
        };
        self.ended(outcome)
    }

    /// What a program leaves behind on purpose it leaves at a normal exit. One that was killed left what it was doing,
    /// and that may be writing still.
    fn stop_the_rest(&mut self, signal: i32) -> io::Result<Outcome> {
        if tree::descendants(unix::own_pid(), &[]).is_empty() {
            return Ok(Outcome::Signaled(signal));
        }
        self.link.say(&Tale::Stopping)?;
        let outcome = self.stop_tree(Cause::Killed(signal), self.watch.times.grace);
        Ok(if outcome == Outcome::Stopped(Cause::Killed(signal)) { Outcome::Signaled(signal) } else { outcome })
    }

    /// True when there is nothing left to do.
    fn wrapper_spoke(&mut self) -> io::Result<bool> {
        match self.link.hear(Some(Duration::ZERO))? {
            None | Some(Heard::Said(Word::Go(_) | Word::Stay(_))) => return Ok(false),
            Some(Heard::Said(Word::Ask)) => return self.answer().map(|()| false),
            Some(Heard::Said(Word::Settled)) => return Ok(true),
            Some(Heard::Said(Word::Tend)) => {
                self.duty.tend();
                return Ok(true);
            }
            Some(Heard::Dead) => {}
        }
        let outcome = match self.course.phase() {
            Phase::Ended(outcome) | Phase::Stopped(outcome) => outcome,
            Phase::Running => self.stop_tree(Cause::WrapperDied, WRAPPER_DIED_GRACE),
        };
        self.finish(outcome);
        Ok(true)
    }

    /// The wrapper cannot settle, so we do.
    fn finish(&mut self, outcome: Outcome) {
        self.duty.finish(outcome, self.course.ends_at());
        if let Outcome::Stuck { cause, .. } = outcome
            && !self.course.hold().is_over()
        {
            self.outlast(outcome, cause);
        }
    }

    /// Something of the tree lives on. The lease is held against everybody while it does (bounded: nobody may ever look
    /// after it), and given back as after any stop when it is gone.
    fn outlast(&mut self, outcome: Outcome, cause: Cause) {
        let until = self.clock.now().after(STUCK_MAX);
        let mut next = self.clock.now().after(self.watch.times.heartbeat);
        loop {
            unix::reap_orphans(self.child);
            let now = self.clock.now();
            if tree::descendants(unix::own_pid(), &[]).is_empty() {
                return self.duty.finish(Outcome::Stopped(cause), now.after(self.watch.times.ttl));
            }
            if now >= until {
                return;
            }
            if now >= next {
                self.duty.finish(outcome, now.after(self.watch.times.heartbeat));
                next = now.after(self.watch.times.heartbeat);
            }
            let _nothing_to_read = unix::wait_readable(&[], Some(STUCK_LOOK.min(self.watch.times.heartbeat)));
        }
    }

    fn answer(&self) -> io::Result<()> {
        match self.course.phase() {
            Phase::Running if self.course.hold().is_over() => self.link.say(&Tale::Loose(self.course.hold())),
            Phase::Running => self.link.say(&Tale::Renewed { stop_at: ms(self.course.stop_at()) }),
            Phase::Ended(outcome) | Phase::Stopped(outcome) => self.link.say(&Tale::Ended(outcome, self.course.hold())),
        }
    }

    /// Who writes may be far below the child, and nobody tells us that it was stopped and goes on.
    fn look_at_tree(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        let asks = self.course.goes_on() == Act::FreezeAndBeat;
        let Some(standing) = self.standing.as_mut().filter(|standing| asks && standing.is_due(now)) else {
            return Ok(());
        };
        if standing.look(&tree::below(self.child), now)
            && let Act::Stop(cause) = self.beat_frozen()?
        {
            return self.lose(cause);
        }
        Ok(())
    }

    fn look_at_clock(&mut self) -> io::Result<()> {
        let act = match self.course.act(self.clock.now()) {
            Act::Beat => {
                let sent = self.clock.now();
                let beat = self.duty.renew(self.course.patience(sent));
                if matches!((beat, self.course.phase()), (Beat::Lost(_), Phase::Ended(_))) {
                    self.link.say(&Tale::Lost)?;
                }
                self.course.beaten(beat, sent, self.clock.now())
            }
            Act::FreezeAndBeat => self.beat_frozen()?,
            Act::GiveBack => {
                // Order: the wrapper first, or it takes a store that is slow to answer for a frozen keeper.
                self.course.given_back(false, self.clock.now());
                self.link.say(&Tale::Loose(self.course.hold()))?;
                let told = self.duty.give_back();
                self.course.given_back(told, self.clock.now());
                self.link.say(&Tale::Loose(self.course.hold()))?;
                Act::Wait
            }
            act => act,
        };
        if let Act::Stop(cause) = act { self.lose(cause) } else { Ok(()) }
    }

    /// Nothing writes while it is asked whether the lease is still ours.
    fn beat_frozen(&mut self) -> io::Result<Act> {
        self.link.say(&Tale::Asking)?;
        let frozen = tree::freeze(unix::own_pid(), self.clock);
        let sent = self.clock.now();
        let beat = self.duty.renew(self.course.patience_while_nothing_runs());
        let mut act = self.course.beaten_while_nothing_runs(beat, sent, self.clock.now());
        if act == Act::Wait && self.standing.is_some() {
            self.link.say(&Tale::Asking)?;
            act = self.duty.look_again(self.course.patience_while_nothing_runs()).map_or(act, Act::Stop);
        }
        if act == Act::Wait {
            self.course.may_go_on(self.clock.now());
            self.thaw(&frozen);
            self.answer()?;
        }
        Ok(act)
    }

    /// What we froze goes on. That is no news: not for the wrapper, and not for us.
    fn thaw(&mut self, frozen: &[tree::Member]) {
        let ours = frozen.iter().any(|member| member.pid == self.child);
        while ours && unix::next_halt(self.child).is_some() {}
        tree::thaw(frozen);
        // Order: seen at once, so that a stop that comes now is not taken for this.
        if ours {
            unix::forget_continue(self.child);
        }
        if ours && self.course.is_halted() {
            // It went on before we froze it.
            self.course.halted(None);
            self.wake_until = Some(self.clock.now().after(WRAPPER_WAKES));
        }
        if let Some(standing) = &mut self.standing {
            let _is_ours = standing.look(&tree::below(self.child), self.clock.now());
        }
    }

    fn lose(&mut self, cause: Cause) -> io::Result<()> {
        self.link.say(&Tale::Stopping)?;
        let outcome = self.stop_tree(cause, self.watch.times.grace);
        self.ended(outcome)
    }

    fn stop_tree(&self, cause: Cause, usual: Duration) -> Outcome {
        let grace = self.course.grace(cause, usual, self.clock.now());
        let reap = || unix::reap_orphans(self.child);
        Outcome::stopped(cause, &tree::stop(unix::own_pid(), &[], grace, self.clock, &reap))
    }
}
