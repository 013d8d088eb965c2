//! Why there is no program to run.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use crate::terms::may_hold_a_secret;

/// Something of the right name that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub why: SkipReason,
}

/// Why a place was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// It is this very program under another name: a shim.
    Ourselves,
    /// It is another copy or build of `locked`.
    Copy,
    /// It is a directory.
    Directory,
    /// It is no regular file, or a part of the path is no directory.
    NotAFile,
    /// We may not execute it.
    NoPermission,
    /// We may not look into a directory on the way.
    Unreachable,
    /// It was started in this chain already, and came back to us.
    LedBack,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ourselves => "a shim of locked",
            Self::Copy => "another copy of locked",
            Self::Directory => "a directory",
            Self::NotAFile => "not a regular file",
            Self::NoPermission => "no permission to execute it",
            Self::Unreachable => "no permission to look there",
            Self::LedBack => "which leads back to locked",
        })
    }
}

/// Why a word means no program. The texts quote paths so that they stay on one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// No PATH entry has it, or only we stand there.
    #[error("{} is not on PATH{}; {}", quoted(.word), stepped_over(.skipped), install(.skipped))]
    NotOnPath {
        /// As typed.
        word: OsString,
        /// Our own shims and copies that stood there.
        skipped: Vec<Skipped>,
    },
    /// The path that was typed leads nowhere.
    #[error("{} does not exist; check the path", quoted(.path.as_os_str()))]
    NoSuchFile {
        /// As typed.
        path: PathBuf,
    },
    /// The path that was typed leads to what this chain has started already, and which came back to us.
    #[error("{path:?} leads back to locked again and again; take locked out of it, or type what it stands for")]
    LedBack {
        /// As typed.
        path: PathBuf,
    },
    /// It is there, but cannot be executed.
    #[error("{path:?} cannot be executed: {why}{}; make it executable, or name another", stepped_over(.skipped))]
    NotExecutable {
        /// As typed or found.
        path: PathBuf,
        /// What is wrong with it.
        why: SkipReason,
        /// Our own shims and copies that stood on the way.
        skipped: Vec<Skipped>,
    },
}

impl NotFound {
    /// The exit status that a shell gives for this: 127 for what is not there, 126 for what cannot be executed.
    #[must_use]
    pub fn status(&self) -> i32 {
        match self {
            Self::NotOnPath { .. } | Self::NoSuchFile { .. } | Self::LedBack { .. } => 127,
            Self::NotExecutable { .. } => 126,
        }
    }
}

/// What is not there may be no program but a value in its place, which is not for us to repeat.
fn quoted(word: &OsStr) -> String {
    if may_hold_a_secret(word.as_encoded_bytes()) {
        return "what stands in the place of the program (it has a '=' or a user's part)".to_owned();
    }
    format!("{word:?}")
}

/// Whoever gives a shim another name asks for another program.
fn install(skipped: &[Skipped]) -> &'static str {
    match skipped.is_empty() {
        true => "install it, or name it by its path",
        false => "a shim starts the program of its own name: install that, or name it by its path",
    }
}

fn stepped_over(skipped: &[Skipped]) -> String {
    let places: Vec<_> = skipped.iter().map(|place| format!("{:?}, {}", place.path, place.why)).collect();
    if places.is_empty() { String::new() } else { format!(" (stepped over {})", places.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_what_was_stepped_over() {
        let error = NotFound::NotOnPath {
            word: "sops".into(),
            skipped: vec![
                Skipped { path: "/a/sops".into(), why: SkipReason::Ourselves },
                Skipped { path: "/b\n/sops".into(), why: SkipReason::Copy },
            ],
        };
        assert_eq!(
            error.to_string(),
            r#""sops" is not on PATH (stepped over "/a/sops", a shim of locked; "/b\n/sops", another copy of locked); a shim starts the program of its own name: install that, or name it by its path"#
        );
        assert_eq!(error.status(), 127);
    }
}
