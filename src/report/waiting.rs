//! One line while we wait: after a second, kept up to date on a terminal, repeated now and then elsewhere.
#![forbid(unsafe_code)]

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use crate::lease::Notice;

use super::Voice;
use super::time::{clock_time, rough_span};

const FIRST: Duration = Duration::from_secs(1);
const ON_TERMINAL: Duration = Duration::from_secs(1);
const ELSEWHERE: Duration = Duration::from_secs(30);

/// The line and when it was last shown.
#[derive(Debug)]
pub struct Waiting {
    wanted: String,
    voice: Voice,
    shown: Option<Duration>,
    terminal: bool,
}

impl Waiting {
    /// Nothing shown yet.
    #[must_use]
    pub fn new(wanted: String, voice: Voice) -> Self {
        Self { wanted, voice, shown: None, terminal: std::io::stderr().is_terminal() }
    }

    /// Called at every look; shows the line when it is due.
    pub fn notice(&mut self, notice: &Notice<'_>) {
        if self.voice == Voice::Quiet || !due(self.shown, notice.waited, self.terminal) {
            return;
        }
        self.shown = Some(notice.waited);
        let line = line(&self.wanted, notice);
        let mut stderr = std::io::stderr().lock();
        let _nobody_may_listen =
            if self.terminal { write!(stderr, "\r\x1b[K{line}") } else { writeln!(stderr, "{line}") };
    }

    /// Takes the line away from a terminal.
    pub fn done(&self) {
        if self.terminal && self.shown.is_some() {
            let _nobody_may_listen = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

fn due(shown: Option<Duration>, waited: Duration, terminal: bool) -> bool {
    match shown {
        None => waited >= FIRST,
        Some(last) => waited.saturating_sub(last) >= if terminal { ON_TERMINAL } else { ELSEWHERE },
    }
}

fn line(wanted: &str, notice: &Notice<'_>) -> String {
    let waited = rough_span(notice.waited);
    match notice.blockers.first() {
        Some(blocker) => {
            let lease = &blocker.lease;
            let since = clock_time(lease.acquired_at);
            format!(
                "locked: waiting {waited} for {}, held by {} ({}) since {since}, place {}",
                lease.resource, lease.session, lease.label, notice.place
            )
        }
        None => format!("locked: waiting {waited} for {wanted}, place {}", notice.place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_comes_after_a_second_and_is_repeated_rarely() {
        let s = Duration::from_secs;
        assert!(!due(None, Duration::from_millis(999), false));
        assert!(due(None, s(1), false));
        assert!(!due(Some(s(1)), s(30), false));
        assert!(due(Some(s(1)), s(31), false));
        assert!(due(Some(s(1)), s(2), true));
    }
}
