//! Why a store cannot answer.
#![forbid(unsafe_code)]

use std::path::PathBuf;

/// The store did not answer: we do not know. Each case carries what happened; the remedy is [`StoreError::remedy`].
#[derive(Debug, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum StoreError {
    /// The place where the store lives cannot be made or opened.
    #[error("the state directory {path} cannot be used: {why}")]
    Place {
        /// The directory or file.
        path: PathBuf,
        /// What happened.
        why: String,
        /// The next step.
        remedy: String,
    },
    /// Nothing of it can be reached in time.
    #[error("the store cannot be reached: {0}")]
    Unreachable(String),
    /// No way to it works, and the cause is known.
    #[error("the store cannot be reached: {why}")]
    NoWay {
        /// What happened at each place that was tried.
        why: String,
        /// The next step.
        remedy: String,
    },
    /// The configured store is of a kind that this build does not know.
    #[error("{why}")]
    Unknown {
        /// What was set, and by whom. Nothing of an address.
        why: String,
        /// Who said it: a variable, an option, a place in a file.
        said_by: String,
    },
    /// The address of the store cannot be used as it is.
    #[error("{why}")]
    Misnamed {
        /// What is wrong with it, and who gave it. Nothing of the address.
        why: String,
        /// The next step.
        remedy: String,
    },
    /// Others kept it busy until our limit.
    #[error("the store was busy with others for too long: {0}")]
    Contended(String),
    /// The disk is full.
    #[error("no space is left where the store lives ({path})")]
    Full {
        /// The store's file.
        path: PathBuf,
    },
    /// The database is damaged; a copy was put aside.
    #[error("the store at {path} is damaged ({why}); a copy is at {copy}")]
    Corrupt {
        /// The store's file.
        path: PathBuf,
        /// What SQLite says.
        why: String,
        /// Where the copy is.
        copy: PathBuf,
    },
    /// Written by a newer `locked`.
    #[error("the store has schema version {found}, this program knows {known}")]
    Newer {
        /// In the store.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// A server answered, and will not serve us as things are.
    #[error("the store refused: {why}")]
    Refused {
        /// What it said.
        why: String,
        /// The next step.
        remedy: String,
    },
    /// Anything else that the store said.
    #[error("the store failed: {0}")]
    Failed(String),
}

impl StoreError {
    /// It lies in what was set, not in the store: asking again changes nothing before that is right.
    #[must_use]
    pub fn is_of_the_setting(&self) -> bool {
        matches!(self, Self::Unknown { .. } | Self::Misnamed { .. })
    }

    /// The next step for a person.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Place { remedy, .. }
            | Self::NoWay { remedy, .. }
            | Self::Misnamed { remedy, .. }
            | Self::Refused { remedy, .. } => remedy.clone(),
            Self::Unreachable(_) | Self::Contended(_) => {
                "try again; `locked status` shows whether it answers".to_owned()
            }
            Self::Unknown { said_by, .. } => {
                format!("correct what {said_by} says: embedded, sqlite:FILE or postgres://…")
            }
            Self::Full { path } => format!("make room on the file system of {}", path.display()),
            Self::Corrupt { path, .. } => format!(
                "nothing was overwritten; move {} away to start an empty store once no command runs under a lease",
                path.display()
            ),
            Self::Newer { .. } => "update this copy of locked".to_owned(),
            Self::Failed(_) => "try again; if it stays, report the line above".to_owned(),
        }
    }
}
