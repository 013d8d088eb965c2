//! Whether a shim stands where callers find it: what PATH has before and behind it.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::program::{FileId, is_ours, places, resolve};

use super::{Folder, Tool};

/// How a tool is found on PATH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// We are found first.
    First,
    /// Another program is found before us: it runs without us.
    Behind(PathBuf),
    /// We are not on PATH at all.
    Absent,
}

/// How callers with this PATH find the tool, and the real program behind it, if there is one. Paths are absolute where
/// `cwd` is.
#[must_use]
pub fn standing(tool: &Tool, path: Option<&OsStr>, cwd: &Path, ourselves: FileId) -> (Standing, Option<PathBuf>) {
    let real = resolve(tool.as_os_str(), path, cwd, ourselves).ok().map(|program| cwd.join(program.path));
    let found = places(tool.as_os_str(), path).into_iter().map(|place| cwd.join(place));
    let first = found.map(|place| (is_ours(&place, ourselves), place)).find(|(ours, place)| {
        // The real one is where the walk ends; what cannot be executed is passed by.
        *ours || Some(place) == real.as_ref()
    });
    let standing = match first {
        Some((true, _)) => Standing::First,
        Some((false, place)) => {
            let behind = places(tool.as_os_str(), path).iter().any(|place| is_ours(&cwd.join(place), ourselves));
            if behind { Standing::Behind(place) } else { Standing::Absent }
        }
        None => Standing::Absent,
    };
    (standing, real)
}

/// Whether the folder is on PATH, by whatever spelling.
#[must_use]
pub fn is_on_path(folder: &Folder, path: Option<&OsStr>, cwd: &Path) -> bool {
    let own = FileId::of(folder.path()).ok();
    let mut entries = std::env::split_paths(path.unwrap_or_default());
    entries.any(|entry| own.is_some() && FileId::of(&cwd.join(entry)).ok() == own)
}
