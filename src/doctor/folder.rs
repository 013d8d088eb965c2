//! Where the shims are: the folder that the settings name, and whether anybody could find a shim in it.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{Context, env_of};
use crate::shims::{Folder, SYSTEM, ShimError};

use super::Finding;
use super::patient::Patient;

/// The folder that the variable names; else the user's, and the machine's where it is there.
pub(super) fn folders(context: &Context) -> Vec<PathBuf> {
    let there = |folders: Vec<PathBuf>| folders.into_iter().filter(|path| path.is_dir()).collect();
    let own = ready(context).ok().map(|folder| folder.path().to_owned());
    match context.invocation.var("LOCKED_SHIMS_DIR").filter(|named| !named.is_empty()) {
        Some(_) => there(own.into_iter().collect()),
        None => there(own.into_iter().chain([PathBuf::from(SYSTEM)]).collect()),
    }
}

/// The user by whose sudo we are root, and whose the folder is. What root's shells find is none of theirs: on root's PATH
/// that folder would let its owner say what root runs.
pub(super) fn lender(context: &Context) -> Option<String> {
    ready(context).ok().and_then(|folder| folder.lent_by())
}

/// Those that the shells of this account are to find.
pub(super) fn of_shells(context: &Context) -> Vec<PathBuf> {
    let lent = lender(context).is_some();
    let mut folders = folders(context);
    folders.retain(|folder| !lent || folder == Path::new(SYSTEM));
    folders
}

/// The one that `locked shims install` takes.
fn ready(context: &Context) -> Result<Folder, ShimError> {
    Folder::choose(None, false, &context.invocation.cwd, &env_of(context))
}

/// It is none, or nobody finds what is in it.
pub(super) fn wrong(patient: &Patient<'_>) -> Option<Finding> {
    let checked = ready(patient.context).and_then(|folder| {
        folder.serves()?;
        listed(folder.path())
    });
    let error = checked.err()?;
    let named = patient.env("LOCKED_SHIMS_DIR").is_some();
    let remedy = match &error {
        ShimError::NoFolder { .. } => error.remedy(),
        _ if named => format!("`{}`, or name a directory that is for shims alone", super::unset("LOCKED_SHIMS_DIR")),
        _ => error.remedy(),
    };
    Some(
        Finding::fault("shims.folder", error.to_string())
            .because("what stands in no folder on PATH guards nothing, and shims cannot be installed")
            .remedy(remedy),
    )
}

/// What cannot be read is no folder that shims can be looked after in.
fn listed(path: &Path) -> Result<(), ShimError> {
    match fs::read_dir(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(ShimError::Failed { path: path.to_owned(), what: "cannot be read", source })
        }
        _ => Ok(()),
    }
}
