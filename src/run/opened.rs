//! What a checkout itself remembers of having been opened for an edit, in its own git directory: what lies there as plaintext is
//! somebody's, also for those who keep their state elsewhere (another account, a session with a directory of its own, another
//! machine that has the same checkout mounted). Whose it is, the store says.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::git::{Repository, path_from};
use crate::naming::Target;
use crate::terms::{percent_decode, percent_encode};

/// So many files are remembered, at most: the last that were opened (a line each).
const MOST: usize = 512;

fn place(repository: &Repository) -> PathBuf {
    repository.git_dir.join("locked-opened")
}

/// This file is opened. Best effort: without a note only those know of it who have the same state directory.
pub(super) fn note(target: &Target) {
    let Some(repository) = &target.repository else { return };
    let Some(inside) = repository.inside(&target.path) else { return };
    let line = percent_encode(inside.as_os_str().as_encoded_bytes());
    let _fewer_know = append(&place(repository), &line);
}

fn append(place: &Path, line: &str) -> std::io::Result<()> {
    let known = fs::read_to_string(place).unwrap_or_default();
    let mut lines: Vec<&str> = known.lines().collect();
    if lines.contains(&line) {
        return Ok(());
    }
    if lines.len() < MOST {
        // Two at once lose nothing of each other.
        let mut file = fs::OpenOptions::new().append(true).create(true).open(place)?;
        return file.write_all(format!("{line}\n").as_bytes());
    }
    lines.push(line);
    fs::write(place, lines[MOST / 2..].iter().map(|line| format!("{line}\n")).collect::<String>())
}

/// The files (physical paths) that were opened in the checkout that this directory lies in.
pub(super) fn around(directory: &Path) -> BTreeSet<PathBuf> {
    let Ok(Some(repository)) = Repository::around(directory) else { return BTreeSet::new() };
    let known = fs::read_to_string(place(&repository)).unwrap_or_default();
    known.lines().map(|line| repository.worktree_root.join(path_from(&percent_decode(line)))).collect()
}
