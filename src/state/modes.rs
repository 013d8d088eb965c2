//! Who else may look into the state directory: it holds copies of encrypted files, the ledger and lease keys' hashes, and is
//! for its owner alone.
#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{Account, open_existing};

/// So many entries are looked at.
const MOST: usize = 2_000;

/// Something that others may read or write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loose {
    /// What.
    pub path: PathBuf,
    /// Its permission bits.
    pub mode: u32,
    /// Others may write there.
    pub writable: bool,
    account: Account,
}

impl Loose {
    /// Takes the rights of group and others away, as the owner of the thing, from the very file that was found.
    ///
    /// # Errors
    /// It is gone, a link now, or not ours.
    pub fn tighten(&self) -> io::Result<()> {
        let _as_owner = self.account.act();
        let file = open_existing(&self.path)?;
        let mode = file.metadata()?.permissions().mode();
        file.set_permissions(fs::Permissions::from_mode(mode & 0o7700))
    }
}

/// What of this directory, and one level and two below, is open to others. Links are not followed.
#[must_use]
pub fn loose(directory: &Path) -> Vec<Loose> {
    let below = |path: &Path| -> Vec<PathBuf> {
        fs::read_dir(path).into_iter().flatten().flatten().take(MOST).map(|entry| entry.path()).collect()
    };
    let first = below(directory);
    let second: Vec<PathBuf> =
        first.iter().filter(|path| path.is_dir() && !path.is_symlink()).flat_map(|it| below(it)).collect();
    let all = std::iter::once(directory.to_owned()).chain(first).chain(second).take(MOST);
    all.filter_map(look).collect()
}

fn look(path: PathBuf) -> Option<Loose> {
    let found = fs::symlink_metadata(&path).ok().filter(|found| found.is_dir() || found.is_file())?;
    let mode = found.permissions().mode() & 0o777;
    let account = Account::owner(&found);
    (mode & 0o077 != 0).then(|| Loose { path, mode, writable: mode & 0o022 != 0, account })
}
