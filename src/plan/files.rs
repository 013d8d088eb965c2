//! Which of the files that a line writes are held: those that are SOPS files, or become some, and are not safe.
#![forbid(unsafe_code)]

use std::path::Path;

use super::below::{Look, Looked, below};
use super::{PlannedFile, World, places};
use crate::naming::{self, Namer, NamingError};
use crate::rules::{Asked, Change, Classification, Leaves, Tree, Via, Write};

/// Files in directories that are longer are not read: no SOPS file of people is.
const LONGEST: u64 = 1 << 20;

/// The files that are held, and why another one is not.
pub(super) struct Files {
    pub(super) files: Vec<PlannedFile>,
    pub(super) passed_over: Option<String>,
    /// A directory that is taken whole has more in it than was looked at.
    pub(super) unfinished: bool,
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
    let (within, unfinished) = within(&class.trees, world);
    for write in class.writes.iter().chain(&within) {
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
    Ok(Files { files, passed_over, unfinished })
}

/// The SOPS files in directories that are taken whole, and whether there may be more.
fn within(trees: &[Tree], world: &World<'_>) -> (Vec<Write>, bool) {
    let (mut writes, mut unfinished) = (Vec::new(), false);
    for tree in trees.iter().filter(|tree| std::fs::symlink_metadata(&tree.path).is_ok_and(|found| found.is_dir())) {
        let look = Look { follow: false, skip: &|relative| relative == Path::new(".git"), is_late: &world.is_late };
        let mut take = |path: &Path, _: &Path| {
            let is_short = std::fs::metadata(path).is_ok_and(|found| found.len() <= LONGEST);
            if is_short && naming::holds_sops(path) {
                let (change, via, asked) = (Change::Other, Via::InPlace, Asked::default());
                writes.push(Write {
                    path: path.to_owned(),
                    change,
                    via,
                    asked,
                    beyond: tree.beyond,
                    leaves: Leaves::Gone,
                });
            }
            false
        };
        unfinished |= below(&tree.path, &look, &mut take) == Looked::Unfinished;
    }
    (writes, unfinished)
}

fn shown(path: &Path) -> String {
    if naming::is_likely_a_value(path) { "the target".to_owned() } else { path.display().to_string() }
}

fn names_a_secret(write: &Write, cwd: &Path) -> bool {
    naming::is_secret_target(&write.path, cwd, write.asked.config.as_deref())
}
