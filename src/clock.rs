//! `clock`: the one reader of time. Decisions take the moment as a value; only edges ask this room.
// `deny`, not `forbid`: the platform file below needs one system call.
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(any(target_os = "linux", windows)))]
mod portable;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(any(target_os = "linux", windows)))]
use portable as platform;
#[cfg(windows)]
use windows as platform;

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A moment on this machine's boot clock: the time since boot, suspend included (`CLOCK_BOOTTIME` on Linux). A stepped
/// wall clock does not move it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

/// What stands for the boot's name where the system does not tell it. Two processes of one boot may then disagree about
/// the name, so that each takes the other's leases for expired: no lease can be taken by that clock.
pub const NO_BOOT: &str = "unknown-boot";

/// The clocks of this machine.
pub trait Clock {
    /// Now, on the boot clock.
    fn now(&self) -> Moment;
    /// Milliseconds since 1970 on the wall clock: for showing and for tokens, never for judging expiry.
    fn wall_ms(&self) -> i64;
    /// Names this boot of this kernel; a moment of another boot means nothing now.
    fn boot_id(&self) -> String;
}

/// The real clocks. The boot's name is read once.
#[derive(Debug, Default)]
pub struct SystemClock {
    boot: OnceLock<String>,
}

impl SystemClock {
    /// The clocks of this machine; nothing is read yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { boot: OnceLock::new() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        Moment(platform::since_boot())
    }

    fn wall_ms(&self) -> i64 {
        #[expect(clippy::disallowed_methods, reason = "the door")]
        // A wall clock before 1970 is shown as 1970; nothing is judged by it.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn boot_id(&self) -> String {
        self.boot.get_or_init(platform::boot_id).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boot_clock_goes_on_and_the_boot_keeps_its_name() {
        let (clock, other) = (SystemClock::new(), SystemClock::new());
        let before = clock.now();
        assert!(clock.now() >= before);
        assert!(!clock.boot_id().is_empty());
        assert_eq!(clock.boot_id(), other.boot_id(), "two processes must agree on it");
        assert!(!clock.boot_id().contains(char::is_whitespace));
    }

    #[test]
    fn until_never_goes_below_zero() {
        let (early, late) = (Moment(Duration::from_secs(1)), Moment(Duration::from_secs(3)));
        assert_eq!(early.until(late), Duration::from_secs(2));
        assert_eq!(late.until(early), Duration::ZERO);
        assert_eq!(early.after(Duration::from_secs(2)), late);
    }
}
