//! What is known of a success beyond the files: whether what it set off elsewhere has ended, and whether the command that
//! is to prove it did.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::canary;
use crate::platform;
use crate::rules::Canary;
use crate::supervise::Outcome;

use super::job::Job;
use super::words::Words;

/// How long the proof may take: 1 minute.
const PROOF: Duration = Duration::from_secs(60);

/// What came later.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Later {
    /// What it set off elsewhere was followed to its end.
    pub(super) followed: bool,
    /// The proof failed: how.
    pub(super) unproven: Option<String>,
}

impl Later {
    /// Nothing was followed. Where something was to be, it is too early for a proof.
    pub(super) fn proven(job: &Job<'_>, outcome: Outcome, words: &Words) -> Self {
        let proof = job.plan.policy.follow.is_empty().then(|| failure(job, outcome, words)).flatten();
        Self { followed: false, unproven: proof }
    }

    /// It was followed to its end.
    pub(super) fn followed(job: &Job<'_>, outcome: Outcome, words: &Words) -> Self {
        Self { followed: true, unproven: failure(job, outcome, words) }
    }
}

/// Runs the rule's own proof of a success, in the environment and the directory of the command, with nothing to read and
/// nobody to tell. How it failed, if it did; never an argument of it, which may hold a secret.
fn failure(job: &Job<'_>, outcome: Outcome, words: &Words) -> Option<String> {
    let Canary::Command(proof) = &job.plan.policy.canary else { return None };
    let (program, args) = proof.split_first().filter(|_| job.options.canary && job.succeeded(outcome))?;
    let around = &job.arbiter;
    // Where the system would look beside us and in the working directory as well, PATH alone says what is meant.
    let found = if cfg!(windows) { super::arbiter::real(job.context, program) } else { Some(program.into()) };
    let Some(found) = found else { return Some(missing(program)) };
    let mut command = Command::new(found);
    command.args(args).env_clear().envs(around.env.iter().map(|(name, value)| (name, value)));
    command.envs(words.begin(job).variables).current_dir(&around.cwd);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let how = match canary::run_within(&mut command, PROOF) {
        Ok(Some(status)) if status.success() => return None,
        Ok(Some(status)) => ended(status),
        Ok(None) => format!("took longer than {} s", PROOF.as_secs()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(missing(program)),
        Err(error) => format!("cannot be run ({}); correct the canary of the rule", error.kind()),
    };
    Some(told(program, &how))
}

fn missing(program: &str) -> String {
    told(program, "is not there; install it, or correct the canary of the rule")
}

fn told(program: &str, how: &str) -> String {
    let name = Path::new(program).file_name().map_or_else(|| "it".into(), |name| name.to_string_lossy());
    format!("{name} {how}")
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), platform::signal(status)) {
        (Some(code), _) => format!("failed with status {code}"),
        (None, Some(signal)) => format!("died by signal {signal}"),
        (None, None) => "failed".to_owned(),
    }
}
