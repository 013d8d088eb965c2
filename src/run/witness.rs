//! What a checkout itself remembers of having written: the versions, in its own git directory. A path proves nothing about the
//! one who wrote there: the clone may be gone, and another one lie in its place. Only a checkout that remembers a version can
//! tell, by not having it any more, that it was thrown away.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::git::{self, Repository};
use crate::terms::Digest;

/// A file that has grown beyond this is cut to its newest half (bytes; a version takes 65).
const LARGEST: u64 = 64 * 1024;

/// So many findings are kept.
const MOST: usize = 256;

/// In a linked work tree `locked` is git's own name, for trees that must not be pruned.
fn place(repository: &Repository) -> PathBuf {
    repository.git_dir.join("locked-written")
}

/// What all work trees of a repository share of that: one of them may be gone.
fn shared(repository: &Repository) -> PathBuf {
    repository.common_dir.join("locked-written")
}

/// This version is written from here. Best effort: what is not remembered counts as out of sight, and is waited for.
pub(super) fn note(repository: &Repository, version: &Digest) {
    let _waited_for_otherwise = append(&place(repository), version);
    if shared(repository) != place(repository) {
        let _waited_for_otherwise = append(&shared(repository), version);
    }
}

fn append(place: &Path, version: &Digest) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(place)?;
    file.write_all(format!("{version}\n").as_bytes())?;
    if file.metadata()?.len() > LARGEST {
        let text = fs::read_to_string(place)?;
        let lines: Vec<&str> = text.lines().collect();
        fs::write(place, lines[lines.len() / 2..].iter().map(|line| format!("{line}\n")).collect::<String>())?;
    }
    Ok(())
}

/// What this checkout remembers having written.
pub(super) fn written(repository: &Repository) -> BTreeSet<String> {
    lines(&place(repository))
}

/// What this repository remembers having written, in whichever work tree, also in one that is gone.
pub(super) fn written_in_any(repository: &Repository) -> BTreeSet<String> {
    lines(&shared(repository))
}

fn lines(place: &Path) -> BTreeSet<String> {
    fs::read_to_string(place).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Whether this checkout remembers having written it.
pub(super) fn has_written(repository: &Repository, version: &Digest) -> bool {
    written(repository).contains(version.as_str())
}

/// When it was first found out about a version (`what`), ms since 1970 by the clock of the file system, by which git's own
/// files are as well: now, if it never was. None where nothing can be kept.
pub(super) fn first(repository: &Repository, what: &str, version: &Digest) -> Option<(i64, bool)> {
    let directory = repository.git_dir.join("locked-found");
    let path = directory.join(format!("{what}-{version}"));
    let is_new = !path.exists();
    if is_new {
        fs::create_dir_all(&directory).ok()?;
        if fs::read_dir(&directory).ok()?.count() >= MOST {
            fs::remove_dir_all(&directory).ok()?;
            fs::create_dir_all(&directory).ok()?;
        }
        fs::OpenOptions::new().append(true).create(true).open(&path).ok()?;
    }
    Some((git::modified(&path)?, is_new))
}
