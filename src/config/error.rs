//! What can be wrong with a setting.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use crate::terms::shell_quote;

/// A setting that cannot be followed. No value of a file is repeated: it may be an address with a password.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there and cannot be read.
    #[error("{path:?} cannot be read: {source}")]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is no regular file, or larger than any settings.
    #[error("{path:?} is no regular file of at most {} KiB", longest / 1024)]
    NoFile {
        /// Which.
        path: PathBuf,
        /// How many bytes it may have.
        longest: u64,
    },
    /// It is no TOML, or has a key that we do not know.
    #[error("{path:?}, line {line}, column {column}: {what}")]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Counted from one.
        line: usize,
        /// Counted from one, in characters.
        column: usize,
        /// What was expected.
        what: String,
    },
    /// `store` does not say where, or says it twice.
    #[error("{path:?}: store needs exactly one of url, url_env and url_sops")]
    Choice {
        /// Which file.
        path: PathBuf,
    },
    /// A repository's file wants what only a trusted one may.
    #[error("{path:?} came with the repository, is not trusted, and sets {key}")]
    Untrusted {
        /// Which file.
        path: PathBuf,
        /// Which key.
        key: &'static str,
    },
    /// What should say which repositories are trusted does not.
    #[error("{variable} needs {expected}, separated by colons")]
    NoPattern {
        /// The variable.
        variable: &'static str,
        /// What each of them must be.
        expected: &'static str,
    },
    /// Times of files that do not fit together.
    #[error("{what}, as set by {sources}")]
    Times {
        /// What does not fit.
        what: String,
        /// Who set them.
        sources: String,
    },
    /// The variable that a file names is not set.
    #[error("{path:?} takes the store's address from {variable}, which is not set")]
    Unset {
        /// Which file.
        path: PathBuf,
        /// Which variable.
        variable: String,
    },
    /// An address that is no UTF-8 text.
    #[error("the store's address in {0} is not UTF-8")]
    NotText(String),
    /// The files of one command belong to repositories with different stores.
    #[error("the files of this command belong to repositories with different stores ({0:?} and {1:?})")]
    TwoStores(PathBuf, PathBuf),
}

impl ConfigError {
    /// The next step for a person.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Unreadable { .. } | Self::NoFile { .. } => "make it readable, or remove it".to_owned(),
            Self::Malformed { .. } => "correct that line".to_owned(),
            Self::Choice { .. } => "for example: store = { url_env = \"DATABASE_URL\" }".to_owned(),
            Self::Untrusted { path, key } => {
                let place = path.parent().unwrap_or(path).as_os_str().as_encoded_bytes();
                let trust = format!("read that file, and if it is right: `locked config trust {}`", shell_quote(place));
                match *key {
                    "store.schema" => format!("{trust} (or locked_schema=NAME in the address that the variable has)"),
                    _ => trust,
                }
            }
            Self::NoPattern { variable, .. } => format!("for example {variable}=github.com/acme/infra"),
            Self::Times { .. } => "set ttl alone: the others follow from it".to_owned(),
            Self::Unset { variable, .. } => format!("set {variable} to the store's address, postgres://…"),
            Self::NotText(_) => "write it as text, other bytes percent-encoded".to_owned(),
            Self::TwoStores(..) => "write to them one after the other".to_owned(),
        }
    }
}
