//! The gate before the write lock: writers stand in line in the kernel instead of trying again and again.
//!
//! SQLite's own lock is what keeps writers apart; it can only be tried, and whoever sleeps between tries starves beside
//! those who come back at once. A kernel lock on the directory is waited for in order and costs nothing meanwhile. It is
//! manners alone: where it cannot be had (a system without it, a directory that cannot be opened), SQLite's lock decides.
#![forbid(unsafe_code)]

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::mpsc;
use std::time::Instant;

/// Our turn; over when dropped.
#[must_use]
pub(super) struct Turn {
    _locked: Option<File>,
}

/// Waits for our turn in this directory; none when the deadline came first.
pub(super) fn enter(directory: &Path, deadline: Instant) -> Option<Turn> {
    let Ok(file) = File::open(directory) else { return Some(Turn { _locked: None }) };
    match file.try_lock() {
        Ok(()) => Some(Turn { _locked: Some(file) }),
        Err(TryLockError::WouldBlock) => wait(file, deadline),
        Err(TryLockError::Error(_)) => Some(Turn { _locked: None }),
    }
}

/// A kernel lock cannot be waited for with a limit, so a thread waits. When nobody takes its answer any more, the lock
/// falls with the file.
fn wait(file: File, deadline: Instant) -> Option<Turn> {
    let (sender, receiver) = mpsc::channel();
    let waiting = move || {
        let locked = loop {
            match file.lock() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other.is_ok().then_some(file),
            }
        };
        // Nobody listens any more: the file is dropped here, and with it the lock.
        let _given_up = sender.send(locked);
    };
    if std::thread::Builder::new().name("gate".to_owned()).spawn(waiting).is_err() {
        return Some(Turn { _locked: None });
    }
    let left = deadline.saturating_duration_since(Instant::now());
    receiver.recv_timeout(left).ok().map(|locked| Turn { _locked: locked })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(30)
    }

    fn late() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn one_at_a_time_and_who_gave_up_holds_nothing() {
        let directory = tempfile::tempdir().expect("directory");
        let turn = enter(directory.path(), late()).expect("free");
        assert!(enter(directory.path(), soon()).is_none());
        assert!(enter(directory.path(), soon()).is_none());
        drop(turn);
        drop(enter(directory.path(), late()).expect("the turn comes, after those who gave up"));
    }

    #[test]
    fn a_directory_that_cannot_be_opened_stops_nobody() {
        let directory = tempfile::tempdir().expect("directory");
        let missing = directory.path().join("missing");
        let _first = enter(&missing, soon()).expect("no gate");
        let _second = enter(&missing, soon()).expect("no gate");
    }
}
