//! Which of the files that a line writes are held: those that are SOPS files, become some, or may be open for an edit, and are
//! not safe.
#![forbid(unsafe_code)]

use std::path::Path;

use super::below::{Look, Looked, below};
use super::{PlannedFile, World, places};
use crate::naming::{self, Namer, NamingError};
use crate::rules::{Asked, Change, Classification, Tree, Via, Write};

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
        let once = match stands(write, cwd, world) {
            Stands::Apart => {
                if write.change == Change::DecryptTo {
                    let shown = shown(&write.path);
                    passed_over = Some(format!("{shown} is no SOPS file, so writing plaintext there is a read"));
                }
                continue;
            }
            stands => stands == Stands::Once,
        };
        if std::fs::metadata(&write.path).is_ok_and(|found| !found.is_file()) {
            passed_over = Some(format!("{} is no regular file", shown(&write.path)));
            continue;
        }
        if places::is_safe(&write.path, world.book) {
            passed_over = Some(format!("{} is a safe path", shown(&write.path)));
            continue;
        }
        let target = namer.name(&write.path)?;
        files.push(PlannedFile { write: write.clone(), target, once });
    }
    Ok(Files { files, passed_over, unfinished })
}

/// How a file that is written stands to SOPS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// It is a SOPS file, or becomes one.
    Sops,
    /// It was one, or is to be.
    Once,
    /// It has nothing to do with it.
    Apart,
}

fn stands(write: &Write, cwd: &Path, world: &World<'_>) -> Stands {
    let is_sops = match write.change {
        Change::Other => naming::holds_sops(&write.path),
        Change::DecryptTo => names_a_secret(write, cwd),
        _ => true,
    };
    // Of what is there and is no file, nothing was ever kept: `/dev/null`, which most scripts write. And a read into a file
    // that the shell has emptied is a read still: what lay there is gone.
    let is_other = || {
        let emptied = write.change == Change::DecryptTo && write.via == Via::Stdout;
        emptied || std::fs::metadata(&write.path).is_ok_and(|found| !found.is_file())
    };
    match is_sops {
        true => Stands::Sops,
        false if !is_other() && world.past.was_sops(&write.path) => Stands::Once,
        false => Stands::Apart,
    }
}

/// The SOPS files in directories that are taken whole, and whether there may be more.
fn within(trees: &[Tree], world: &World<'_>) -> (Vec<Write>, bool) {
    let (mut writes, mut unfinished) = (Vec::new(), false);
    let is_one = |tree: &&Tree| match &tree.like {
        None => std::fs::symlink_metadata(&tree.path).is_ok_and(|found| found.is_dir()),
        Some(like) => tree.path.is_dir() && like.is_dir(),
    };
    for tree in trees.iter().filter(is_one) {
        let look = Look { follow: false, skip: &|relative| relative == Path::new(".git"), is_late: &world.is_late };
        let physical = crate::platform::canonical(&tree.path);
        let once =
            |below: &Path| physical.as_ref().is_ok_and(|physical| world.past.is_among_many(&physical.join(below)));
        let mut take = |path: &Path, below: &Path| {
            if tree.like.as_ref().is_some_and(|like| std::fs::symlink_metadata(like.join(below)).is_err()) {
                return false;
            }
            let is_short = std::fs::metadata(path).is_ok_and(|found| found.len() <= LONGEST);
            if is_short && (naming::holds_sops(path) || once(below)) {
                let (change, via, asked) = (Change::Other, Via::InPlace, Asked::default());
                writes.push(Write {
                    path: path.to_owned(),
                    change,
                    via,
                    asked,
                    beyond: tree.beyond,
                    leaves: tree.leaves,
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
