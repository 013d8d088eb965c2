//! What a checkout itself remembers of having written: the versions, in its own git directory. A path proves nothing about the
//! one who wrote there: the clone may be gone, and another one lie in its place. Only a checkout that remembers a version can
//! tell, by not having it any more, that it was thrown away.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use crate::git::Repository;
use crate::terms::Digest;

/// A file that has grown beyond this is cut to its newest half (bytes; a version takes 65).
const LARGEST: u64 = 64 * 1024;

/// In a linked work tree `locked` is git's own name, for trees that must not be pruned.
fn place(repository: &Repository) -> PathBuf {
    repository.git_dir.join("locked-written")
}

/// This version is written from here. Best effort: what is not remembered counts as out of sight, and is waited for.
pub(super) fn note(repository: &Repository, version: &Digest) {
    let place = place(repository);
    let append = || -> std::io::Result<()> {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(&place)?;
        file.write_all(format!("{version}\n").as_bytes())?;
        if file.metadata()?.len() > LARGEST {
            let text = fs::read_to_string(&place)?;
            let lines: Vec<&str> = text.lines().collect();
            fs::write(&place, lines[lines.len() / 2..].iter().map(|line| format!("{line}\n")).collect::<String>())?;
        }
        Ok(())
    };
    let _waited_for_otherwise = append();
}

/// Whether this checkout remembers having written it.
pub(super) fn has_written(repository: &Repository, version: &Digest) -> bool {
    let text = fs::read_to_string(place(repository)).unwrap_or_default();
    text.lines().any(|line| line == version.as_str())
}
