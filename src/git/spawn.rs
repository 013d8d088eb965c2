//! git as a program, told exactly which repository is meant.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::{self, FileId};

use super::{Environment, GitError, Repository};

/// Variables that would point git at another repository or another view of it. A git hook, for one, runs with them set.
const MISLEADING: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_CONFIG",
];

/// Variables that choose which configuration git reads: these follow the named command's environment.
const CONFIGURING: &[&str] = &[
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
];

impl Repository {
    /// A git command on this repository. The repository is given explicitly, so that git neither searches nor asks who
    /// owns it (`safe.directory`): sudo and the user must come to one answer, and what is run here only reads. It
    /// fetches nothing and asks nobody.
    pub(super) fn git(&self, env: Environment<'_>) -> Command {
        let mut command = Command::new(real_git(env, &self.worktree_root));
        command
            .arg("--git-dir")
            .arg(&self.git_dir)
            .arg("--work-tree")
            .arg(&self.worktree_root)
            .args(["-c", "protocol.allow=never"])
            .current_dir(&self.worktree_root)
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        surround(&mut command, env);
        command
    }

    /// What such a command prints. `name` is the sub-command, for the error; `need` says what it is for.
    pub(super) fn ask<S: AsRef<OsStr>>(
        &self,
        env: Environment<'_>,
        name: &'static str,
        args: impl IntoIterator<Item = S>,
        need: &'static str,
    ) -> Result<Vec<u8>, GitError> {
        let output = self.git(env).arg(name).args(args).output().map_err(|source| GitError::NoGit { need, source })?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(GitError::Failed { command: name, directory: self.worktree_root.clone(), status: output.status })
    }

    /// The same for sub-commands that say "there is none" by ending with 1.
    pub(super) fn ask_whether<S: AsRef<OsStr>>(
        &self,
        env: Environment<'_>,
        name: &'static str,
        args: impl IntoIterator<Item = S>,
        need: &'static str,
    ) -> Result<Option<Vec<u8>>, GitError> {
        match self.ask(env, name, args, need) {
            Err(GitError::Failed { status, .. }) if status.code() == Some(1) => Ok(None),
            other => other.map(Some),
        }
    }
}

/// The real git, past a shim of ours: that would ask us, who ask git.
pub(crate) fn real_git(env: Environment<'_>, cwd: &Path) -> PathBuf {
    let git = OsStr::new("git");
    let found = env("PATH").zip(FileId::ourselves().ok());
    let found = found.and_then(|(path, ourselves)| program::resolve(git, Some(&path), cwd, ourselves).ok());
    found.map_or_else(|| NOT_FOUND.into(), |program| cwd.join(program.path))
}

/// What is started when there is no git, and is not there. On Windows a name alone would be looked for in other places than
/// PATH, beside us and where we are.
const NOT_FOUND: &str = if cfg!(windows) { r"C:\git is not on PATH" } else { "git" };

/// A git command that is about no repository.
pub(super) fn nowhere(env: Environment<'_>) -> Command {
    let mut command = Command::new(real_git(env, Path::new("/")));
    command.current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
    surround(&mut command, env);
    command
}

/// The configuration that the named command's environment chooses, and nothing else of it that would lead git astray.
fn surround(command: &mut Command, env: Environment<'_>) {
    for name in MISLEADING {
        command.env_remove(name);
    }
    for name in CONFIGURING {
        pass(command, env, name);
    }
    let count: usize = env("GIT_CONFIG_COUNT").and_then(|count| count.to_str()?.parse().ok()).unwrap_or(0);
    for index in 0..count.min(1000) {
        pass(command, env, &format!("GIT_CONFIG_KEY_{index}"));
        pass(command, env, &format!("GIT_CONFIG_VALUE_{index}"));
    }
    only_reading(command);
}

/// It shows objects as they are, fetches nothing, writes nothing on the way, asks nobody, and speaks one language.
pub(crate) fn only_reading(command: &mut Command) {
    command
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
}

fn pass(command: &mut Command, env: Environment<'_>, name: &str) {
    match env(name) {
        Some(value) => command.env(name, value),
        None => command.env_remove(name),
    };
}
