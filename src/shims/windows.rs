//! Windows: a shim is a program, since nothing else is started with its arguments as they are: a copy of `locked`.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::program::FileId;

use super::entry::{draft, is_draft};

/// How often a name for what is put aside may be taken.
const TRIES: u32 = 20;

/// Where a machine's shims are (`--system`).
pub const SYSTEM: &str = r"C:\Program Files\locked\shims";

/// Where the folder is below a user's own data.
pub(super) const IN_HOME: &str = "";

/// What parts the entries of PATH.
pub(super) const SEPARATOR: u8 = b';';

/// The file that stands for a program of this name.
pub(super) fn file_of(tool: &OsStr) -> OsString {
    let mut name = tool_of(tool).unwrap_or_else(|| tool.to_owned());
    name.push(".exe");
    name
}

/// The program that a file of this name stands for, if it stands for one.
pub(super) fn tool_of(file: &OsStr) -> Option<OsString> {
    let path = Path::new(file);
    path.extension().filter(|extension| extension.eq_ignore_ascii_case("exe"))?;
    path.file_stem().map(|stem| OsString::from(stem.to_string_lossy().to_lowercase()))
}

/// Whether it takes another user to write in the folder of the system.
pub(super) fn wants_root() -> bool {
    false
}

/// Whether this shim is as one that is made now would be.
pub(super) fn leads_to(place: &Path, target: &Path) -> bool {
    let same = matches!((FileId::of(place), FileId::of(target)), (Ok(one), Ok(other)) if one == other);
    same || matches!((fs::read(place), fs::read(target)), (Ok(one), Ok(other)) if one == other)
}

/// Makes a shim where nothing is: in one step, or not at all (`AlreadyExists`). A copy that has its name only when it is
/// whole. (A further name of the same file could not be taken away while any `locked` runs.)
pub(super) fn link(target: &Path, place: &Path) -> io::Result<()> {
    copied(target, place)?.persist_noclobber(place).map_err(|error| error.error)
}

/// The copy, whole, under a name that is nobody's. It is closed: what is open cannot be renamed everywhere.
fn copied(target: &Path, place: &Path) -> io::Result<tempfile::TempPath> {
    let directory = place.parent().unwrap_or(place);
    let mut whole = tempfile::Builder::new().prefix(".locked-new-").tempfile_in(directory)?;
    io::copy(&mut fs::File::open(target)?, &mut whole)?;
    Ok(whole.into_temp_path())
}

/// Takes a shim away. One that runs is put aside, and is gone with the next installation.
pub(super) fn unlink(place: &Path) -> io::Result<()> {
    match fs::remove_file(place) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => aside(place).map(drop),
        removed => removed,
    }
}

/// Gives what stands there a name of a draft's.
fn aside(place: &Path) -> io::Result<PathBuf> {
    let directory = place.parent().unwrap_or(place);
    let mut tries = 0;
    loop {
        let aside = directory.join(draft(std::process::id(), tries));
        match fs::rename(place, &aside) {
            Ok(()) => return Ok(aside),
            Err(_) if aside.exists() && tries < TRIES => tries += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Puts a shim where one is: over it in one step, or, since what runs cannot be overwritten but renamed, in two between which the
/// name leads nowhere. The copy is made before, which takes longest.
pub(super) fn relink(target: &Path, place: &Path) -> io::Result<()> {
    let whole = match copied(target, place)?.persist(place) {
        Ok(()) => return Ok(()),
        Err(error) => error.path,
    };
    let aside = aside(place)?;
    if let Err(error) = whole.persist_noclobber(place) {
        let _as_it_was = fs::rename(&aside, place);
        return Err(error.error);
    }
    // One that runs still is taken away by the next installation.
    let _litter = fs::remove_file(&aside);
    Ok(())
}

/// Takes away what was put aside and is no longer running.
pub(super) fn tidy(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten().filter(|entry| is_draft(&entry.file_name())) {
        let _it_runs_still = fs::remove_file(entry.path());
    }
}

/// Makes a directory and those above it that are missing.
pub(super) fn make_directories(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// What others may change is a matter of lists of rights, which an installer for everybody sets.
pub(super) mod hands {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    /// Something that others can change, or cannot reach.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Loose {
        /// Which part.
        pub path: PathBuf,
        /// What is so, behind the path.
        pub why: String,
        /// What makes it so no longer.
        pub mode: Option<&'static str>,
    }

    /// Nothing is looked at.
    #[must_use]
    pub fn not_for_all(_program: &Path) -> Option<Loose> {
        None
    }

    /// Nothing is looked at.
    #[must_use]
    pub fn changed_by_others(_place: &Path, _env: &dyn Fn(&str) -> Option<OsString>) -> Option<Loose> {
        None
    }
}
