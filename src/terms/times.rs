//! The times of a lease, and the inequalities that keep two writers apart.
#![forbid(unsafe_code)]

use std::time::Duration;

use super::show_duration;

/// How long a lease lives and when its holder acts. Made only by [`Times::new`], so that the inequalities hold:
/// `heartbeat < renew_deadline` and `renew_deadline + grace + slack < ttl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// How long the store honours the lease after a renew.
    pub ttl: Duration,
    /// How often the keeper renews.
    pub heartbeat: Duration,
    /// How long after the last successful renew was sent the child must be stopped.
    pub renew_deadline: Duration,
    /// Between TERM and KILL.
    pub grace: Duration,
    /// What is left over for reaping and for the machine being slow.
    pub slack: Duration,
}

/// Why the times do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimesError {
    /// The TTL is outside of 1 s to 24 h.
    #[error("a TTL of {} is outside of 1s to 24h", show_duration(*.0))]
    TtlRange(Duration),
    /// `heartbeat >= renew_deadline`, or no heartbeat at all.
    #[error("a heartbeat of {} is not below the renew deadline of {}", show_duration(*.heartbeat), show_duration(*.deadline))]
    Heartbeat {
        /// As asked.
        heartbeat: Duration,
        /// As asked or derived.
        deadline: Duration,
    },
    /// `renew_deadline + grace + slack >= ttl`.
    #[error(
        "renew deadline {} + grace {} + slack {} do not fit below the TTL of {}: a stopped child could outlive its lease",
        show_duration(*.deadline), show_duration(*.grace), show_duration(*.slack), show_duration(*.ttl)
    )]
    Deadline {
        /// As asked or derived.
        deadline: Duration,
        /// As asked or derived.
        grace: Duration,
        /// Derived.
        slack: Duration,
        /// As asked.
        ttl: Duration,
    },
}

impl Times {
    /// The TTL when nobody asks for another: 30 minutes.
    pub const READY_TTL: Duration = Duration::from_secs(30 * 60);

    /// Fills in what was not asked for and checks the whole. Ready values: heartbeat min(60 s, TTL/6), renew deadline
    /// ⅔ TTL, grace min(10 s, TTL/10), slack max(2 s, TTL/20) but at most TTL/10; so any TTL alone is right.
    ///
    /// # Errors
    /// When the values asked for do not fit together.
    pub fn new(
        ttl: Option<Duration>,
        heartbeat: Option<Duration>,
        renew_deadline: Option<Duration>,
        grace: Option<Duration>,
    ) -> Result<Self, TimesError> {
        let ttl = ttl.unwrap_or(Self::READY_TTL);
        if ttl < Duration::from_secs(1) || ttl > Duration::from_secs(24 * 3600) {
            return Err(TimesError::TtlRange(ttl));
        }
        let heartbeat = heartbeat.unwrap_or_else(|| Duration::from_secs(60).min(ttl / 6));
        let renew_deadline = renew_deadline.unwrap_or(ttl * 2 / 3);
        let grace = grace.unwrap_or_else(|| Duration::from_secs(10).min(ttl / 10));
        let slack = Duration::from_secs(2).max(ttl / 20).min(ttl / 10);
        if heartbeat.is_zero() || heartbeat >= renew_deadline {
            return Err(TimesError::Heartbeat { heartbeat, deadline: renew_deadline });
        }
        if renew_deadline + grace + slack >= ttl {
            return Err(TimesError::Deadline { deadline: renew_deadline, grace, slack, ttl });
        }
        Ok(Self { ttl, heartbeat, renew_deadline, grace, slack })
    }

    /// How long a first grant lasts: two heartbeats plus grace and slack, never more than the TTL. A client that dies
    /// right after its grant blocks nobody for a whole TTL; the first renew gives the full TTL.
    #[must_use]
    pub fn first_grant(&self) -> Duration {
        (self.heartbeat * 2 + self.grace + self.slack).min(self.ttl)
    }

    /// How long after *sending* the request that the store answered with `granted` the child must be stopped: the
    /// renew deadline, but never later than `granted − grace − slack`.
    #[must_use]
    pub fn stop_after(&self, granted: Duration) -> Duration {
        self.renew_deadline.min(granted.saturating_sub(self.grace + self.slack))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ttl_alone_is_right() {
        for seconds in [1, 2, 5, 10, 30, 60, 600, 1800, 7200, 86_400] {
            let times = Times::new(Some(Duration::from_secs(seconds)), None, None, None).expect("fits");
            assert!(
                times.stop_after(times.first_grant()) > times.heartbeat,
                "{seconds} s: time for one renew at least"
            );
        }
    }

    #[test]
    fn the_ready_values_are_those_of_the_design() {
        let times = Times::new(None, None, None, None).expect("fits");
        let seconds = [times.ttl, times.heartbeat, times.renew_deadline, times.grace, times.slack].map(|d| d.as_secs());
        assert_eq!(seconds, [1800, 60, 1200, 10, 90]);
        assert_eq!(times.first_grant().as_secs(), 220);
    }

    #[test]
    fn values_that_let_a_child_outlive_its_lease_are_refused() {
        let s = |n| Some(Duration::from_secs(n));
        assert!(Times::new(s(30), s(20), s(20), None).is_err(), "heartbeat at the deadline");
        assert!(Times::new(s(30), None, s(28), None).is_err(), "deadline + grace + slack at the TTL");
        assert!(Times::new(s(30), Some(Duration::ZERO), None, None).is_err());
        assert!(Times::new(s(0), None, None, None).is_err());
        assert!(Times::new(s(90_000), None, None, None).is_err());
    }
}
