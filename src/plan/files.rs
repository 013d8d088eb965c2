//! Which of the files that a line writes are held: those that are SOPS files, or become some, and are not safe.
#![forbid(unsafe_code)]

use std::path::Path;

use super::{PlannedFile, World, places};
use crate::naming::{self, Namer, NamingError};
use crate::rules::{Change, Classification, Write};

/// The files that are held, and why another one is not.
pub(super) struct Files {
    pub(super) files: Vec<PlannedFile>,
    pub(super) passed_over: Option<String>,
}

/// Finds them.
pub(super) fn files(
    class: &Classification,
    cwd: &Path,
    world: &World<'_>,
    namer: &mut Namer<'_>,
) -> Result<Files, NamingError> {
    let mut files = Vec::new();
    let mut passed_over = None;
    for write in &class.writes {
        if write.change == Change::Other && !naming::holds_sops(&write.path) {
            continue;
        }
        if write.change == Change::DecryptTo && !names_a_secret(write, cwd) {
            passed_over = Some(format!("{} is no SOPS file, so writing plaintext there is a read", shown(&write.path)));
            continue;
        }
        if std::fs::metadata(&write.path).is_ok_and(|found| !found.is_file()) {
            passed_over = Some(format!("{} is no regular file", shown(&write.path)));
            continue;
        }
        if places::is_safe(&write.path, world.book) {
            passed_over = Some(format!("{} is a safe path", shown(&write.path)));
            continue;
        }
        let target = namer.name(&write.path)?;
        files.push(PlannedFile { write: write.clone(), target });
    }
    Ok(Files { files, passed_over })
}

fn shown(path: &Path) -> String {
    if naming::is_likely_a_value(path) { "the target".to_owned() } else { path.display().to_string() }
}

fn names_a_secret(write: &Write, cwd: &Path) -> bool {
    naming::is_secret_target(&write.path, cwd, write.asked.config.as_deref())
}
