//! Bad files, marked on this machine: the server has no place for it.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::state::StateDir;
use crate::store::door::shown;
use crate::store::{FileRecord, LeaseState, LeaseView, Owner, StoreError, Unsettled};
use crate::terms::{Digest, FencingToken, Resource};

use super::key::subject;
use super::name;

/// How the marks begin.
const PREFIX: &str = "bad-";

/// A quarantine of this machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) resource: Resource,
    pub(super) reason: String,
    /// Who left the file like this, where that is known.
    pub(super) owner: Option<Owner>,
    pub(super) files: Vec<FileRecord>,
    /// Wall clock, ms since 1970.
    pub(super) at: i64,
}

impl Mark {
    /// As views show it.
    pub(super) fn view(&self) -> LeaseView {
        let owner = self.owner.as_ref();
        let text = |of: fn(&Owner) -> &str| owner.map(|owner| shown(of(owner))).unwrap_or_default();
        let blank = name::nobody(&self.resource);
        LeaseView {
            session: owner.map_or(blank.session, |owner| owner.session),
            label: text(|owner| &owner.label),
            host: text(|owner| &owner.host),
            operation: text(|owner| &owner.operation),
            state: LeaseState::Quarantined,
            reason: Some(shown(&self.reason)),
            acquired_at: self.at,
            renewed_at: self.at,
            files: self.files.clone(),
            ..blank
        }
    }

    /// What whoever restores takes over.
    pub(super) fn debt(&self) -> Unsettled {
        let view = self.view();
        Unsettled {
            resource: self.resource.clone(),
            token: FencingToken(0),
            holder: format!("{} ({})", view.session, view.label),
            operation: view.operation,
            host: view.host,
            files: self.files.clone(),
        }
    }
}

/// Marks it, unless it is marked: the first reason stays.
pub(super) fn mark(state: &StateDir, directory: &Path, mark: &Mark) -> Result<(), StoreError> {
    let path = path(directory, &mark.resource);
    let _as_owner = state.as_owner();
    let text = serde_json::to_vec(mark).map_err(|error| StoreError::Failed(error.to_string()))?;
    let written = tempfile::Builder::new().prefix("new-").tempfile_in(directory).and_then(|mut draft| {
        draft.write_all(&text)?;
        draft.as_file().sync_all()?;
        match draft.persist_noclobber(&path) {
            Err(lost) if lost.error.kind() != std::io::ErrorKind::AlreadyExists => Err(lost.error),
            _ => Ok(()),
        }
    });
    written.map_err(|error| unusable(&path, &error))
}

/// The mark of this resource. One that cannot be read still counts.
pub(super) fn find(state: &StateDir, directory: &Path, resource: &Resource) -> Result<Option<Mark>, StoreError> {
    let path = path(directory, resource);
    let _as_owner = state.as_owner();
    match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(&path, &error)),
        Ok(text) => Ok(Some(serde_json::from_slice(&text).unwrap_or_else(|_| Mark {
            resource: resource.clone(),
            reason: format!("{} marks it, and cannot be read", path.display()),
            owner: None,
            files: Vec::new(),
            at: 0,
        }))),
    }
}

/// Every mark that can be read.
pub(super) fn all(state: &StateDir, directory: &Path) -> Vec<Mark> {
    let _as_owner = state.as_owner();
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let marks = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    marks.filter_map(|entry| serde_json::from_slice(&std::fs::read(entry.path()).ok()?).ok()).collect()
}

/// Takes the mark away.
pub(super) fn clear(state: &StateDir, directory: &Path, resource: &Resource) -> Result<(), StoreError> {
    let path = path(directory, resource);
    let _as_owner = state.as_owner();
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unusable(&path, &error)),
        _ => Ok(()),
    }
}

fn path(directory: &Path, resource: &Resource) -> PathBuf {
    directory.join(format!("{PREFIX}{}", Digest::of(subject(resource).as_bytes())))
}

fn unusable(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Place {
        path: path.to_owned(),
        why: format!("the mark of a bad file cannot be kept there: {error}"),
        remedy: "make it usable for this user".to_owned(),
    }
}
