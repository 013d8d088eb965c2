//! Why a shim cannot be made, read or taken away.
#![forbid(unsafe_code)]

use std::io;
use std::path::PathBuf;

/// Texts quote paths, so that they stay on one line.
#[derive(Debug, thiserror::Error)]
pub enum ShimError {
    /// The word is no name of a program.
    #[error("{name:?} is no name of a program: a shim has one part, without `/`")]
    NoName {
        /// As given.
        name: String,
    },
    /// `locked` in front of itself would find nobody behind it.
    #[error("locked cannot stand in front of itself")]
    Ourselves,
    /// There is no directory to use.
    #[error("there is no folder for shims: {why}; name one with --dir")]
    NoFolder {
        /// What is missing.
        why: String,
    },
    /// Something else stands where the shim belongs.
    #[error("{path:?} is not ours, and stays as it is; move it away, or install elsewhere with --dir")]
    NotOurs {
        /// Where.
        path: PathBuf,
    },
    /// Whom the links should lead to is not there.
    #[error("the program locked cannot be named by a path that lasts; call it by its path")]
    NoLauncher,
    /// The system refused.
    #[error("{path:?} {what}: {source}")]
    Failed {
        /// Where.
        path: PathBuf,
        /// What failed.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}
