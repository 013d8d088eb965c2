//! The real `gh`, asked for the runs of a workflow. Facts: `gh help run list`, `gh help run watch`; the ids of runs grow.
#![forbid(unsafe_code)]

mod since;

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub(super) use self::since::{Run, Since};

use crate::rules::Follow;

use super::arbiter;
use super::job::Job;

/// So many runs are looked at, the newest.
pub(super) const MOST: usize = 30;

/// The program with what it is asked about.
pub(super) struct Gh<'a> {
    job: &'a Job<'a>,
    program: Option<PathBuf>,
    pub(super) workflow: &'a str,
    follow: &'a Follow,
}

impl<'a> Gh<'a> {
    /// The gh that the command is, else the first real one on PATH.
    pub(super) fn of(job: &'a Job<'a>, follow: &'a Follow) -> Self {
        let own = Some(&job.order.program).filter(|program| program.file_name().is_some_and(|name| name == "gh"));
        let own = own.map(|program| job.context.invocation.cwd.join(program));
        let program = own.or_else(|| arbiter::real(job.context, "gh"));
        Self { job, program, workflow: &follow.workflow, follow }
    }

    /// The newest runs; nothing when `run` could not have them listed, or what came is no list.
    ///
    /// # Errors
    /// When it cannot be run.
    pub(super) fn runs(&self, run: impl FnOnce(&mut Command) -> io::Result<bool>) -> io::Result<Option<Vec<Run>>> {
        let mut out = tempfile::tempfile()?;
        let mut command = self.command(&["run", "list", "--workflow", self.workflow])?;
        self.in_repository(&mut command);
        let most = MOST.to_string();
        command.args(["--json", "databaseId,status,createdAt,event", "--limit", &most]).stdout(out.try_clone()?);
        let listed = run(&mut command)?;
        Ok(runs(&mut out).filter(|_| listed))
    }

    /// Ends when the run does.
    ///
    /// # Errors
    /// When there is no gh.
    pub(super) fn watch(&self, run: &Run) -> io::Result<Command> {
        let mut command = self.command(&["run", "watch", &run.id().to_string()])?;
        self.in_repository(&mut command);
        Ok(command)
    }

    fn in_repository(&self, command: &mut Command) {
        command.args(self.follow.repository.iter().flat_map(|name| ["--repo", name]));
    }

    /// As the command itself would run it, with nothing to read and nobody to tell.
    fn command(&self, words: &[&str]) -> io::Result<Command> {
        let around = &self.job.arbiter;
        let mut command = Command::new(self.program.as_ref().ok_or(io::ErrorKind::NotFound)?);
        let env = self.follow.env.over(around.env.iter().map(|(name, value)| (name.into(), value.into())).collect());
        command.args(words).env_clear().envs(env).current_dir(&self.follow.cwd);
        command.env("GH_PROMPT_DISABLED", "1").env("GH_NO_UPDATE_NOTIFIER", "1");
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
