//! What is known of a place beside its copies: that its file is to be SOPS, while nothing is there yet that could be kept.
#![forbid(unsafe_code)]

use std::fs;
use std::io;

use super::Chain;
use crate::terms::Digest;

/// What the mark of such a place ends in. There is nothing in it.
const MEANT: &str = "meant";

impl Chain {
    /// Notes that the file of this checkout is to be SOPS: a command is about to write it as such, or to open it for an edit,
    /// and what lies there now is no version of which a copy is kept.
    ///
    /// # Errors
    /// When the disk cannot take it.
    pub fn mean(&self, now_ms: i64) -> io::Result<()> {
        let _as_owner = self.directory.parent().and_then(crate::state::as_owner_of);
        if self.is_known_here() {
            return Ok(());
        }
        self.make_directory()?;
        let mark = self.directory.join(format!("{now_ms:016}-{}.{}.{MEANT}", Digest::of(b""), self.place));
        // For its owner alone, as all that lies there, whatever the umask is.
        let mut options = fs::OpenOptions::new();
        crate::platform::owners_alone(&mut options).write(true).create(true).truncate(true).open(mark).map(drop)
    }

    /// Whether the file of this checkout is, was or is to be SOPS, as far as this machine knows.
    #[must_use]
    pub fn is_known_here(&self) -> bool {
        let here = format!(".{}.", self.place);
        let names = fs::read_dir(&self.directory).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.into_iter().any(|name| name.to_str().is_some_and(|name| name.contains(&here)))
    }
}

/// The checkouts' files of which something is known, each by what stands for its path in the names of what is kept: one look
/// for who asks about many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known(std::collections::BTreeSet<String>);

impl Known {
    /// Reads them, from the directory for copies.
    #[must_use]
    pub fn of(copies: &std::path::Path) -> Self {
        let chains = fs::read_dir(copies).into_iter().flatten().flatten();
        let names = chains.flat_map(|chain| fs::read_dir(chain.path()).into_iter().flatten().flatten());
        let place = |name: &str| name.split('.').nth(1).map(str::to_owned);
        Self(names.filter_map(|entry| place(entry.file_name().to_str()?)).collect())
    }

    /// Whether something may be known of the file at this physical path.
    #[must_use]
    pub fn may_have(&self, path: &std::path::Path) -> bool {
        self.0.contains(&super::place_of(path))
    }
}
