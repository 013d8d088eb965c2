//! `canary`: is the file that the command left behind sound? It reads files and runs the real sops as arbiter; it
//! writes nothing and decides nothing about the lease.
//!
//! Four layers, the cheap ones first: what the file is by itself and against what it was before (no key, in process),
//! whether the key at hand still opens it (in process), whether the real sops decrypts it. Doubt is never blame: what
//! cannot be told is *unverified*.
#![forbid(unsafe_code)]

mod against;
mod arbiter;
pub mod document;
mod fault;
mod keys;
mod likeness;
mod look;
mod names;
mod recipients;
mod standing;
mod structure;
mod unwrap;

pub(crate) use arbiter::run_within;
pub use document::{Document, Format, Kind, sniff};
pub use fault::Fault;
pub use keys::Keys;
pub use likeness::{Likeness, is_bared, is_copied, likeness, plain_names};
pub use look::look;
pub use names::Names;
pub use standing::{fits_rule, is_merged, lacking, seals};
pub use structure::{has_encrypted_value, kind_and_native, may_hold_sops, native};

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::rules::{Asked, Change, Via};

/// One file to look at, after the command.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// The file, absolute.
    pub path: &'a Path,
    /// Its content before the command; none when it did not exist (or the shell had truncated it).
    pub before: Option<&'a [u8]>,
    /// What the command may have done to it.
    pub expect: &'a Expect,
}

/// What was before may be plaintext: only its length is shown.
impl fmt::Debug for Sample<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sample")
            .field("path", &self.path)
            .field("before", &self.before.map(<[u8]>::len))
            .field("expect", &self.expect)
            .finish()
    }
}

/// What may differ between before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// What the command does; none when it is not known (take-over of a lease whose holder died): then what `edit` may
    /// do is allowed.
    pub change: Option<Change>,
    /// How the target was named: in place, what was before is what the command read; else it read another file.
    pub via: Via,
    /// What the options ask of the result.
    pub asked: Asked,
    /// The age recipients of the creation rule that `encrypt` or `updatekeys` goes by, when it is known and goes by one
    /// at all.
    pub rule_recipients: Option<Vec<String>>,
}

/// The real sops that decrypts to nowhere.
#[derive(Clone)]
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

/// The environment may hold keys: only its size is shown.
impl fmt::Debug for Arbiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arbiter")
            .field("sops", &self.sops)
            .field("env", &self.env.len())
            .field("cwd", &self.cwd)
            .field("timeout", &self.timeout)
            .finish()
    }
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
