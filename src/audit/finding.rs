//! What is wrong, and where.
#![forbid(unsafe_code)]

use std::fmt;

use crate::canary::{Fault, Names};
use crate::exit;
use crate::terms::percent_encode;

/// One thing that is wrong with one version of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Below the root of the repository, as git keeps it.
    pub path: Vec<u8>,
    /// The version; none where there is none.
    pub blob: Option<String>,
    /// The commit that brought it; none for what is staged.
    pub commit: Option<String>,
    /// What is wrong.
    pub wrong: Wrong,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// The content is not what it must be.
    Bad(Fault),
    /// It is what this SOPS file holds, in the open.
    Bared(String),
    /// Nobody has decided between two versions.
    Unmerged,
    /// No receipt, and no lease in this session's hands.
    Unlocked,
    /// A receipt, but of a write that had not seen what it replaces.
    Stale {
        /// The token of the write.
        token: i64,
        /// That of the version that it replaces.
        replaced: i64,
        /// What is lost of that one, where that could be told.
        lost: Option<Names>,
    },
    /// It lies in this zone, and this session has not held it.
    Zone(String),
    /// It lies in this zone, and nobody held that when it was committed.
    Unheld(String),
    /// The content is not here, so nobody can tell.
    Unseen,
}

impl Wrong {
    /// The exit status for it.
    #[must_use]
    pub fn status(&self) -> i32 {
        match self {
            Self::Bad(_) | Self::Bared(_) | Self::Unmerged => exit::QUARANTINED,
            Self::Unlocked | Self::Stale { .. } | Self::Zone(_) | Self::Unheld(_) => exit::UNLOCKED,
            Self::Unseen => exit::UNREACHABLE,
        }
    }

    /// The word for it in JSON.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Bad(Fault::Plaintext) | Self::Bared(_) => "plaintext",
            Self::Bad(Fault::RecipientsAdded(_) | Fault::RecipientsDropped(_)) => "recipients",
            Self::Bad(Fault::Merged) => "merged",
            Self::Bad(_) => "broken",
            Self::Unmerged => "unmerged",
            Self::Unlocked => "unlocked",
            Self::Stale { .. } => "stale",
            Self::Zone(_) | Self::Unheld(_) => "zone",
            Self::Unseen => "unseen",
        }
    }

    /// Whether it is wrong only at this path: the same content may be right elsewhere.
    pub(super) fn is_of_the_path(&self) -> bool {
        let of_path = |fault: &Fault| {
            matches!(fault, Fault::Plaintext | Fault::Empty | Fault::RecipientsAdded(_) | Fault::RecipientsDropped(_))
        };
        matches!(self, Self::Bad(fault) if of_path(fault))
            || matches!(self, Self::Bared(_) | Self::Zone(_) | Self::Unheld(_))
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bad(fault) => fault.fmt(f),
            Self::Bared(of) => write!(f, "it is what {of} holds, in the open"),
            Self::Unmerged => f.write_str("two versions of it are unmerged"),
            Self::Unlocked => f.write_str("this version was written without locked: it has no receipt"),
            Self::Stale { token, replaced, lost } => {
                if token < replaced {
                    write!(f, "an older version (token {token}) stands on a newer one (token {replaced})")?;
                } else {
                    write!(
                        f,
                        "this version (token {token}) was made without the one that it replaces (token {replaced})"
                    )?;
                }
                lost.as_ref().map_or(Ok(()), |lost| write!(f, ", of which is lost: {lost}"))
            }
            Self::Zone(name) => write!(f, "it lies in zone {name}, and this session has not held zone:{name}"),
            Self::Unheld(name) => {
                write!(f, "it lies in zone {name}, and nobody held zone:{name} when it was committed")
            }
            Self::Unseen => f.write_str("its content is not in this clone"),
        }
    }
}

impl Finding {
    /// The path, on one printable line.
    #[must_use]
    pub fn shown(&self) -> String {
        percent_encode(&self.path)
    }
}
