//! The wrapper after the command, while the lease is held on: it renews, helpers of ours run, and a person may end it.
#![forbid(unsafe_code)]

use std::io;
use std::os::windows::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::Duration;

use windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP;

use crate::clock::{Clock, Moment};
use crate::supervise::course::LOOKS;
use crate::supervise::{Beat, Came};

use super::console::{self, First};

/// Who holds the lease.
pub(super) trait Renews {
    /// When the next renew is due.
    fn wake_at(&self) -> Option<Moment>;
    /// Renews if it is due, and says what came of it.
    fn renew(&self, now: Moment) -> Option<Beat>;
}

/// A vigil over a lease whose command has ended.
pub struct Vigil<'a> {
    wrapper: &'a dyn Renews,
    clock: &'a dyn Clock,
}

impl<'a> Vigil<'a> {
    pub(super) fn over(wrapper: &'a dyn Renews, clock: &'a dyn Clock) -> Self {
        Self { wrapper, clock }
    }

    /// Waits until then.
    ///
    /// # Errors
    /// None here.
    pub fn pause(&self, until: Moment) -> io::Result<Came> {
        Ok(self.first(None, until).unwrap_or(Came::TimeUp))
    }

    /// Runs a helper that no key reaches, and that is ended when something else comes first.
    ///
    /// # Errors
    /// When it cannot be started or waited for.
    pub fn run(&self, command: &mut Command, until: Moment) -> io::Result<Came> {
        let mut child = command.creation_flags(CREATE_NEW_PROCESS_GROUP).spawn()?;
        let came = self.first(Some(&child), until);
        if came.is_some() {
            let _it_may_have_ended = child.kill();
        }
        let status = child.wait()?;
        Ok(came.unwrap_or(Came::Ended(status)))
    }

    /// What comes before the helper's end; none when that was first.
    fn first(&self, helper: Option<&Child>, until: Moment) -> Option<Came> {
        loop {
            let now = self.clock.now();
            if now >= until {
                return Some(Came::TimeUp);
            }
            let beat_at = self.wrapper.wake_at().unwrap_or(until);
            // Looked at often: a wait does not count what the machine slept through.
            match console::first(helper, true, now.until(beat_at.min(until)).clamp(Duration::from_millis(1), LOOKS)) {
                First::Ended => return None,
                First::Wanted => return Some(Came::Interrupted),
                First::TimeUp => {}
            }
            if let Some(Beat::Lost(_)) = self.wrapper.renew(self.clock.now()) {
                return Some(Came::Lost);
            }
        }
    }
}
