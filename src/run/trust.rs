//! What people have vouched for: the content of a repository's settings, by digest, in this repository and no other.
//!
//! One file for each in `trusted` below the state directory (0700, the file 0600), so that two who trust at once lose
//! nothing. The name binds the content to the repository: all work trees that it knows of share it, and a copy of the same
//! text elsewhere (beside other scripts, or another SOPS file with the store's address) is not trusted, also where its
//! `.git` says that it belongs to the repository that is.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::clock::Clock as _;
use crate::config::File;
use crate::git::Repository;
use crate::platform::canonical;
use crate::state::StateDir;
use crate::store::StoreError;
use crate::terms::{Digest, percent_encode};

use super::{Context, env_of};

/// One content that is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// The settings, as they were found; percent-encoded where the path does not print.
    pub file: String,
    /// The common git directory, or the work tree where that does not know of it; in the same way.
    pub repository: String,
    /// The digest of the content.
    pub digest: Digest,
    /// When, in milliseconds of Unix time.
    pub at_ms: i64,
}

/// The repository around a directory, which may be spelled in any way: however one comes there, it has one name.
#[must_use]
pub fn root_around(directory: &Path) -> Option<Repository> {
    Repository::around(&canonical(directory).ok()?).ok().flatten()
}

/// Is the content of this file trusted? Whoever cannot say says no.
pub(super) fn is_trusted(context: &Context, file: &File) -> bool {
    let root = file.document.path.parent().unwrap_or(Path::new("/"));
    let Some(repository) = root_around(root) else { return false };
    let Ok(Some(state)) = StateDir::existing(&env_of(context)) else { return false };
    let digest = file.document.digest();
    let path = state.path().join(PLACE).join(called(&repository, &digest));
    let _as_owner = state.as_owner();
    read(&path).is_some_and(|trusted| trusted.digest == digest && trusted.repository == shown(&identity(&repository)))
}

/// Trusts the content of this file.
///
/// # Errors
/// The record cannot be kept.
pub fn trust(context: &Context, repository: &Repository, file: &File) -> Result<Trusted, StoreError> {
    let state = StateDir::open(&env_of(context))?;
    let directory = state.trusted()?;
    let digest = file.document.digest();
    let path = directory.join(called(repository, &digest));
    let trusted = Trusted {
        file: shown(&file.document.path),
        repository: shown(&identity(repository)),
        digest,
        at_ms: context.clock.wall_ms(),
    };
    let _as_owner = state.as_owner();
    write(&directory, &path, &trusted).map_err(|error| place(&path, &error))?;
    Ok(trusted)
}

/// Takes back all trust in settings of this repository; how many contents that were.
///
/// # Errors
/// A record cannot be removed.
pub fn untrust(context: &Context, repository: &Repository) -> Result<usize, StoreError> {
    let Some(state) = StateDir::existing(&env_of(context))? else { return Ok(0) };
    let ours = shown(&identity(repository));
    let mut gone = 0;
    let _as_owner = state.as_owner();
    for (path, trusted) in records(&state) {
        if trusted.repository == ours {
            std::fs::remove_file(&path).map_err(|error| place(&path, &error))?;
            gone += 1;
        }
    }
    Ok(gone)
}

/// Everything that is trusted, in the order of the files.
///
/// # Errors
/// There is a state directory that must not be used.
pub fn trusted(context: &Context) -> Result<Vec<Trusted>, StoreError> {
    let Some(state) = StateDir::existing(&env_of(context))? else { return Ok(Vec::new()) };
    let _as_owner = state.as_owner();
    let mut found: Vec<Trusted> = records(&state).into_iter().map(|(_, trusted)| trusted).collect();
    found.sort_by(|one, other| (&one.file, one.at_ms).cmp(&(&other.file, other.at_ms)));
    Ok(found)
}

/// What stands for the repository. A work tree says itself where its repository is, and may lie; it belongs to one when it
/// holds it, or when that one has written down where the work tree is (gitrepository-layout(5), `worktrees/<id>/gitdir`).
fn identity(repository: &Repository) -> PathBuf {
    let dot_git = repository.worktree_root.join(".git");
    let holds = repository.git_dir == dot_git && repository.common_dir == dot_git;
    let is_known = || {
        let listed = repository.git_dir.parent() == Some(&repository.common_dir.join("worktrees"));
        let back = std::fs::read_to_string(repository.git_dir.join("gitdir")).unwrap_or_default();
        // Newer versions of git may write it relative to the directory of the file.
        listed && canonical(&repository.git_dir.join(back.trim_end_matches('\n'))).is_ok_and(|it| it == dot_git)
    };
    if holds || is_known() { repository.common_dir.clone() } else { repository.worktree_root.clone() }
}

/// Below the state directory.
const PLACE: &str = "trusted";

fn shown(path: &Path) -> String {
    percent_encode(path.as_os_str().as_encoded_bytes())
}

/// The name of the record of this content in this repository.
fn called(repository: &Repository, digest: &Digest) -> String {
    let place = identity(repository);
    Digest::of(&[digest.as_str().as_bytes(), b"\0", place.as_os_str().as_encoded_bytes()].concat()).to_string()
}

fn records(state: &StateDir) -> Vec<(PathBuf, Trusted)> {
    let entries = std::fs::read_dir(state.path().join(PLACE)).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), read(&entry.path())?))).collect()
}

/// A record; what is no whole one vouches for nothing.
fn read(path: &Path) -> Option<Trusted> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Whole or not at all.
fn write(directory: &Path, path: &Path, trusted: &Trusted) -> std::io::Result<()> {
    // tempfile makes it 0600.
    let mut draft = tempfile::Builder::new().prefix(".new-").tempfile_in(directory)?;
    serde_json::to_writer(&mut draft, trusted)?;
    writeln!(draft)?;
    draft.as_file().sync_all()?;
    draft.persist(path).map(drop).map_err(|error| error.error)
}

fn place(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Place {
        path: path.to_owned(),
        why: format!("what is trusted cannot be kept there: {error}"),
        remedy: "make it writable for this user".to_owned(),
    }
}
