//! Why settings or instructions cannot be read or changed.
#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};

/// Paths are quoted, so that they stay on one line. Nothing of a file's content is repeated.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    /// It is not known where the account's settings are.
    #[error("neither {variable} nor HOME names an absolute path")]
    NoHome {
        /// The agent's own variable.
        variable: &'static str,
    },
    /// The settings are no JSON.
    #[error("{path:?} is not JSON at line {line}, column {column}: {what}")]
    NotJson {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// They are JSON of another shape than the agent reads.
    #[error("{path:?} is not what the agent reads: {what}")]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Our block has lost one of its ends, or stands there twice.
    #[error("{path:?}:{line}: {what}")]
    HalfBlock {
        /// The file.
        path: PathBuf,
        /// The line of the end that cannot be understood, counted from 1.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// It is no text.
    #[error("{path:?} is not UTF-8")]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A link that leads to no file.
    #[error("{path:?} is a link that leads nowhere")]
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// Somebody else has written it meanwhile.
    #[error("{path:?} was written by somebody else at this moment")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{path:?}: {source}")]
    Failed {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl AgentsError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Failed { path, source }
    }

    /// The next step for a person.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::NoHome { variable } => format!("set HOME, or {variable}"),
            Self::NotJson { .. } | Self::Shape { .. } => "correct the file; it was left as it is".to_owned(),
            Self::HalfBlock { .. } => "take that line out of the file, or the block around it".to_owned(),
            Self::NotText { .. } | Self::Dangling { .. } => "look at the file; it was left as it is".to_owned(),
            Self::Changed { .. } => "try again".to_owned(),
            Self::Failed { .. } => "make the file and its directory writable for you".to_owned(),
        }
    }
}
