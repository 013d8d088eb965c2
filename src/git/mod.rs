//! `git`: what a repository says of a file: where its work tree begins, where its origin is, which branch is checked
//! out, what HEAD holds. It reads git's own files where their format is fixed (that costs microseconds) and asks git
//! where only git knows. It never writes to a repository.
//!
//! Which repository a file belongs to is decided by the file's place alone. `GIT_DIR`, `GIT_WORK_TREE` and
//! `GIT_CEILING_DIRECTORIES` are not consulted: one file must not change its repository with the caller's environment.
#![forbid(unsafe_code)]

mod attributes;
mod config;
mod discover;
mod fetched;
mod head;
mod history;
mod include;
mod object;
mod origin;
mod reflog;
mod spawn;
mod tracked;
mod tree;
mod uncommitted;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::platform::OsStringExt as _;

pub(crate) use fetched::modified;
pub use history::{History, Standing};
pub use object::ObjectFormat;
pub(crate) use spawn::{only_reading, real_git};
pub use tracked::{Tracked, settings};
pub use uncommitted::{Incoming, Uncommitted};

/// Looks a variable up in the environment of the command that is named.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// A repository with a work tree. All three paths are physical (no symbolic link, no `..`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The directory that holds `.git`.
    pub worktree_root: PathBuf,
    /// What belongs to this work tree alone: HEAD, index.
    pub git_dir: PathBuf,
    /// What all its work trees share: objects, refs, configuration. The same as `git_dir` but in a linked work tree.
    pub common_dir: PathBuf,
}

/// Why a repository could not be read. No variant carries file content, and none a remote's URL.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// A file of the repository cannot be read.
    #[error("cannot read {path:?}: {source}; make it readable for this user, then try again")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A `.git` file that leads nowhere: the main repository was moved, or is not mounted here.
    #[error(
        "{dot_git:?} does not lead to a repository ({why}); `git worktree repair` repairs a moved one, in a container mount the main repository as well"
    )]
    Broken {
        /// The `.git` file.
        dot_git: PathBuf,
        /// What is missing.
        why: String,
    },
    /// The configuration does not parse; git would refuse it as well.
    #[error(
        "{path:?} line {line} is not git configuration; `git config --list` in that repository shows what git says"
    )]
    BadConfig {
        /// Which file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// git itself is needed and cannot be started.
    #[error("this needs git ({need}), and it cannot be started: {source}; install git or put it on PATH")]
    NoGit {
        /// What it is needed for.
        need: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// git ran and failed. Its own words are not repeated, they may show a URL with a password.
    #[error("`git {command}` failed in {directory:?} ({status}); run it there to see why")]
    Failed {
        /// The sub-command.
        command: &'static str,
        /// Where.
        directory: PathBuf,
        /// How it ended.
        status: std::process::ExitStatus,
    },
}

impl Repository {
    /// The path of a file inside the work tree; none when it lies elsewhere.
    #[must_use]
    pub fn inside<'a>(&self, file: &'a Path) -> Option<&'a Path> {
        file.strip_prefix(&self.worktree_root).ok()
    }
}

/// A path from the bytes git keeps in its files. On systems whose paths are not bytes, git keeps UTF-8.
pub(crate) fn path_from(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(bytes.to_owned()))
}

/// A file's bytes; none when there is no such file.
fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, GitError> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        Err(source) => Err(GitError::Unreadable { path: path.to_owned(), source }),
    }
}
