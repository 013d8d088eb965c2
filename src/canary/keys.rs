//! The age identities at hand, for who wants to know before a command does. What they are never leaves the room.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::unwrap::{self, Keyring, Wanted};

/// The identities that sops would find.
pub struct Keys(Keyring);

/// Nothing of a key is shown.
impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(…)")
    }
}

impl Keys {
    /// Looks where sops looks; `env` and `cwd` are a command's.
    #[must_use]
    pub fn at_hand(env: &[(OsString, OsString)], cwd: &Path) -> Self {
        Self(Keyring::gather(env, cwd, Wanted { native: true, ssh: true }))
    }

    /// How many there are that can be used here.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.identities().count()
    }

    /// All that sops would try could be read: only then "none opens it" is certain.
    #[must_use]
    pub fn all_known(&self) -> bool {
        self.0.is_complete()
    }

    /// Whether one of them opens this document.
    #[must_use]
    pub fn open(&self, document: &Document) -> bool {
        document.metadata.as_ref().is_some_and(|metadata| unwrap::opens(metadata, &self.0))
    }

    /// The files with native age identities that are there.
    #[must_use]
    pub fn files(env: &[(OsString, OsString)], cwd: &Path) -> Vec<PathBuf> {
        unwrap::key_files(env, cwd).into_iter().filter(|path| path.is_file()).collect()
    }
}
