//! The keeper without a command, whatever it waits by: when to renew, and when it is over.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::{Clock, Moment};
use crate::supervise::Beat;
use crate::supervise::course::{Act, Course};
use crate::terms::Times;

use super::{Keeping, LetGo};

/// Between two tries to give a lease back, at most.
const AGAIN: Duration = Duration::from_secs(1);

/// It keeps.
pub(super) struct Tenure<'a, K> {
    pub(super) keeping: K,
    clock: &'a dyn Clock,
    course: Course,
    times: Times,
    until: Moment,
}

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// It goes on.
    Stay,
    /// The process that it was kept for has ended: it is given back.
    LetGo,
    /// Nothing is left to keep, or not for us.
    Over,
}

impl<'a, K: Keeping> Tenure<'a, K> {
    /// From a renew that was sent then, and gave it for so long; for as long as anything may be kept.
    pub(super) fn new(
        keeping: K,
        clock: &'a dyn Clock,
        times: Times,
        (sent, lasts, most): (Moment, Duration, Duration),
    ) -> Self {
        let (course, until) = (Course::without_a_command(times, sent, lasts), clock.now().after(most));
        Self { keeping, clock, course, times, until }
    }

    /// Renews once, from the place where it will do so for hours.
    pub(super) fn prove(&mut self, limit: Duration) -> Result<(), String> {
        let sent = self.clock.now();
        let lasts = self.keeping.prove(limit)?;
        let _nothing_to_stop = self.course.beaten(Beat::Renewed(lasts), sent, self.clock.now());
        Ok(())
    }

    /// When to look at the clock again, whatever happens.
    pub(super) fn wake_at(&self) -> Moment {
        self.course.wake_at().unwrap_or(self.until).min(self.until)
    }

    /// How long it is until then.
    #[cfg(windows)]
    pub(super) fn left(&self) -> Duration {
        self.until(self.wake_at())
    }

    /// How long it is until this moment.
    #[cfg(windows)]
    pub(super) fn until(&self, moment: Moment) -> Duration {
        self.clock.now().until(moment)
    }

    /// `touched`: one of the watched files was. `ended`: the process that it is kept for has.
    pub(super) fn look(&mut self, touched: bool, ended: bool) -> Next {
        if touched && !self.keeping.goes_on() {
            return Next::Over;
        }
        let now = self.clock.now();
        if ended {
            return Next::LetGo;
        }
        if now >= self.until {
            self.keeping.tire(self.course.patience_while_nothing_runs());
            return Next::Over;
        }
        if (touched || self.course.act(now) != Act::Wait) && !self.beat(touched) {
            return Next::Over;
        }
        Next::Stay
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

    /// Gives it back. When to try again; none when it is given back, or has ended by itself.
    pub(super) fn let_go(&mut self) -> Option<Moment> {
        let told = self.keeping.let_go(self.course.patience_while_nothing_runs());
        let now = self.clock.now();
        let over = match told {
            LetGo::Done => true,
            LetGo::Runs => now >= self.until,
            LetGo::Unknown => now >= self.course.ends_at(),
        };
        (!over).then(|| now.after(self.times.heartbeat.min(AGAIN)))
    }
}
