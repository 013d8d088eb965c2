//! What the server calls out, for all who wait: one session listens, whoever asks hears what came since.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So many calls are kept for who is slow to hear them; who is slower takes it that something has changed.
const KEPT: usize = 4096;

/// Whether the server can call us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ear {
    /// Nobody has asked yet.
    Untried,
    /// One finds out.
    Trying,
    /// A session listens.
    Open,
    /// Somebody stands between us and the server.
    Deaf,
}

struct Log {
    ear: Ear,
    /// The last calls; none: what was called meanwhile is not known.
    last: VecDeque<Option<String>>,
    /// How many there have been.
    count: u64,
}

/// The log of calls.
pub(super) struct Calls {
    log: Mutex<Log>,
    came: Condvar,
}

impl Calls {
    pub(super) fn new() -> Self {
        let log = Mutex::new(Log { ear: Ear::Untried, last: VecDeque::new(), count: 0 });
        Self { log, came: Condvar::new() }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // Nothing is left half done under this lock.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the caller is the one to find out.
    pub(super) fn is_first(&self) -> bool {
        let mut log = self.log();
        let first = log.ear == Ear::Untried;
        if first {
            log.ear = Ear::Trying;
        }
        first
    }

    pub(super) fn found(&self, ear: Ear) {
        self.log().ear = ear;
        self.came.notify_all();
    }

    /// One call; none: some may have been missed.
    pub(super) fn put(&self, call: Option<String>) {
        let mut log = self.log();
        if log.last.len() == KEPT {
            log.last.pop_front();
        }
        log.last.push_back(call);
        log.count += 1;
        self.came.notify_all();
    }

    /// Until it is known whether the server can call us, for at most so long: and from where on one hears.
    pub(super) fn opened(&self, within: Duration) -> (Ear, u64) {
        let until = Instant::now() + within;
        let mut log = self.log();
        while log.ear == Ear::Trying {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return (Ear::Deaf, log.count);
            }
            log = self.came.wait_timeout(log, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        (log.ear, log.count)
    }

    /// Waits until so many calls after `from` were about one of these, for at most so long. From where on the next wait hears.
    pub(super) fn hear(&self, mut from: u64, wanted: &[String], changes: usize, span: Duration) -> u64 {
        let until = Instant::now() + span;
        let mut left_to_hear = changes;
        let mut log = self.log();
        loop {
            let first = log.count - u64::try_from(log.last.len()).unwrap_or(u64::MAX);
            if from < first {
                return log.count;
            }
            let skip = usize::try_from(from - first).unwrap_or(usize::MAX);
            for call in log.last.iter().skip(skip) {
                from += 1;
                let counts = call.as_ref().is_none_or(|call| wanted.contains(call));
                left_to_hear = if call.is_none() { 0 } else { left_to_hear.saturating_sub(usize::from(counts)) };
                if left_to_hear == 0 {
                    return from;
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return from;
            }
            log = self.came.wait_timeout(log, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(1);
    const LONG: Duration = Duration::from_secs(60);

    fn wanted() -> Vec<String> {
        vec!["global server:x".to_owned()]
    }

    #[test]
    fn who_waits_hears_what_came_since_and_only_what_it_is_about() {
        let calls = Calls::new();
        let call = |text: &str| calls.put(Some(text.to_owned()));
        call("global server:x");
        assert_eq!(calls.hear(1, &wanted(), 1, SOON), 1, "that was before");
        call("global server:y");
        assert_eq!(calls.hear(1, &wanted(), 1, SOON), 2, "that is another");
        call("global server:x");
        call("global server:x");
        assert_eq!(calls.hear(2, &wanted(), 1, LONG), 3);
        assert_eq!(calls.hear(2, &wanted(), 2, LONG), 4);
    }

    #[test]
    fn what_was_missed_counts_as_a_change() {
        let calls = Calls::new();
        calls.put(None);
        assert_eq!(calls.hear(0, &wanted(), 5, LONG), 1);
        (0..KEPT + 1).for_each(|_| calls.put(Some(String::new())));
        assert_eq!(calls.hear(1, &wanted(), 5, LONG), 4098, "more than is kept");
    }

    #[test]
    fn one_alone_finds_out_and_the_others_wait_for_it() {
        let calls = Calls::new();
        assert!(calls.is_first() && !calls.is_first());
        assert_eq!(calls.opened(SOON).0, Ear::Deaf, "nobody waits for ever");
        calls.found(Ear::Open);
        assert_eq!(calls.opened(LONG), (Ear::Open, 0));
    }
}
