//! What a rotation takes along: the files that hold the secret, and the workflows that bring it to where it is used.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::{PlannedFile, scope_of};
use crate::naming::{self, Namer, NamingError};
use crate::rules::{Asked, Change, Leaves, Rotation, Via, Write};
use crate::terms::Resource;

/// What is held with a rotation.
#[derive(Debug, Default)]
pub struct Declared {
    /// All of it, in no order.
    pub resources: Vec<Resource>,
    /// Those files that are SOPS files: they are proven like any that a command may write.
    pub files: Vec<PlannedFile>,
    /// What could not be found, one sentence each.
    pub notes: Vec<String>,
}

/// Finds what these rotations take along with the resources that are held anyway. Files are named from the root of the
/// repository around `cwd`; `file_of` says which file has the display name of a workflow there.
///
/// # Errors
/// A file cannot be named: then nothing may run.
pub fn declared(
    held: &[Resource],
    rotations: &[Rotation],
    cwd: &Path,
    file_of: &dyn Fn(&str) -> Option<String>,
    namer: &mut Namer<'_>,
) -> Result<Declared, NamingError> {
    let mut found = Declared::default();
    for rotation in rotations {
        let name = rotation.resource();
        if !held.iter().any(|resource| resource.name == name) {
            continue;
        }
        for workflow in rotation.workflow_names(file_of) {
            found.resources.push(Resource { scope: scope_of(&workflow, cwd, namer)?, name: workflow });
        }
        if rotation.files.is_empty() {
            continue;
        }
        let Some(root) = root_around(cwd)? else {
            found
                .notes
                .push(format!("the files of {name} are not held: they belong to a repository, and this is none"));
            continue;
        };
        for file in &rotation.files {
            let path = root.join(file);
            if rotation.adds_only && !is_of(&path, &root) {
                found.notes.push(format!(
                    "a file of {name} lies outside of the repository whose settings name it, which nobody has vouched for (locked config trust): it is not held"
                ));
                continue;
            }
            let target = namer.name(&path)?;
            found.resources.extend(target.resources().cloned());
            if naming::holds_sops(&path) {
                let write = Write {
                    path,
                    change: Change::Other,
                    via: Via::InPlace,
                    asked: Asked::default(),
                    beyond: false,
                    leaves: Leaves::Changed,
                };
                found.files.push(PlannedFile { write, target, once: false });
            }
        }
    }
    Ok(found)
}

/// Whether a file is one of the work tree of this root, wherever links lead. What cannot be found out is not.
fn is_of(path: &Path, root: &Path) -> bool {
    naming::place(path).is_ok_and(|place| place.inside.is_some_and(|inside| root.join(inside) == place.path))
}

/// The root of the work tree around a directory.
fn root_around(cwd: &Path) -> Result<Option<PathBuf>, NamingError> {
    let place = naming::place(&cwd.join(".locked-places-a-name"))?;
    let depth = place.inside.map(|inside| inside.components().count());
    Ok(depth.and_then(|depth| place.path.ancestors().nth(depth)).map(Path::to_owned))
}
