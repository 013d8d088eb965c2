//! The keeper: parent and subreaper of the child. It renews, watches the deadline, stops the tree, and settles when the
//! wrapper is gone. One thread, one loop; what it waits for is the next packet, the child, or its own timer.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::time::Duration;

use crate::clock::{Clock, Moment};

use super::course::{Act, Course, Phase};
use super::editor::Editors;
use super::link::{Heard, Link, Tale, Word};
use super::unix::{self, Changed, Side, Signals, Timer};
use super::{Beat, Cause, Duty, Order, Outcome, Watch, Wrapper, child, tree};

/// How long a lease is held for a process that could not be stopped: 2 hours.
const STUCK_MAX: Duration = Duration::from_secs(2 * 60 * 60);
/// How often to look whether it is gone. It is no child of ours, so nobody tells us.
const STUCK_LOOK: Duration = Duration::from_secs(1);

/// How long the tree gets between TERM and KILL when the wrapper has died: long enough for a write of a few
/// milliseconds to end well, short enough that everything is gone within a second.
const WRAPPER_DIED_GRACE: Duration = Duration::from_millis(500);

/// Forks the keeper. It idles until the wrapper says "go", and takes the request back when the wrapper dies before.
/// Only while this process has one thread. `keep` are descriptors that the keeper needs (the live file's lock).
///
/// # Errors
/// When the system has no process or descriptor left.
pub fn hire<D: Duty>(order: &Order, watch: Watch, clock: &dyn Clock, keep: &[RawFd], duty: D) -> io::Result<Wrapper> {
    let spared = tree::children_of_ours();
    let (ours, theirs) = Link::pair()?;
    match unix::fork()? {
        Side::Parent(pid) => {
            drop(theirs);
            unix::become_subreaper()?;
            Ok(Wrapper::new(ours, pid, spared, watch, order.entry))
        }
        Side::Child => {
            drop(ours);
            let work = std::panic::AssertUnwindSafe(|| keep_watch(order, watch, clock, keep, theirs, duty));
            let ended = std::panic::catch_unwind(work);
            unix::leave(if matches!(ended, Ok(Ok(()))) { 0 } else { crate::exit::INTERNAL });
        }
    }
}

fn keep_watch<D: Duty>(
    order: &Order,
    watch: Watch,
    clock: &dyn Clock,
    keep: &[RawFd],
    link: Link,
    mut duty: D,
) -> io::Result<()> {
    unix::default_sigchld();
    let signals = Signals::open(unix::bit(libc::SIGCHLD), u64::MAX)?;
    let timer = Timer::new()?;
    unix::become_subreaper()?;
    let words = match link.hear(None)? {
        Some(Heard::Said(Word::Go(words))) => words,
        Some(Heard::Said(_)) => return Ok(()),
        Some(Heard::Dead) | None => {
            duty.abandon();
            return Ok(());
        }
    };
    let begin = duty.begin(&words).map_err(io::Error::other)?;
    let child = match child::spawn(order, &begin.variables)? {
        Ok(pid) => pid,
        Err(errno) => return never_started(&link, &mut duty, errno, watch.times.stop_after(begin.lasts), clock),
    };
    link.say(&Tale::Spawned(child))?;
    unix::own_group()?;
    let mut own: Vec<RawFd> = vec![link.as_fd().as_raw_fd(), signals.as_fd().as_raw_fd(), timer.as_fd().as_raw_fd()];
    own.extend(keep);
    unix::null_stdio()?;
    unix::close_all_but(&own);
    let course = Course::new(watch, begin.sent, begin.lasts);
    let editors = watch.edits_unseen.then(|| Editors::of(&order.args, clock.now()));
    let worked = Keeper { watch, clock, link, signals, timer, duty, child, course, editors }.work();
    // Nobody else may: in a container the first process often does not.
    unix::reap_all();
    worked
}

/// Nothing runs; the wrapper settles, and if it dies before, we do.
fn never_started<D: Duty>(link: &Link, duty: &mut D, errno: i32, left: Duration, clock: &dyn Clock) -> io::Result<()> {
    let outcome = Outcome::NeverStarted(errno);
    link.say(&Tale::Ended(outcome))?;
    if !matches!(link.hear::<Word>(None)?, Some(Heard::Said(_))) {
        duty.finish(outcome, clock.now().after(left));
    }
    Ok(())
}

struct Keeper<'a, D> {
    watch: Watch,
    clock: &'a dyn Clock,
    link: Link,
    signals: Signals,
    timer: Timer,
    duty: D,
    child: i32,
    course: Course,
    editors: Option<Editors>,
}

impl<D: Duty> Keeper<'_, D> {
    fn work(mut self) -> io::Result<()> {
        loop {
            self.timer.set(self.wake_at())?;
            let ready = unix::wait_readable(&[self.link.as_fd(), self.signals.as_fd(), self.timer.as_fd()], None)?;
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
            self.look_at_clock()?;
            self.look_at_editor()?;
        }
    }

    fn wake_at(&self) -> Option<Moment> {
        let look = self.editors.as_ref().filter(|_| self.course.phase() == Phase::Running).map(Editors::next_look);
        self.course.wake_at().into_iter().chain(look).min()
    }

    fn look_at_editor(&mut self) -> io::Result<()> {
        let Some(editors) = self.editors.as_mut().filter(|_| self.course.phase() == Phase::Running) else {
            return Ok(());
        };
        if editors.look(self.child, self.clock.now()) { self.lose(Cause::EditorLoop) } else { Ok(()) }
    }

    fn look_at_child(&mut self) -> io::Result<()> {
        unix::reap_orphans(self.child);
        if self.course.phase() != Phase::Running {
            return Ok(());
        }
        while let Some(changed) = unix::next_halt(self.child) {
            match changed {
                Changed::Halted(signal) => {
                    self.course.halted(Some(self.clock.now()));
                    self.link.say(&Tale::Halted(signal))?;
                }
                _ => {
                    self.course.halted(None);
                    // Whoever continued the program continued us, as far as they can tell.
                    tree::wake(unix::parent());
                }
            }
        }
        let outcome = match unix::peek_end(self.child) {
            Some(Changed::Exited(code)) => Outcome::Exited(code),
            Some(Changed::Signaled(signal)) => Outcome::Signaled(signal),
            _ => return Ok(()),
        };
        self.course.ended(outcome);
        self.link.say(&Tale::Ended(outcome))
    }

    /// True when there is nothing left to do.
    fn wrapper_spoke(&mut self) -> io::Result<bool> {
        match self.link.hear(Some(Duration::ZERO))? {
            None | Some(Heard::Said(Word::Go(_))) => return Ok(false),
            Some(Heard::Said(Word::Ask)) => return self.answer().map(|()| false),
            Some(Heard::Said(Word::Settled)) => return Ok(true),
            Some(Heard::Dead) => {}
        }
        let outcome = match self.course.phase() {
            Phase::Ended(outcome) | Phase::Stopped(outcome) => outcome,
            Phase::Running => Outcome::stopped(Cause::WrapperDied, &self.stop_tree(WRAPPER_DIED_GRACE)),
        };
        self.duty.finish(outcome, self.course.stop_at());
        if let Outcome::Stuck { cause, .. } = outcome {
            self.outlast(outcome, cause);
        }
        Ok(true)
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
            Phase::Running => {
                let stop_at = u64::try_from(self.course.stop_at().0.as_millis()).unwrap_or(u64::MAX);
                self.link.say(&Tale::Renewed { stop_at })
            }
            Phase::Ended(outcome) | Phase::Stopped(outcome) => self.link.say(&Tale::Ended(outcome)),
        }
    }

    fn look_at_clock(&mut self) -> io::Result<()> {
        let act = match self.course.act(self.clock.now()) {
            Act::Beat => {
                let (beat, sent) = self.beat();
                self.course.beaten(beat, sent, self.clock.now())
            }
            Act::FreezeAndBeat => self.beat_frozen(),
            act => act,
        };
        if let Act::Stop(cause) = act { self.lose(cause) } else { Ok(()) }
    }

    fn beat(&mut self) -> (Beat, Moment) {
        let sent = self.clock.now();
        (self.duty.renew(self.course.patience(sent)), sent)
    }

    /// Nothing writes while it is asked whether the lease is still ours.
    fn beat_frozen(&mut self) -> Act {
        tree::signal_all(unix::own_pid(), &[], libc::SIGSTOP);
        let (beat, sent) = self.beat();
        let act = self.course.beaten_frozen(beat, sent, self.clock.now());
        if act == Act::Wait {
            // Our own stop is no news for the wrapper.
            while unix::next_halt(self.child).is_some() {}
            tree::signal_all(unix::own_pid(), &[], libc::SIGCONT);
        }
        act
    }

    fn lose(&mut self, cause: Cause) -> io::Result<()> {
        self.link.say(&Tale::Stopping)?;
        let outcome = Outcome::stopped(cause, &self.stop_tree(self.watch.times.grace));
        self.course.stopped(outcome);
        self.link.say(&Tale::Ended(outcome))
    }

    fn stop_tree(&self, grace: Duration) -> Vec<i32> {
        tree::stop(unix::own_pid(), &[], grace, self.clock, &|| unix::reap_orphans(self.child))
    }
}
