//! The files that TLS needs, found where libpq's users put them.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::super::address::{Protection, Surroundings};
use super::error::TlsError;

/// A file by its parameter, or below the home if it is there. One that the string names must be there.
pub(super) fn find(
    around: &dyn Surroundings,
    protection: &Protection,
    key: &'static str,
    given: Option<&Path>,
    ready: &str,
) -> Result<Option<PathBuf>, TlsError> {
    if let Some(path) = given {
        around.look(path).map_err(|error| unreadable(key, path, &error))?;
        return Ok(Some(path.to_owned()));
    }
    let path = protection.home.as_ref().map(|home| home.join(".postgresql").join(ready));
    Ok(path.filter(|path| around.look(path).is_ok()))
}

/// A file's bytes.
pub(super) fn read(around: &dyn Surroundings, key: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    around.read(path).map_err(|error| unreadable(key, path, &error))
}

pub(super) fn unreadable(key: &'static str, path: &Path, error: &std::io::Error) -> TlsError {
    TlsError::File { key, path: path.to_owned(), why: error.to_string() }
}
