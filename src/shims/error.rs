//! Why a shim cannot be made, read or taken away.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::terms::shell_quote;

use super::not_for_all;
use super::platform::{SYSTEM, wants_root};

/// Texts quote names and paths as a shell takes them, so that they stay on one line and can be typed.
#[derive(Debug, thiserror::Error)]
pub enum ShimError {
    /// The word is no name of a program.
    #[error("{} is no name of a program: a shim has one part, without `/` and `,`, and only letters that show", shell_quote(name.as_encoded_bytes()))]
    NoName {
        /// As given.
        name: OsString,
    },
    /// `locked` in front of itself would find nobody behind it.
    #[error("locked cannot stand in front of itself")]
    Ourselves,
    /// There is no directory to use.
    #[error("there is no folder for shims: {why}")]
    NoFolder {
        /// What is missing.
        why: String,
        /// The line that helps.
        remedy: String,
    },
    /// The directory cannot serve.
    #[error("{} cannot be the folder of the shims: {why}", quoted(path))]
    Unfit {
        /// Where.
        path: PathBuf,
        /// Why.
        why: &'static str,
    },
    /// Something else stands where the shim belongs.
    #[error("{} is not ours, and stays as it is", quoted(path))]
    NotOurs {
        /// Where.
        path: PathBuf,
    },
    /// Whom the links should lead to is not there.
    #[error("the program locked cannot be named by a path that lasts")]
    NoLauncher,
    /// The whole machine would run what is somebody's own.
    #[error("{} is no program for everybody: {}: {why}", quoted(program), quoted(part))]
    NotForAll {
        /// What the links would lead to.
        program: PathBuf,
        /// The part of the way that is so.
        part: PathBuf,
        /// What is so.
        why: String,
    },
    /// The system refused.
    #[error("{} {what}: {source}", quoted(path))]
    Failed {
        /// Where.
        path: PathBuf,
        /// What failed.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}

impl ShimError {
    /// The next step.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::NoName { .. } | Self::Ourselves => "locked shims install sops".to_owned(),
            Self::NoFolder { remedy, .. } => remedy.clone(),
            Self::Unfit { .. } => "name another folder: --dir DIR, or LOCKED_SHIMS_DIR".to_owned(),
            Self::NotOurs { path } => format!("ls -ld {}", quoted(path)),
            Self::NoLauncher => "call locked by its path".to_owned(),
            Self::NotForAll { .. } => FOR_ALL.to_owned(),
            Self::Failed { path, .. } if path.starts_with(SYSTEM) && wants_root() => system_line("sudo "),
            Self::Failed { path, .. } => match path.parent() {
                Some(parent) => {
                    format!("see who may write there (`ls -ld {}`), or name another folder: --dir DIR", quoted(parent))
                }
                None => "name another folder: --dir DIR".to_owned(),
            },
        }
    }
}

/// A program that is everybody's comes from an installation for everybody.
const FOR_ALL: &str =
    "install it for everybody, `sudo install/install.sh --system --shims` in a checkout or an unpacked release";

/// What makes the system's shims, behind `before` where that is needed.
#[must_use]
pub fn system_line(before: &str) -> String {
    // sudo does not look where a user installs for himself.
    let ourselves = std::env::current_exe().unwrap_or_else(|_| "locked".into());
    match not_for_all(&ourselves) {
        None => format!("{before}{} shims install --system", quoted(&ourselves)),
        Some(_) => FOR_ALL.to_owned(),
    }
}

fn quoted(path: &Path) -> String {
    shell_quote(path.as_os_str().as_encoded_bytes())
}
