//! Why hooks cannot be put there.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use crate::git::GitError;

/// Why hooks cannot be put there or taken away.
#[derive(Debug, thiserror::Error)]
pub enum HooksError {
    /// There is no repository.
    #[error("{0:?} lies in no repository")]
    NoRepository(PathBuf),
    /// Somebody else's directory.
    #[error("git takes its hooks from {directory:?} ({whose}), which is not this repository's own to write")]
    Elsewhere {
        /// Where git looks.
        directory: PathBuf,
        /// Whose it is.
        whose: &'static str,
    },
    /// The hook of somebody else that we had moved aside, and another one where ours was.
    #[error("{hook:?} is not the hook that locked put there, and {aside:?} still holds the one of before")]
    Between {
        /// The hook.
        hook: PathBuf,
        /// What was there before.
        aside: PathBuf,
    },
    /// Nothing can be written there.
    #[error("cannot change {path:?}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is there, and git does not run it.
    #[error("{hook:?} is there, but git does not run it: {why}")]
    NotRun {
        /// The hook.
        hook: PathBuf,
        /// What came instead.
        why: String,
    },
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl HooksError {
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// The next step.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::NoRepository(_) => "go into a repository, or `git init` one".to_owned(),
            Self::Elsewhere { .. } => "add the lines above to those hooks".to_owned(),
            Self::Between { aside, .. } => {
                format!("look at both, keep the one that is right under the hook's name, and remove {aside:?}")
            }
            Self::Io { .. } => "make it writable for this user, then try again".to_owned(),
            Self::NotRun { .. } => "check that the directory may hold programs (noexec), then try again".to_owned(),
            Self::Git(_) => "see what git says there".to_owned(),
        }
    }
}
