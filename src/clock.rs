//! `clock`: the one reader of time. Decisions take the moment as a value; only edges ask this room.
#![forbid(unsafe_code)]

use std::time::Duration;

/// A moment on this machine's boot clock: the time since boot, suspend included (`CLOCK_BOOTTIME` on Linux). A stepped
/// wall clock does not move it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Duration);

impl Moment {
    /// This moment and `span` later.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0 + span)
    }

    /// How long from `self` until `later`; zero when that has passed.
    #[must_use]
    pub fn until(self, later: Self) -> Duration {
        later.0.saturating_sub(self.0)
    }
}

/// The clocks of this machine.
pub trait Clock {
    /// Now, on the boot clock.
    fn now(&self) -> Moment;
    /// Milliseconds since 1970 on the wall clock: for showing and for tokens, never for judging expiry.
    fn wall_ms(&self) -> i64;
    /// Names this boot of this kernel; a moment of another boot means nothing now.
    fn boot_id(&self) -> String;
}
