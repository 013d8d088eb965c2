//! `canary`: is the file that the command left behind sound? It reads files and runs the real sops as arbiter; it
//! writes nothing and decides nothing about the lease.
#![forbid(unsafe_code)]

pub mod document;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::rules::{Asked, Change};

/// One file to look at, after the command.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The file, absolute.
    pub path: &'a Path,
    /// Its content before the command; none when it did not exist (or the shell had truncated it).
    pub before: Option<&'a [u8]>,
    /// What the command may have done to it.
    pub expect: &'a Expect,
}

/// What may differ between before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// What the command does; none when it is not known (take-over of a lease whose holder died): then what `edit` may
    /// do is allowed.
    pub change: Option<Change>,
    /// What the options ask of the result.
    pub asked: Asked,
}

/// The real sops that decrypts to nowhere.
#[derive(Debug, Clone)]
pub struct Arbiter {
    /// The real program; none when it cannot be found: then a sound-looking file is unverified.
    pub sops: Option<PathBuf>,
    /// The environment of the command, for finding keys (`SOPS_AGE_KEY`, `HOME`, …).
    pub env: Vec<(OsString, OsString)>,
    /// Where the command ran.
    pub cwd: PathBuf,
    /// How long one decrypt may take.
    pub timeout: Duration,
}

/// What the canary says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Structurally whole and decrypted by the real sops.
    Sound,
    /// Structurally whole, but not decrypted: why.
    Unverified(String),
    /// Plaintext now, as `decrypt -i` is meant to leave it.
    OpenEdit,
    /// Bad: what is wrong.
    Bad(Fault),
}

/// What is wrong with a file. `Display` says it in one sentence without any value of the file; `advice` the next step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Placeholder until the room is built.
    #[error("the file is empty")]
    Empty,
}
