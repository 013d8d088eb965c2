//! The path that shims lead to.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::program::{FileId, is_our_name, places};

use super::ShimError;

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
    let is_us = |place: &PathBuf| FileId::of(place).is_ok_and(|file| file == ourselves);
    let on_path = places(OsStr::new("locked"), path).into_iter().map(|place| cwd.join(place));
    // A place that only this directory gives its meaning is none that lasts for others; it is one all the same.
    let called = executed.filter(|place| place.file_name().is_some_and(is_our_name)).map(|place| cwd.join(place));
    let current = || std::env::current_exe().ok();
    let found = on_path.chain(called).find(is_us).or_else(|| current().filter(is_us));
    found.map(|place| place.components().collect()).ok_or(ShimError::NoLauncher)
}
