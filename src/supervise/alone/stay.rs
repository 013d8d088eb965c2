//! The keeper without a command at its place: one thread, one loop; what it waits for is the end of the process that it keeps
//! for, a touch of its files, or its own timer.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::time::Duration;

use crate::clock::{Clock, Moment};
use crate::supervise::course::{Act, Course};
use crate::supervise::link::Link;
use crate::supervise::unix::{self, Notice, Process, Timer};
use crate::supervise::{Beat, tree};
use crate::terms::Times;

use super::{Keeping, LetGo, Place};

/// Between two tries to give a lease back, at most.
const AGAIN: Duration = Duration::from_secs(1);

/// It stands.
pub(super) struct Kept<'a, K> {
    keeping: K,
    clock: &'a dyn Clock,
    anchor: Process,
    notice: Notice,
    timer: Timer,
    course: Course,
    times: Times,
    until: Moment,
    keep: Vec<RawFd>,
}

impl<'a, K: Keeping> Kept<'a, K> {
    pub(super) fn at(place: Place<K>, clock: &'a dyn Clock) -> io::Result<Self> {
        let (pid, started) = place.anchor;
        let anchor = Process::open(pid.cast_signed())?;
        // Order: looked at when we have a handle on it. A number that was used again meanwhile is another process.
        if tree::member(pid.cast_signed()).is_none_or(|member| member.started() != started) {
            return Err(io::Error::other("the process that it was to be kept for has ended"));
        }
        let (notice, timer) = (Notice::of(&place.watched)?, Timer::new()?);
        let Place { keeping, times, sent, lasts, most, keep, .. } = place;
        let (course, until) = (Course::without_a_command(times, sent, lasts), clock.now().after(most));
        Ok(Self { keeping, clock, anchor, notice, timer, course, times, until, keep })
    }

    /// Leaves the caller's session and directory, and closes what is the caller's.
    pub(super) fn shut(&self, link: &Link) -> io::Result<()> {
        unix::own_session()?;
        std::env::set_current_dir("/")?;
        unix::null_stdio()?;
        let own = [link.as_fd(), self.anchor.as_fd(), self.notice.as_fd(), self.timer.as_fd()];
        let own: Vec<RawFd> = own.iter().map(|fd| fd.as_raw_fd()).chain(self.keep.iter().copied()).collect();
        unix::close_all_but(&own);
        Ok(())
    }

    /// Renews once, from the place where it will do so for hours.
    pub(super) fn prove(&mut self, limit: Duration) -> Result<(), String> {
        let sent = self.clock.now();
        let lasts = self.keeping.prove(limit)?;
        let _nothing_to_stop = self.course.beaten(Beat::Renewed(lasts), sent, self.clock.now());
        Ok(())
    }

    pub(super) fn stay(mut self) -> io::Result<()> {
        loop {
            let wake = self.course.wake_at().unwrap_or(self.until);
            self.timer.set(Some(wake.min(self.until)))?;
            let ready = unix::wait_readable(&[self.anchor.as_fd(), self.notice.as_fd(), self.timer.as_fd()], None)?;
            if ready[2] {
                self.timer.clear();
            }
            if ready[1] {
                self.notice.clear();
                if !self.keeping.goes_on() {
                    return Ok(());
                }
            }
            let now = self.clock.now();
            if ready[0] {
                return self.let_go();
            }
            if now >= self.until {
                self.keeping.tire(self.course.patience_while_nothing_runs());
                return Ok(());
            }
            if (ready[1] || self.course.act(now) != Act::Wait) && !self.beat(ready[1]) {
                return Ok(());
            }
        }
    }

    /// Renews once. False when nothing is left to keep. `anew`: it may have been acquired with another TTL meanwhile.
    fn beat(&mut self, anew: bool) -> bool {
        let sent = self.clock.now();
        let beat = self.keeping.renew(self.course.patience_while_nothing_runs());
        match beat {
            Beat::Lost(_) => return false,
            // What a command left kept lasts as long as that command's would; the hold that comes back may be shorter.
            Beat::Renewed(lasts) if lasts < self.times.ttl || (anew && lasts != self.times.ttl) => {
                if let Ok(times) = Times::new(Some(lasts), None, None, None) {
                    self.times = times;
                    self.course = Course::without_a_command(times, sent, lasts);
                }
            }
            Beat::Renewed(_) | Beat::Unknown => {}
        }
        let _nothing_to_stop = self.course.beaten(beat, sent, self.clock.now());
        true
    }

    /// Until the lease is given back, or has ended by itself.
    fn let_go(&mut self) -> io::Result<()> {
        loop {
            let told = self.keeping.let_go(self.course.patience_while_nothing_runs());
            let now = self.clock.now();
            let over = match told {
                LetGo::Done => true,
                LetGo::Runs => now >= self.until,
                LetGo::Unknown => now >= self.course.ends_at(),
            };
            if over {
                return Ok(());
            }
            self.timer.set(Some(now.after(self.times.heartbeat.min(AGAIN))))?;
            let ready = unix::wait_readable(&[self.notice.as_fd(), self.timer.as_fd()], None)?;
            self.timer.clear();
            if ready[0] {
                self.notice.clear();
                if !self.keeping.goes_on() {
                    return Ok(());
                }
            }
        }
    }
}
