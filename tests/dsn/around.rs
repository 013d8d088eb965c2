//! A made-up machine for connection strings: variables, a home, files with modes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use locked::store::postgres::address::{Look, Surroundings, look};

/// What it has. A file that is not made up is the real one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Around {
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) files: BTreeMap<PathBuf, (u32, String)>,
    pub(crate) home: Option<PathBuf>,
}

impl Around {
    pub(crate) fn at(home: &str) -> Self {
        Self { home: Some(home.into()), ..Self::default() }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn file(mut self, path: &str, mode: u32, text: &str) -> Self {
        self.files.insert(path.into(), (mode, text.to_owned()));
        self
    }
}

impl Surroundings for Around {
    fn variable(&self, name: &str) -> Option<OsString> {
        self.variables.get(name).map(OsString::from)
    }

    fn home(&self) -> Option<PathBuf> {
        self.home.clone()
    }

    fn account(&self) -> Option<String> {
        Some("ana".to_owned())
    }

    fn look(&self, path: &Path) -> io::Result<Look> {
        match self.files.get(path) {
            Some((mode, _)) => Ok(Look { plain: true, mode: *mode, of_root: false }),
            None => look(path),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.files.get(path) {
            Some((_, text)) => Ok(text.clone().into_bytes()),
            None => std::fs::read(path),
        }
    }
}
