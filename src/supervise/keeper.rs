//! The keeper: parent and subreaper of the child. It renews, watches the deadline, stops the tree, and settles when the
//! wrapper is gone. One thread, one loop; what it waits for is the next packet, the child, or its own timer.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::time::Duration;

use crate::clock::{Clock, Moment};

use super::link::{Heard, Link, Tale, Word};
use super::unix::{self, Changed, Side, Signals, Timer};
use super::{Beat, Cause, Duty, Order, Outcome, Watch, Wrapper, child, tree};

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
    let stop_at = begin.sent.after(watch.times.stop_after(begin.lasts));
    let next_beat = begin.sent.after(watch.times.heartbeat);
    let worked = Keeper {
        watch,
        clock,
        link,
        signals,
        timer,
        duty,
        child,
        stop_at,
        next_beat,
        phase: Phase::Running,
        halted: None,
    }
    .work();
    // Nobody else may: in a container the first process often does not.
    unix::reap_all();
    worked
}

/// Nothing runs; the wrapper settles, and if it dies before, we do.
fn never_started<D: Duty>(link: &Link, duty: &mut D, errno: i32, left: Duration, clock: &dyn Clock) -> io::Result<()> {
    let outcome = Outcome::NeverStarted(errno);
    link.say(&Tale::Ended { outcome, stubborn: Vec::new() })?;
    if !matches!(link.hear::<Word>(None)?, Some(Heard::Said(_))) {
        duty.finish(outcome, clock.now().after(left));
    }
    Ok(())
}

/// Where the keeper is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The child lives and the lease is renewed.
    Running,
    /// The child ended by itself; the lease is renewed until the wrapper has settled.
    Ended(Outcome),
    /// The tree was stopped; nothing is renewed any more.
    Stopped(Outcome),
}

struct Keeper<'a, D> {
    watch: Watch,
    clock: &'a dyn Clock,
    link: Link,
    signals: Signals,
    timer: Timer,
    duty: D,
    child: i32,
    /// When the tree must be stopped, unless a renew comes first.
    stop_at: Moment,
    next_beat: Moment,
    phase: Phase,
    /// Since when the job is stopped (Ctrl-Z).
    halted: Option<Moment>,
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
        }
    }

    fn wake_at(&self) -> Option<Moment> {
        let halted_until = self.halted.map(|since| since.after(self.watch.stopped_max));
        match self.phase {
            Phase::Running => Some(self.next_beat.min(self.stop_at).min(halted_until.unwrap_or(self.stop_at))),
            Phase::Ended(_) => Some(self.next_beat),
            Phase::Stopped(_) => None,
        }
    }

    fn look_at_child(&mut self) -> io::Result<()> {
        unix::reap_orphans(self.child);
        if self.phase != Phase::Running {
            return Ok(());
        }
        while let Some(changed) = unix::next_halt(self.child) {
            match changed {
                Changed::Halted(signal) => {
                    self.halted = Some(self.clock.now());
                    self.link.say(&Tale::Halted(signal))?;
                }
                _ => {
                    self.halted = None;
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
        self.phase = Phase::Ended(outcome);
        self.link.say(&Tale::Ended { outcome, stubborn: Vec::new() })
    }

    /// True when there is nothing left to do.
    fn wrapper_spoke(&mut self) -> io::Result<bool> {
        match self.link.hear(Some(Duration::ZERO))? {
            None | Some(Heard::Said(Word::Go(_))) => return Ok(false),
            Some(Heard::Said(Word::Ask)) => return self.answer().map(|()| false),
            Some(Heard::Said(Word::Settled)) => return Ok(true),
            Some(Heard::Dead) => {}
        }
        let outcome = match self.phase {
            Phase::Ended(outcome) | Phase::Stopped(outcome) => outcome,
            Phase::Running => {
                let _stubborn = self.stop_tree(WRAPPER_DIED_GRACE);
                Outcome::Stopped(Cause::WrapperDied)
            }
        };
        self.duty.finish(outcome, self.stop_at);
        Ok(true)
    }

    fn answer(&self) -> io::Result<()> {
        match self.phase {
            Phase::Running => {
                let stop_at = u64::try_from(self.stop_at.0.as_millis()).unwrap_or(u64::MAX);
                self.link.say(&Tale::Renewed { stop_at })
            }
            Phase::Ended(outcome) | Phase::Stopped(outcome) => {
                self.link.say(&Tale::Ended { outcome, stubborn: Vec::new() })
            }
        }
    }

    fn look_at_clock(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        if matches!(self.phase, Phase::Stopped(_)) {
            return Ok(());
        }
        if self.phase == Phase::Running && self.halted.is_some_and(|since| now >= since.after(self.watch.stopped_max)) {
            return self.lose(Cause::Deadline);
        }
        if self.phase == Phase::Running && now >= self.stop_at {
            return self.past_deadline(now);
        }
        if now >= self.next_beat {
            return self.beat();
        }
        Ok(())
    }

    fn beat(&mut self) -> io::Result<()> {
        let sent = self.clock.now();
        let left = sent.until(self.stop_at).min(self.watch.times.heartbeat).max(Duration::from_millis(50));
        match self.duty.renew(left) {
            Beat::Renewed(lasts) => {
                self.stop_at = sent.after(self.watch.times.stop_after(lasts));
                self.next_beat = sent.after(self.watch.times.heartbeat);
                Ok(())
            }
            // The wrapper may be settling at this very moment: what it finds decides.
            Beat::Lost(_) if self.phase != Phase::Running => {
                self.next_beat = sent.after(self.watch.times.ttl);
                Ok(())
            }
            Beat::Lost(cause) => self.lose(cause),
            Beat::Unknown => {
                // One failed renew kills nothing; ask again soon, until the deadline.
                let pause = (self.watch.times.heartbeat / 4).min(Duration::from_secs(1));
                self.next_beat = self.clock.now().after(pause);
                Ok(())
            }
        }
    }

    /// The deadline has passed. If only because the machine slept, the lease may still be ours: freeze the tree, so
    /// that nothing writes meanwhile, and ask once.
    fn past_deadline(&mut self, now: Moment) -> io::Result<()> {
        if self.stop_at.until(now) < Duration::from_secs(1) {
            return self.lose(Cause::Deadline);
        }
        tree::signal_all(unix::own_pid(), &[], libc::SIGSTOP);
        self.next_beat = now;
        self.stop_at = now.after(Duration::from_secs(2));
        self.beat()?;
        if self.phase != Phase::Running {
            return Ok(());
        }
        if self.next_beat.0 > self.clock.now().0 && self.stop_at.0 > now.after(Duration::from_secs(2)).0 {
            while unix::next_halt(self.child).is_some() {}
            tree::signal_all(unix::own_pid(), &[], libc::SIGCONT);
            return Ok(());
        }
        self.lose(Cause::Deadline)
    }

    fn lose(&mut self, cause: Cause) -> io::Result<()> {
        self.link.say(&Tale::Stopping)?;
        let stubborn = self.stop_tree(self.watch.times.grace);
        let outcome = Outcome::Stopped(cause);
        self.phase = Phase::Stopped(outcome);
        self.link.say(&Tale::Ended { outcome, stubborn })
    }

    fn stop_tree(&self, grace: Duration) -> Vec<i32> {
        tree::stop(unix::own_pid(), &[], grace, self.clock, &|| unix::reap_orphans(self.child))
    }
}
