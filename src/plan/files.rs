//! Which of the files that a line writes are held: those that are SOPS files, become some, or may be open for an edit, and are
//! not safe.
#![forbid(unsafe_code)]

use std::path::Path;

use super::below::{Look, Looked, below};
use super::{PlannedFile, World, archive, places};
use crate::naming::{self, Namer, NamingError};
use crate::rules::{Asked, Change, Classification, Leaves, Tree, Unpacked, Via, Write};

/// Files in directories that are longer are not read: no SOPS file of people is.
const LONGEST: u64 = 1 << 20;

/// The files that are held, and why another one is not.
pub(super) struct Files {
    pub(super) files: Vec<PlannedFile>,
    pub(super) passed_over: Option<String>,
    /// A directory that is taken whole has more in it than was looked at.
    pub(super) unfinished: bool,
    /// What an archive has nobody could see, and it is unpacked where SOPS files lie.
    pub(super) unseen: bool,
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
    let (mut within, unfinished) = within(&class.trees, world);
    let mut unseen = false;
    for it in &class.unpacked {
        let (over, looked) = unpacked(it, world);
        within.extend(over);
        unseen |= looked == Looked::Unfinished && lies_over_sops(it, world);
    }
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
    Ok(Files { files, passed_over, unfinished, unseen })
}

/// Whether it is no longer than the SOPS files of people are.
fn is_short(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.len() <= LONGEST)
}

/// Whether there are SOPS files where an archive is unpacked of which nobody knows what it has.
fn lies_over_sops(it: &Unpacked, world: &World<'_>) -> bool {
    let look = Look { follow: false, skip: &|relative| relative == Path::new(".git"), is_late: &world.is_late };
    let mut is_one = |path: &Path, _: &Path| is_short(path) && naming::holds_sops(path);
    it.place.is_dir() && below(&it.place, &look, &mut is_one) == Looked::Found
}

/// The SOPS files over which an archive is unpacked, and whether all of it could be looked at.
fn unpacked(it: &Unpacked, world: &World<'_>) -> (Vec<Write>, Looked) {
    let mut writes = Vec::new();
    let mut take = |member: &Path| {
        let over =
            it.lands(member).filter(|path| is_short(path) && (naming::holds_sops(path) || world.past.was_sops(path)));
        writes.extend(over.map(|path| Write {
            path,
            change: Change::Other,
            via: Via::Output,
            asked: Asked::default(),
            beyond: false,
            leaves: Leaves::Replaced,
        }));
        false
    };
    let Some(archive) = &it.archive else { return (writes, Looked::Unfinished) };
    let mut other = archive.clone().into_os_string();
    other.push(it.ending);
    let archive = if archive.is_file() { archive.as_path() } else { Path::new(&other) };
    let looked = archive::members(archive, &world.is_late, &mut take);
    (writes, looked)
}

/// So many words are looked at.
const MOST_WORDS: usize = 64;

/// What is to be said of SOPS files that a program is told which only run time knows (`"$EDITOR" secrets/app.yaml`), and
/// that are not held.
pub(super) fn told(class: &Classification, held: &[PlannedFile]) -> Option<String> {
    let is_held = |path: &Path| held.iter().any(|file| file.write.path == path);
    let mut words = class.open.iter().take(MOST_WORDS).filter(|path| !is_held(&path.0));
    let file = words.find(|path| is_short(&path.0) && naming::holds_sops(&path.0))?;
    let shown = shown(&file.0);
    Some(format!("a program that only run time knows is told {shown}, and runs without a lease on that"))
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
            if is_short(path) && (naming::holds_sops(path) || once(below)) {
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
