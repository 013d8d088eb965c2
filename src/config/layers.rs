//! Where settings lie, and which are whose.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The files, the weakest first.
#[derive(Debug, Clone)]
pub struct Places {
    /// `/etc/locked/config.toml`.
    pub system: PathBuf,
    /// `$XDG_CONFIG_HOME/locked/config.toml`, else below `$HOME/.config`; none without either.
    pub user: Option<PathBuf>,
    /// `.locked.toml` at the root of each work tree that the command is about.
    pub repositories: Vec<PathBuf>,
    /// The command is about something that lies in no work tree, where only the first two have a say.
    pub outside: bool,
}

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// The machine's.
    System,
    /// The user's.
    User,
    /// The repository's: it came with what was checked out.
    Repository,
}

impl Layer {
    /// Its author is the machine's owner or the user.
    #[must_use]
    pub fn is_trusted(self) -> bool {
        self != Self::Repository
    }
}

impl Places {
    /// The places for a command in this environment that is about these work trees.
    #[must_use]
    pub fn around(env: &dyn Fn(&str) -> Option<OsString>, roots: &[&Path]) -> Self {
        let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || absolute("HOME").map(|home| home.join(".config"));
        let mut repositories: Vec<PathBuf> = roots.iter().map(|root| root.join(".locked.toml")).collect();
        repositories.sort();
        repositories.dedup();
        Self {
            system: PathBuf::from("/etc/locked/config.toml"),
            user: absolute("XDG_CONFIG_HOME").or_else(home).map(|config| config.join("locked/config.toml")),
            repositories,
            outside: roots.is_empty(),
        }
    }
}
