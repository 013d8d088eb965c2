//! `--on-lost CMD`: one command after a lost lease, for telling somebody or for undoing what was half done.
#![forbid(unsafe_code)]

use std::process::Stdio;
use std::time::Duration;

use crate::canary;
use crate::platform;
use crate::report;
use crate::supervise::Cause;

use super::job::Job;

/// How long the command may take: long enough for a message over a network, short enough that nobody waits for us.
const LIMIT: Duration = Duration::from_secs(30);

/// Runs the command once, with nothing on standard input and its output on standard error, so that nobody takes it for
/// the program's. How it ends changes nothing about our status; that it failed is said.
pub(super) fn run(job: &Job<'_>, cause: Cause) {
    let Some(text) = &job.options.on_lost else { return };
    let mut command = platform::shell(text);
    command
        .env("LOCKED_RESOURCES", job.wanted())
        .env("LOCKED_LOST_CAUSE", cause.word())
        .stdin(Stdio::null())
        .stdout(platform::standard_error().map_or_else(|_| Stdio::null(), Stdio::from));
    // The command may carry a secret (a token in a URL), so it is not repeated.
    let failure = match canary::run_within(&mut command, LIMIT) {
        Ok(Some(status)) if status.success() => return,
        Ok(Some(status)) => status.to_string(),
        Ok(None) => format!("it was stopped after {} s", LIMIT.as_secs()),
        Err(error) => error.to_string(),
    };
    report::say(&format!("locked: the command of --on-lost failed: {failure}"));
}
