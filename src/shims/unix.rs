//! Links in one step.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use super::entry::{draft, is_draft, maker};

/// How often somebody else may take a draft of ours away before that is a fault.
const TRIES: u32 = 20;

/// Where a system's shims are (`--system`).
pub const SYSTEM: &str = "/usr/local/lib/locked/shims";

/// Where the folder's parent is below the account's home.
pub(super) const IN_HOME: &str = ".local/share";

/// What parts the entries of PATH.
pub(super) const SEPARATOR: u8 = b':';

/// The file that stands for a program of this name.
pub(super) fn file_of(tool: &OsStr) -> OsString {
    tool.to_owned()
}

/// The program that a file of this name stands for.
pub(super) fn tool_of(file: &OsStr) -> Option<OsString> {
    Some(file.to_owned())
}

/// Whether it takes another user to write in the folder of the system.
pub(super) fn wants_root() -> bool {
    !rustix::process::geteuid().is_root()
}

/// Whether this shim is as one that is made now would be.
pub(super) fn leads_to(place: &Path, target: &Path) -> bool {
    fs::read_link(place).is_ok_and(|found| found == target)
}

/// Makes a link where nothing is: in one step, or not at all (`AlreadyExists`).
pub(super) fn link(target: &Path, place: &Path) -> io::Result<()> {
    symlink(target, place)
}

/// Takes a link away.
pub(super) fn unlink(place: &Path) -> io::Result<()> {
    fs::remove_file(place)
}

/// Puts a link where one is, in one step.
pub(super) fn relink(target: &Path, place: &Path) -> io::Result<()> {
    let directory = place.parent().unwrap_or(Path::new("/"));
    let mut tries = 0;
    loop {
        let draft = directory.join(draft(std::process::id(), tries));
        let put = symlink(target, &draft).and_then(|()| fs::rename(&draft, place));
        let taken = |kind| matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists);
        match put {
            // Another installation took it for litter, or one before us with our number left its own.
            Err(error) if taken(error.kind()) && tries < TRIES => tries += 1,
            Err(error) => {
                let _litter = fs::remove_file(&draft);
                return Err(error);
            }
            Ok(()) => return Ok(()),
        }
    }
}

/// Takes away what installations that were killed have left. A living one whose process we cannot see makes its draft
/// anew.
pub(super) fn tidy(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let dead = maker(&name).is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists());
        if is_draft(&name) && dead && entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            let _another_was_first = fs::remove_file(entry.path());
        }
    }
}

/// Makes a directory and those above it that are missing, 0755 whatever the umask.
pub(super) fn make_directories(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        make_directories(parent)?;
    }
    match DirBuilder::new().mode(0o755).create(path) {
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(0o755)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}
