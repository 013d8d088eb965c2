//! What stands in the folder under one name.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{FileId, is_our_name, is_ours};

use super::{Folder, ShimError, Tool, platform};

/// What is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Free,
    /// A shim: it leads to `locked`, of whatever build.
    Ours,
    /// A shim that leads nowhere any more: `locked` was moved or taken away.
    Broken,
    /// Something else.
    Foreign,
}

/// A shim in the folder.
#[derive(Debug, Clone)]
pub struct Shim {
    /// Whom it stands in front of.
    pub tool: Tool,
    /// Where it is.
    pub path: PathBuf,
    /// What it is: [`Entry::Ours`] or [`Entry::Broken`].
    pub entry: Entry,
    /// Where it leads, as it is written; none: it is no link but a copy.
    pub target: Option<PathBuf>,
}

/// Looks at one place.
pub(super) fn look(place: &Path, ourselves: FileId) -> Entry {
    if fs::symlink_metadata(place).is_err() {
        return Entry::Free;
    }
    if is_ours(place, ourselves) {
        return Entry::Ours;
    }
    // A link to nothing is ours if it was meant for us.
    let dangling = fs::metadata(place).is_err() && last(place).is_some_and(|name| is_our_name(&name));
    if dangling { Entry::Broken } else { Entry::Foreign }
}

/// The name that a link leads to.
fn last(place: &Path) -> Option<OsString> {
    fs::read_link(place).ok()?.file_name().map(OsStr::to_owned)
}

/// Every shim in the folder, by name; none where there is no folder.
///
/// # Errors
/// It cannot be read.
pub fn all(folder: &Folder, ourselves: FileId) -> Result<Vec<Shim>, ShimError> {
    let path = folder.path();
    let failed = |source| ShimError::Failed { path: path.to_owned(), what: "cannot be read", source };
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut shims = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        // Our own program may lie in the same folder.
        let Some(Ok(tool)) = platform::tool_of(&entry.file_name()).map(|name| Tool::found(&name)) else { continue };
        let path = entry.path();
        match look(&path, ourselves) {
            Entry::Free | Entry::Foreign => {}
            entry => shims.push(Shim { tool, target: fs::read_link(&path).ok(), path, entry }),
        }
    }
    shims.sort_by(|one, other| one.tool.cmp(&other.tool));
    Ok(shims)
}

/// How links that are not in their place yet are called: by their maker's process.
const DRAFT: &str = ".locked-shim-";

/// The name of a draft.
pub(super) fn draft(pid: u32, number: u32) -> String {
    format!("{DRAFT}{pid}-{number}")
}

/// Whether this is how a draft is called.
pub(super) fn is_draft(name: &OsStr) -> bool {
    maker(name).is_some()
}

/// The process that made this draft.
pub(super) fn maker(name: &OsStr) -> Option<u32> {
    name.to_str()?.strip_prefix(DRAFT)?.split_once('-')?.0.parse().ok()
}
