//! The path that shims lead to.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::program::{FileId, is_our_name, places};

use super::{ShimError, not_for_all};

/// A path to this very program that lasts: as PATH finds it, else as it was called. Never its real path: package managers
/// keep each version in a directory of its own, take it away with the next one, and every shim would lead nowhere.
///
/// # Errors
/// It was called neither by PATH nor by a path.
pub fn launcher(
    executed: Option<&Path>,
    path: Option<&OsStr>,
    cwd: &Path,
    ourselves: FileId,
) -> Result<PathBuf, ShimError> {
    let found = launchers(executed, path, cwd, ourselves).next();
    found.ok_or(ShimError::NoLauncher)
}

/// The same for links that everybody on the machine follows, root among them: nobody but root may be able to change what they
/// lead to, and everybody must be able to start it.
///
/// # Errors
/// As [`launcher`]; or every such path is somebody's own.
pub fn launcher_for_all(
    executed: Option<&Path>,
    path: Option<&OsStr>,
    cwd: &Path,
    ourselves: FileId,
) -> Result<PathBuf, ShimError> {
    let mut first = None;
    for place in launchers(executed, path, cwd, ourselves) {
        let Some(loose) = not_for_all(&place) else { return Ok(place) };
        first.get_or_insert((place, loose));
    }
    let (program, loose) = first.ok_or(ShimError::NoLauncher)?;
    Err(ShimError::NotForAll { program, part: loose.path, why: loose.why })
}

fn launchers(
    executed: Option<&Path>,
    path: Option<&OsStr>,
    cwd: &Path,
    ourselves: FileId,
) -> impl Iterator<Item = PathBuf> {
    let is_us = move |place: &PathBuf| FileId::of(place).is_ok_and(|file| file == ourselves);
    let on_path = places(OsStr::new("locked"), path).into_iter().map(|place| cwd.join(place));
    // A place that only this directory gives its meaning is none that lasts for others; it is one all the same.
    let called = executed.filter(|place| place.file_name().is_some_and(is_our_name)).map(|place| cwd.join(place));
    let current = std::iter::once_with(std::env::current_exe).flatten();
    let all: Vec<PathBuf> = on_path.chain(called).collect();
    all.into_iter().chain(current).filter(is_us).map(|place| place.components().collect())
}
