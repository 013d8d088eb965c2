//! Commands that must end as said, and looks that come to an end.
#![forbid(unsafe_code)]

use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// How long anything may take before a test says that it never came.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Runs it, and wants this exit status.
#[track_caller]
pub(crate) fn ends(command: &mut Command, status: i32) -> Output {
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(status), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    output
}

/// Runs it, and wants this exit status; the answer is what it said on standard error.
#[track_caller]
pub(crate) fn says(command: &mut Command, status: i32) -> String {
    text(&ends(command, status).stderr)
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Looks until it is so; `LIMIT` is the end.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < LIMIT, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
