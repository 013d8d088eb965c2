//! The wrapper after the command, while the lease is held on: the keeper renews, helpers of ours run, and a person may
//! end it. What comes first is told; what a helper left is ended with it.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use crate::clock::{Clock, Moment};

use super::Came;
use super::link::{Heard, Tale};
use super::unix::{self, Process, Signals, Timer};
use super::wrapper::{self, Wrapper};

/// What ends a vigil: a person's keys, a hang-up, and whoever asks us to end. A job that is to stop (Ctrl-Z) gives the
/// prompt back by ending: a lease must not hang on a job that nobody continues.
const ENDING: [i32; 5] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGTSTP];

/// A vigil over a lease whose command has ended.
pub struct Vigil<'a> {
    wrapper: &'a Wrapper,
    clock: &'a dyn Clock,
    signals: Signals,
    timer: Timer,
}

impl<'a> Vigil<'a> {
    pub(super) fn over(wrapper: &'a Wrapper, clock: &'a dyn Clock) -> io::Result<Self> {
        // The same as while the command ran: what no longer has anybody to be handed on to must not end us either.
        let signals = Signals::open(wrapper::taken(), wrapper.entry().blocked)?;
        Ok(Self { wrapper, clock, signals, timer: Timer::new()? })
    }

    /// Waits until then.
    ///
    /// # Errors
    /// When the system refuses to wait.
    pub fn pause(&self, until: Moment) -> io::Result<Came> {
        Ok(self.first(None, until)?.unwrap_or(Came::TimeUp))
    }

    /// Runs a helper in a process group of its own, which is killed when something else comes first.
    ///
    /// # Errors
    /// When it cannot be started or waited for.
    pub fn run(&self, command: &mut Command, until: Moment) -> io::Result<Came> {
        let mut child = command.process_group(0).spawn()?;
        let pid = child.id().cast_signed();
        let came = Process::open(pid).and_then(|process| self.first(Some(process.as_fd()), until));
        if !matches!(came, Ok(None)) {
            // Not reaped yet, so the number is still its own.
            unix::kill_group(pid);
        }
        let status = child.wait()?;
        Ok(came?.unwrap_or(Came::Ended(status)))
    }

    /// What comes before the helper's end; none when that was first.
    fn first(&self, helper: Option<BorrowedFd<'_>>, until: Moment) -> io::Result<Option<Came>> {
        self.timer.set(Some(until))?;
        let mut fds = vec![self.wrapper.link().as_fd(), self.signals.as_fd(), self.timer.as_fd()];
        fds.extend(helper);
        loop {
            let ready = unix::wait_readable(&fds, None)?;
            while let Some(came) = self.signals.next() {
                // What was ignored when we started (nohup) stays without effect.
                let ignored = self.wrapper.entry().ignored & unix::bit(came.signal) != 0;
                if ENDING.contains(&came.signal) && !ignored {
                    return Ok(Some(Came::Interrupted));
                }
            }
            if ready[0] {
                match self.wrapper.link().hear::<Tale>(Some(Duration::ZERO))? {
                    Some(Heard::Dead) => return Ok(Some(Came::Unguarded)),
                    Some(Heard::Said(Tale::Lost)) => return Ok(Some(Came::Lost)),
                    _ => continue,
                }
            }
            if ready.get(3) == Some(&true) {
                return Ok(None);
            }
            if ready[2] && self.clock.now() >= until {
                return Ok(Some(Came::TimeUp));
            }
        }
    }
}
