//! Which store was last used for a repository, noted in its common git directory: two checkouts that look at two stores
//! would both be granted one resource, and neither store could know. And the scope, which a remote may give another one.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::clock::Clock as _;
use crate::config::{Address, StoreSetting};
use crate::git::Repository;
use crate::naming;
use crate::plan::PlannedFile;
use crate::state;
use crate::store;

use super::env_of;
use super::job::Job;

/// Below the common git directory, beside the identity of a repository without a remote.
const KEPT_IN: &str = "locked";
const KEPT_AS: &str = "store";
/// No note is longer (bytes).
const LONGEST: u64 = 4096;

/// The note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Names the store without user and password.
    pub place: String,
    /// Where it is, for people.
    pub shown: String,
    /// When it was first used after another one, in milliseconds of Unix time.
    pub since_ms: i64,
}

/// Names a store for comparing: a server by its address without user and password, a file by its path.
#[must_use]
pub fn place_here(setting: &StoreSetting, env: &dyn Fn(&str) -> Option<OsString>, state: &Path) -> (String, String) {
    let shown = store::shown_place(setting, env, state);
    let is_file = match &setting.address {
        Address::Embedded => true,
        Address::Text(text) => text.starts_with("sqlite:"),
        Address::InSops { .. } => false,
    };
    let place = if is_file { shown.clone() } else { store::place_of(setting).to_string() };
    (place, shown)
}

/// What was noted for this repository.
#[must_use]
pub fn last_used(repository: &Repository) -> Option<Used> {
    let path = file_of(repository);
    let found = std::fs::symlink_metadata(&path).ok().filter(|found| found.is_file() && found.len() <= LONGEST)?;
    let used: Used = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
    // It lies where others may write as well.
    (found.len() > 0).then(|| Used { shown: store::shown(&used.shown), ..used })
}

/// Notes the store that has just granted this. Nothing depends on it: what cannot be noted is left.
pub(super) fn note<'a>(job: &'a Job<'_>) {
    let (place, shown) = place_here(&job.store, &env_of(job.context), job.state.path());
    let mut done: Vec<&Path> = Vec::new();
    let of_repository = |file: &'a PlannedFile| Some((file.target.repository.as_ref()?, file.target.scope()));
    for (repository, scope) in job.plan.files.iter().filter_map(of_repository) {
        if done.contains(&&*repository.common_dir) {
            continue;
        }
        done.push(&repository.common_dir);
        let as_owner = state::as_owner_of(&repository.common_dir);
        naming::note_scope(repository, scope);
        drop(as_owner);
        if last_used(repository).is_none_or(|used| used.place != place) {
            let used = Used { place: place.clone(), shown: shown.clone(), since_ms: job.context.clock.wall_ms() };
            let _left_as_it_was = write(repository, &used);
        }
    }
}

/// Whole or not at all, as the owner of the repository.
fn write(repository: &Repository, used: &Used) -> std::io::Result<()> {
    let _as_owner = state::as_owner_of(&repository.common_dir);
    let path = file_of(repository);
    let directory = path.parent().unwrap_or(&path);
    std::fs::create_dir_all(directory)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        // No secret, and the repository may be shared by several users.
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o644));
    }
    let mut draft = builder.prefix(".store-").tempfile_in(directory)?;
    serde_json::to_writer(&mut draft, used)?;
    writeln!(draft)?;
    draft.persist(&path).map(drop).map_err(|error| error.error)
}

fn file_of(repository: &Repository) -> PathBuf {
    repository.common_dir.join(KEPT_IN).join(KEPT_AS)
}
