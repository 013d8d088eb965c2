//! Systems without a file of their own yet. What this cannot do: owners, modes and network file systems are not checked,
//! and nobody is ever proven gone, so that every lease waits for its TTL.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The one account that we know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account;

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this user")
    }
}

impl Account {
    pub(crate) fn ours() -> Self {
        Self
    }

    pub(crate) fn served(_env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        Self
    }

    pub(super) fn owner(_metadata: &std::fs::Metadata) -> Self {
        Self
    }

    pub(super) fn is_root(self) -> bool {
        false
    }

    pub(super) fn same_user(self, _other: Self) -> bool {
        true
    }

    /// There is no user database to ask.
    pub(crate) fn name(self) -> Option<String> {
        None
    }

    pub(crate) fn home(self) -> Option<PathBuf> {
        std::env::home_dir()
    }

    pub(crate) fn is_foreign(self) -> bool {
        false
    }

    pub(crate) fn act(self) -> Acting {
        Acting
    }
}

/// Nothing to undo.
#[must_use]
pub(crate) struct Acting;

/// What a directory says of itself.
pub(super) struct Seen {
    pub(super) metadata: std::fs::Metadata,
    pub(super) writable_by_others: bool,
    pub(super) network: Option<&'static str>,
    pub(super) read_only: bool,
    pub(super) made_up: bool,
}

pub(super) fn look(path: &Path) -> io::Result<Seen> {
    let metadata = std::fs::symlink_metadata(path)?;
    Ok(Seen { metadata, writable_by_others: false, network: None, read_only: false, made_up: false })
}

/// Learnt when something is made.
pub(super) fn may_make_in(_directory: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn make_directories(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

pub(super) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(path)
}

pub(crate) fn open_existing(path: &Path) -> io::Result<File> {
    File::open(path)
}

pub(super) fn identity(_metadata: &std::fs::Metadata) -> (u64, u64) {
    (0, 0)
}

/// Nobody can be seen to be relieved.
pub(super) fn links(_metadata: &std::fs::Metadata) -> u64 {
    1
}

/// Never got: who cannot be told apart by identity is not proven gone.
pub(super) fn try_lock(_file: &File) -> io::Result<bool> {
    Ok(false)
}

/// Nothing of the kind is known here.
pub(super) const OUTERMOST: u64 = u64::MAX;

pub(super) fn pid_namespace() -> u64 {
    0
}
