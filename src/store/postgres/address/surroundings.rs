//! What a connection string can lean on: variables, the home, files. One door, so that tests have their own world.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::state::Account;

/// A file as far as its permission matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// A plain file, links followed.
    pub plain: bool,
    /// The permission bits; 0600 where the system has none.
    pub mode: u32,
    /// It belongs to root.
    pub of_root: bool,
}

/// Where defaults come from.
pub trait Surroundings {
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<OsString>;

    /// The user's home, below which `.pgpass`, `.pg_service.conf` and `.postgresql` are.
    fn home(&self) -> Option<PathBuf>;

    /// The name of the account, with which libpq logs in when nobody says otherwise.
    fn account(&self) -> Option<String>;

    /// What a file is.
    ///
    /// # Errors
    /// It is not there, or may not be looked at.
    fn look(&self, path: &Path) -> io::Result<Look>;

    /// A file's bytes.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Where a path leads that may be relative.
    fn place(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// This machine. The home is the account's, from the user database (under sudo the invoking user's), not `HOME`, which
/// under sudo, in cron and in agents often is someone else's.
pub struct Machine<'a> {
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// From where relative paths lead.
    from: &'a Path,
}

impl<'a> Machine<'a> {
    /// This machine, with these variables.
    #[must_use]
    pub fn new(variable: &'a dyn Fn(&str) -> Option<OsString>) -> Self {
        Self { variable, from: Path::new("") }
    }

    /// The same, seen from this directory, whichever the process is in.
    #[must_use]
    pub fn from(self, from: &'a Path) -> Self {
        Self { from, ..self }
    }
}

impl std::fmt::Debug for Machine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Machine")
    }
}

impl Surroundings for Machine<'_> {
    fn variable(&self, name: &str) -> Option<OsString> {
        (self.variable)(name)
    }

    fn home(&self) -> Option<PathBuf> {
        Account::served(self.variable).home().filter(|home| home.is_absolute())
    }

    fn account(&self) -> Option<String> {
        Account::ours().name()
    }

    fn look(&self, path: &Path) -> io::Result<Look> {
        self.at(path, look)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.at(path, |path| std::fs::read(path))
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.from.join(path)
    }
}

impl Machine<'_> {
    /// What lies below the invoking user's home is read as that user: a link laid there leads root nowhere.
    fn at<T>(&self, path: &Path, read: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        let (path, served) = (&self.from.join(path), Account::served(self.variable));
        let below = served.is_foreign() && self.home().is_some_and(|home| path.starts_with(home));
        let _as_them = below.then(|| served.act());
        read(path)
    }
}

/// What a file of this machine is.
///
/// # Errors
/// It is not there, or may not be looked at.
pub fn look(path: &Path) -> io::Result<Look> {
    let found = std::fs::metadata(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Ok(Look { plain: found.is_file(), mode: found.mode() & 0o7777, of_root: found.uid() == 0 })
    }
    #[cfg(not(unix))]
    Ok(Look { plain: found.is_file(), mode: 0o600, of_root: false })
}
