//! How git is started.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::Door;
use crate::git::{self, GitError};

/// Would change what a path argument means.
const PATHSPECS: &[&str] =
    &["GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"];

impl Door {
    pub(super) fn git(&self) -> Command {
        let mut command = Command::new(&self.git);
        // We name objects in full: git would look six times each whether a ref is called so too.
        command.args(["-c", "core.warnAmbiguousRefs=false"]);
        command.current_dir(&self.directory).stdin(Stdio::null()).stderr(Stdio::null());
        PATHSPECS.iter().for_each(|name| _ = command.env_remove(name));
        git::only_reading(&mut command);
        command
    }

    pub(super) fn ask<S: AsRef<OsStr>>(
        &self,
        name: &'static str,
        args: impl IntoIterator<Item = S>,
        need: &'static str,
    ) -> Result<Vec<u8>, GitError> {
        let output = self.git().arg(name).args(args).output().map_err(|source| GitError::NoGit { need, source })?;
        checked(name, &self.directory, output.status).map(|()| output.stdout)
    }

    /// The same where a failure is an answer.
    pub(super) fn maybe<S: AsRef<OsStr>>(
        &self,
        name: &'static str,
        args: impl IntoIterator<Item = S>,
    ) -> Result<Option<Vec<u8>>, GitError> {
        match self.ask(name, args, "to find the repository") {
            Err(GitError::Failed { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    /// A command that reads this from a file, so that neither of us waits for the other.
    pub(super) fn fed(&self, args: &[&str], input: &[u8]) -> Result<(Child, std::process::ChildStdout), GitError> {
        let no_git = |source| GitError::NoGit { need: "to read objects", source };
        let mut file = tempfile::tempfile().map_err(no_git)?;
        file.write_all(input).and_then(|()| file.rewind()).map_err(no_git)?;
        let mut command = self.git();
        let mut child = command.args(args).stdin(file).stdout(Stdio::piped()).spawn().map_err(no_git)?;
        let output = child.stdout.take().ok_or_else(|| no_git(std::io::ErrorKind::BrokenPipe.into()))?;
        Ok((child, output))
    }
}

pub(super) fn ended(name: &'static str, directory: &Path, child: &mut Child) -> Result<(), GitError> {
    let status = child.wait().map_err(cannot_read)?;
    checked(name, directory, status)
}

fn checked(command: &'static str, directory: &Path, status: ExitStatus) -> Result<(), GitError> {
    if status.success() {
        return Ok(());
    }
    Err(GitError::Failed { command, directory: directory.to_owned(), status })
}

pub(super) fn cannot_read(source: std::io::Error) -> GitError {
    GitError::NoGit { need: "to read objects", source }
}
