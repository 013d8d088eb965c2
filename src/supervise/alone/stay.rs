//! The keeper without a command at its place: one thread, one loop; what it waits for is the end of the process that it keeps
//! for, a touch of its files, or its own timer.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::time::Duration;

use crate::clock::Clock;
use crate::supervise::link::Link;
use crate::supervise::tree;
use crate::supervise::unix::{self, Notice, Process, Timer};

use super::tenure::{Next, Tenure};
use super::{Keeping, Place};

/// It stands.
pub(super) struct Kept<'a, K> {
    tenure: Tenure<'a, K>,
    anchor: Process,
    notice: Notice,
    timer: Timer,
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
        let tenure = Tenure::new(keeping, clock, times, (sent, lasts, most));
        Ok(Self { tenure, anchor, notice, timer, keep })
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
        self.tenure.prove(limit)
    }

    pub(super) fn stay(mut self) -> io::Result<()> {
        loop {
            self.timer.set(Some(self.tenure.wake_at()))?;
            let ready = unix::wait_readable(&[self.anchor.as_fd(), self.notice.as_fd(), self.timer.as_fd()], None)?;
            if ready[2] {
                self.timer.clear();
            }
            if ready[1] {
                self.notice.clear();
            }
            match self.tenure.look(ready[1], ready[0]) {
                Next::Stay => {}
                Next::LetGo => return self.let_go(),
                Next::Over => return Ok(()),
            }
        }
    }

    /// Until the lease is given back, or has ended by itself.
    fn let_go(&mut self) -> io::Result<()> {
        while let Some(again) = self.tenure.let_go() {
            self.timer.set(Some(again))?;
            let ready = unix::wait_readable(&[self.notice.as_fd(), self.timer.as_fd()], None)?;
            self.timer.clear();
            if ready[0] {
                self.notice.clear();
                if !self.tenure.keeping.goes_on() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
