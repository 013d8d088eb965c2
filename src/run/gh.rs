//! The real `gh`, asked for the runs of a workflow. Facts: `gh help run list`, `gh help run watch`; the ids of runs grow.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::rules::Follow;

use super::arbiter;
use super::job::Job;

/// The program with what it is asked about.
pub(super) struct Gh<'a> {
    job: &'a Job<'a>,
    program: Option<PathBuf>,
    pub(super) workflow: &'a str,
    repository: Option<&'a str>,
}

/// One run, as `gh run list --json` has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) database_id: u64,
    pub(super) status: String,
    created_at: String,
}

impl<'a> Gh<'a> {
    /// The gh that the command is, else the first real one on PATH.
    pub(super) fn of(job: &'a Job<'a>, follow: &'a Follow) -> Self {
        let Follow::Workflow { workflow, repository } = follow;
        let own = Some(&job.order.program).filter(|program| program.file_name().is_some_and(|name| name == "gh"));
        let own = own.map(|program| job.context.invocation.cwd.join(program));
        let program = own.or_else(|| arbiter::real(job.context, "gh"));
        Self { job, program, workflow, repository: repository.as_deref() }
    }

    /// The newest run, or none; nothing when `run` could not have it listed, or what came is no list.
    ///
    /// # Errors
    /// When it cannot be run.
    pub(super) fn newest(&self, run: impl FnOnce(&mut Command) -> io::Result<bool>) -> io::Result<Option<Vec<Run>>> {
        let mut out = tempfile::tempfile()?;
        let mut command = self.command(&["run", "list", "--workflow", self.workflow])?;
        self.in_repository(&mut command);
        command.args(["--json", "databaseId,status,createdAt", "--limit", "1"]).stdout(out.try_clone()?);
        let listed = run(&mut command)?;
        Ok(runs(&mut out).filter(|_| listed))
    }

    /// Ends when the run does.
    ///
    /// # Errors
    /// When there is no gh.
    pub(super) fn watch(&self, run: &Run) -> io::Result<Command> {
        let mut command = self.command(&["run", "watch", &run.database_id.to_string()])?;
        self.in_repository(&mut command);
        Ok(command)
    }

    fn in_repository(&self, command: &mut Command) {
        command.args(self.repository.iter().flat_map(|name| ["--repo", name]));
    }

    /// As the command itself would run it, with nothing to read and nobody to tell.
    fn command(&self, words: &[&str]) -> io::Result<Command> {
        let around = &self.job.arbiter;
        let mut command = Command::new(self.program.as_ref().ok_or(io::ErrorKind::NotFound)?);
        command.args(words).env_clear().envs(around.env.iter().map(|(name, value)| (name, value)));
        command.env("GH_PROMPT_DISABLED", "1").env("GH_NO_UPDATE_NOTIFIER", "1").current_dir(&around.cwd);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }
}

fn runs(out: &mut File) -> Option<Vec<Run>> {
    let mut text = String::new();
    out.rewind().ok()?;
    out.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

impl Run {
    /// Was it triggered after the command began? By its number where the newest one from before is known (0: there was
    /// none), since GitHub's clock and ours need not agree; else by the time, in whole seconds since 1970.
    pub(super) fn is_new(&self, newest: Option<u64>, began: i64) -> bool {
        let created = || chrono::DateTime::parse_from_rfc3339(&self.created_at).ok();
        newest.map_or_else(|| created().is_some_and(|at| at.timestamp() >= began), |newest| self.database_id > newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_run_is_told_by_its_number_or_else_by_its_time() {
        // 2026-03-01T10:00:00Z is 1_772_359_200.
        let began = 1_772_359_200;
        for (id, created_at, newest, expected) in [
            (7, "2026-03-01T10:00:00Z", Some(6), true),
            (6, "2026-03-01T10:00:09Z", Some(6), false),
            (7, "2026-03-01T09:00:00Z", Some(6), true),
            (1, "2026-03-01T10:00:00Z", Some(0), true),
            (7, "2026-03-01T10:00:00Z", None, true),
            (7, "2026-03-01T11:00:00+01:00", None, true),
            (7, "2026-03-01T09:59:59Z", None, false),
            (7, "soon", None, false),
        ] {
            let run = Run { database_id: id, status: "queued".to_owned(), created_at: created_at.to_owned() };
            assert_eq!(run.is_new(newest, began), expected, "{run:?} after {newest:?}");
        }
    }
}
