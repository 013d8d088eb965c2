//! What is known of files that do not look like SOPS now.
#![forbid(unsafe_code)]

use std::path::Path;

/// Who knows which files were SOPS on this machine, or are to be: one that is plaintext now may be open for an edit of
/// somebody's. It is asked only about files of this machine that a line writes.
pub trait Past {
    /// Whether this file was, or is to be.
    fn was_sops(&self, path: &Path) -> bool;

    /// The same for one of many in a directory; the path is physical.
    fn is_among_many(&self, path: &Path) -> bool;
}

/// A machine that has never seen a SOPS file.
impl Past for () {
    fn was_sops(&self, _: &Path) -> bool {
        false
    }

    fn is_among_many(&self, _: &Path) -> bool {
        false
    }
}
