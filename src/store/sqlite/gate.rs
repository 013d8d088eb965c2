//! The gate before the write lock: writers stand in line in the kernel instead of trying again and again.
//!
//! SQLite's own lock is what keeps writers apart; it can only be tried, and whoever sleeps between tries starves beside
//! those who come back at once. A kernel lock on the directory is waited for in order and costs nothing meanwhile. It is
//! manners alone: where it cannot be had (a system without it, a directory that cannot be opened, somebody who was
//! frozen in the gate), SQLite's lock decides.
#![forbid(unsafe_code)]

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::mpsc;
use std::time::Instant;

/// Our turn; over when dropped.
#[must_use]
pub(super) struct Turn {
    #[cfg_attr(not(all(test, unix)), expect(dead_code, reason = "held, not read"))]
    locked: Option<File>,
}

/// Waits for our turn in this directory, but only half of the time until the deadline: who stands in the gate may be
/// frozen, and SQLite's lock free.
pub(super) fn enter(directory: &Path, deadline: Instant) -> Turn {
    let Ok(file) = File::open(directory) else { return Turn { locked: None } };
    match file.try_lock() {
        Ok(()) => Turn { locked: Some(file) },
        Err(TryLockError::WouldBlock) => Turn { locked: wait(file, deadline) },
        Err(TryLockError::Error(_)) => Turn { locked: None },
    }
}

/// A kernel lock cannot be waited for with a limit, so a thread waits. When nobody takes its answer any more, the lock
/// falls with the file.
fn wait(file: File, deadline: Instant) -> Option<File> {
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
        return None;
    }
    let left = deadline.saturating_duration_since(Instant::now());
    receiver.recv_timeout(left / 2).ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(30)
    }

    #[cfg(unix)]
    fn late() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[cfg(unix)]
    #[test]
    fn one_at_a_time_and_who_gave_up_holds_nothing() {
        let directory = tempfile::tempdir().expect("directory");
        let turn = enter(directory.path(), late());
        assert!(turn.locked.is_some());
        for _ in 0..2 {
            assert!(enter(directory.path(), soon()).locked.is_none(), "who stands in the gate may be frozen");
        }
        drop(turn);
        assert!(enter(directory.path(), late()).locked.is_some(), "the turn comes, after those who gave up");
    }

    #[test]
    fn a_directory_that_cannot_be_opened_stops_nobody() {
        let directory = tempfile::tempdir().expect("directory");
        let missing = directory.path().join("missing");
        let _first = enter(&missing, soon());
        let _second = enter(&missing, soon());
    }
}
