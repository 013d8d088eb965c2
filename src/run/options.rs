//! What was asked of a run, and what a rule's terms make of it.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::time::Duration;

use crate::config::{Key, Settings};
use crate::lease::Patience;
use crate::rules::Policy;
use crate::settle::Holds;
use crate::terms::{Issue, SessionId, Times};

use super::AskedTimes;

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
    /// `--accept-stale`.
    pub accept_stale: bool,
    /// The reason of `--force`.
    pub force: Option<String>,
    /// `--on-lost`.
    pub on_lost: Option<OsString>,
    /// `--issue`.
    pub issue: Option<Issue>,
    /// `--consumers-ok`.
    pub consumers_ok: bool,
    /// `--conflict-exit-code`.
    pub conflict_status: i32,
    /// How long a stopped job (Ctrl-Z) is renewed; one TTL when nobody says.
    pub stopped_max: Duration,
    /// How long what is kept stays, where the settings say.
    pub holds: Holds,
    /// What the files say, for what no option is there for.
    pub settings: Settings,
}

impl Options {
    /// The same over a store whose lock falls with a connection: that is found out at the next heartbeat, so heartbeats
    /// come every few seconds unless somebody says otherwise.
    #[must_use]
    pub fn over_a_session(&self) -> Self {
        let short = Times::new(Some(Duration::from_secs(30)), None, None, None);
        let times = short.ok().filter(|_| self.nobody_said_times()).unwrap_or(self.times);
        self.with(times)
    }

    /// The same under a rule's terms, which count where nobody said otherwise. A rule's TTL that does not go with the
    /// other times that somebody asked for is left aside: what was asked for fits without it.
    #[must_use]
    pub fn under(&self, policy: &Policy) -> Self {
        let asked = AskedTimes { ttl: self.asked.ttl.or(policy.ttl), ..self.asked };
        let times = super::times(&asked, &self.settings).unwrap_or(self.times);
        let patience = policy.wait.filter(|_| !self.wait_asked).map_or(self.patience, Patience::of);
        Self { patience, ..self.with(times) }
    }

    fn nobody_said_times(&self) -> bool {
        let keys = [Key::Ttl, Key::Heartbeat, Key::RenewDeadline, Key::Grace];
        self.asked == AskedTimes::default() && keys.iter().all(|&key| self.settings.value(key).is_none())
    }

    fn with(&self, times: Times) -> Self {
        let stopped_max = self.settings.length(Key::StoppedMax).unwrap_or(times.ttl);
        Self { times, stopped_max, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const READY: Duration = Duration::from_secs(30);

    fn options(asked: AskedTimes, wait: Option<Duration>) -> Options {
        Options {
            operation: None,
            times: crate::run::times(&asked, &Settings::default()).expect("they fit"),
            asked,
            patience: Patience::of(wait.unwrap_or(READY)),
            wait_asked: wait.is_some(),
            session: None,
            keep: false,
            canary: true,
            accept_stale: false,
            force: None,
            on_lost: None,
            issue: None,
            consumers_ok: false,
            conflict_status: 75,
            stopped_max: MINUTE,
            holds: Holds::default(),
            settings: Settings::default(),
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
            (None, None, of(READY)),
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
