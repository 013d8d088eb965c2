//! What was asked of a run, and what a rule's terms make of it.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::time::Duration;

use crate::lease::Patience;
use crate::rules::Policy;
use crate::terms::{SessionId, Times, TimesError};

/// The options of a run, checked.
#[derive(Debug, Clone)]
pub struct Options {
    /// `--operation`.
    pub operation: Option<String>,
    /// `--ttl` and its companions.
    pub times: Times,
    /// What was said of times.
    pub asked: AskedTimes,
    /// `--wait` or `--no-wait`; the ready patience when nobody said either.
    pub patience: Patience,
    /// Somebody said how long to wait.
    pub wait_asked: bool,
    /// `--session`.
    pub session: Option<SessionId>,
    /// `--keep`.
    pub keep: bool,
    /// Not `--no-canary`.
    pub canary: bool,
    /// The reason of `--force`.
    pub force: Option<String>,
    /// `--on-lost`.
    pub on_lost: Option<OsString>,
    /// `--conflict-exit-code`.
    pub conflict_status: i32,
}

/// What was said of times, by option or by its twin.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskedTimes {
    /// `--ttl`.
    pub ttl: Option<Duration>,
    /// `--heartbeat`.
    pub heartbeat: Option<Duration>,
    /// `--renew-deadline`.
    pub renew_deadline: Option<Duration>,
    /// `--grace`.
    pub grace: Option<Duration>,
}

impl AskedTimes {
    /// The times, with a rule's TTL where nobody asked for one.
    ///
    /// # Errors
    /// When they do not fit together.
    pub fn times(&self, of_rule: Option<Duration>) -> Result<Times, TimesError> {
        Times::new(self.ttl.or(of_rule), self.heartbeat, self.renew_deadline, self.grace)
    }

    fn nothing(&self) -> bool {
        [self.ttl, self.heartbeat, self.renew_deadline, self.grace].iter().all(Option::is_none)
    }
}

impl Options {
    /// How long a request waits when nobody says: 30 s.
    pub const READY_WAIT: Duration = Duration::from_secs(30);

    /// The same over a store whose lock falls with a connection: that is found out at the next heartbeat, so heartbeats
    /// come every few seconds unless somebody says otherwise.
    #[must_use]
    pub fn over_a_session(&self) -> Self {
        let short = Times::new(Some(Duration::from_secs(30)), None, None, None);
        let times = short.ok().filter(|_| self.asked.nothing()).unwrap_or(self.times);
        Self { times, ..self.clone() }
    }

    /// The same under a rule's terms, which count where nobody said otherwise. A rule's TTL that does not go with the
    /// other times that somebody asked for is left aside: what was asked for fits without it.
    #[must_use]
    pub fn under(&self, policy: &Policy) -> Self {
        let times = self.asked.times(policy.ttl).unwrap_or(self.times);
        let patience = policy.wait.filter(|_| !self.wait_asked).map_or(self.patience, Patience::of);
        Self { times, patience, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn options(asked: AskedTimes, wait: Option<Duration>) -> Options {
        Options {
            operation: None,
            times: asked.times(None).expect("they fit"),
            asked,
            patience: Patience::of(wait.unwrap_or(Options::READY_WAIT)),
            wait_asked: wait.is_some(),
            session: None,
            keep: false,
            canary: true,
            force: None,
            on_lost: None,
            conflict_status: 75,
        }
    }

    #[test]
    fn a_rule_s_times_count_where_nobody_said_otherwise() {
        let ttl = |ttl| AskedTimes { ttl: Some(ttl), ..AskedTimes::default() };
        let deadline = |at| AskedTimes { renew_deadline: Some(at), ..AskedTimes::default() };
        let heartbeat = |every| AskedTimes { heartbeat: Some(every), ..AskedTimes::default() };
        let table = [
            (AskedTimes::default(), None, 30 * MINUTE, MINUTE),
            (AskedTimes::default(), Some(3 * MINUTE), 3 * MINUTE, MINUTE / 2),
            (ttl(MINUTE), Some(3 * MINUTE), MINUTE, MINUTE / 6),
            (heartbeat(MINUTE / 4), Some(3 * MINUTE), 3 * MINUTE, MINUTE / 4),
            (deadline(10 * MINUTE), Some(3 * MINUTE), 30 * MINUTE, MINUTE),
        ];
        for (asked, of_rule, expected, beat) in table {
            let policy = Policy { ttl: of_rule, ..Policy::default() };
            let times = options(asked, None).under(&policy).times;
            assert_eq!((times.ttl, times.heartbeat), (expected, beat), "{asked:?} under {of_rule:?}");
            assert!(times.stop_after(times.first_grant()) > times.heartbeat, "time for one renew at least");
        }
    }

    #[test]
    fn a_rule_s_wait_counts_where_nobody_said_otherwise() {
        let of = Patience::of;
        for (asked, of_rule, expected) in [
            (None, None, of(Options::READY_WAIT)),
            (None, Some(MINUTE), of(MINUTE)),
            (None, Some(Duration::ZERO), Patience::None),
            (Some(2 * MINUTE), Some(MINUTE), of(2 * MINUTE)),
            (Some(Duration::ZERO), Some(MINUTE), Patience::None),
        ] {
            let policy = Policy { wait: of_rule, ..Policy::default() };
            assert_eq!(
                options(AskedTimes::default(), asked).under(&policy).patience,
                expected,
                "{asked:?}, {of_rule:?}"
            );
        }
    }

    #[test]
    fn over_a_lock_that_falls_with_a_connection_a_rule_s_ttl_delays_no_news_of_the_loss() {
        let policy = Policy { ttl: Some(60 * MINUTE), ..Policy::default() };
        let times = options(AskedTimes::default(), None).under(&policy).over_a_session().times;
        assert_eq!(times.ttl, MINUTE / 2);
    }
}
