//! Plaintext that was copied out of an open edit and committed past the hooks, while the SOPS file itself is unchanged in git.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap, HashSet};

use super::bared::{LARGEST, Source, read, small};
use super::change::{Change, Commit, Kind};
use super::demand::{is_example, may_be_sops};
use super::door::Door;
use super::finding::{Finding, Wrong};
use super::reading::{Contents, SMALLEST};
use crate::canary::{self, Format};
use crate::git::GitError;
use crate::terms::percent_encode;

/// The files that these commits bring and that are what a SOPS file beside them holds, in the open: a copy of an open edit, while
/// what it was made from is unchanged in git. By all SOPS files of the last commits, and of what was there before. Files of
/// other stages have the same names, so nearly all must be as long, and a few short values say nothing; nor does what calls
/// itself an example.
/// What `read` knows is not read again.
pub(super) fn copied(door: &Door, history: &[Commit], read: Contents) -> Result<Vec<Finding>, GitError> {
    let mut known: HashSet<&str> = HashSet::new();
    let mut came: Vec<(&Commit, usize)> = Vec::new();
    for commit in history {
        known.extend(commit.changes.iter().flat_map(|change| change.before.iter().map(String::as_str)));
        let is_new = |change: &Change| {
            let is_open = change.kind == Kind::File && read.of(&change.blob).document().is_none();
            is_open && !known.contains(&*change.blob) && !is_example(&change.path)
        };
        came.extend((0..commit.changes.len()).filter(|at| is_new(&commit.changes[*at])).map(|at| (commit, at)));
    }
    let changes: Vec<(usize, &Change)> = came.iter().map(|(commit, at)| &commit.changes[*at]).enumerate().collect();
    let small = small(door, &changes)?;
    let beside = if small.is_empty() { Beside::default() } else { Beside::of(door, history, read)? };
    if beside.sources.is_empty() {
        return Ok(Vec::new());
    }
    let held =
        door.looked_at(&small, |_, content| Some(Wrong::Bared(percent_encode(&beside.held_in(content?)?.path))))?;
    let found: HashMap<&str, Wrong> =
        small.into_iter().zip(held).filter_map(|(blob, held)| Some((blob, held?))).collect();
    let finding = |(commit, at): (&Commit, usize)| {
        let change = &commit.changes[at];
        let wrong = found.get(&*change.blob)?.clone();
        let (path, blob, commit) = (change.path.clone(), Some(change.blob.clone()), Some(commit.id.clone()));
        Some(Finding { path, blob, commit, wrong })
    };
    Ok(came.into_iter().filter_map(finding).collect())
}

/// The SOPS files that there are, found by the names in them.
#[derive(Default)]
struct Beside {
    sources: Vec<Source>,
    by_name: HashMap<String, Vec<usize>>,
    formats: Vec<Format>,
}

impl Beside {
    /// Those of the last commits, and those that these commits have changed.
    fn of(door: &Door, history: &[Commit], mut known: Contents) -> Result<Self, GitError> {
        let parents: HashSet<&str> = history.iter().flat_map(|it| it.parents.iter().map(String::as_str)).collect();
        let mut files: BTreeSet<(Vec<u8>, String)> = BTreeSet::new();
        for tip in history.iter().filter(|commit| !parents.contains(&*commit.id)) {
            files.extend(door.files(&tip.id)?);
        }
        for change in history.iter().flat_map(|commit| &commit.changes) {
            files.extend(change.before.iter().map(|blob| (change.path.clone(), blob.clone())));
        }
        files.retain(|(path, _)| may_be_sops(path));
        let unread: Vec<_> = files.iter().filter(|(_, blob)| known.of(blob).document().is_none()).collect();
        let names: Vec<Vec<u8>> = unread.iter().map(|(_, blob)| blob.as_bytes().to_vec()).collect();
        let sizes = door.sizes(&names)?;
        let fits = |size: Option<(String, u64)>| size.is_some_and(|(_, size)| (SMALLEST..=LARGEST).contains(&size));
        let pairs = unread.iter().zip(sizes).filter(|(_, size)| fits(size.clone()));
        let pairs: Vec<_> = pairs.map(|((path, blob), _)| (path, blob)).collect();
        let mut sources = read(door, &pairs)?;
        let known = |(path, blob): &(Vec<u8>, String)| Some(Source { document: known.take(blob)?, path: path.clone() });
        sources.extend(files.iter().filter_map(known));
        // Who is named is the first that fits: the same each time.
        sources.sort_by(|one, other| one.path.cmp(&other.path));
        let mut beside = Self { sources, ..Self::default() };
        for (at, source) in beside.sources.iter().enumerate() {
            for name in source.document.keys.first_names() {
                beside.by_name.entry(name.to_owned()).or_default().push(at);
            }
            if !beside.formats.contains(&source.document.format) {
                beside.formats.push(source.document.format);
            }
        }
        Ok(beside)
    }

    /// The one that holds this, encrypted.
    fn held_in(&self, content: &[u8]) -> Option<&Source> {
        let names = canary::plain_names(content, &self.formats);
        let near: BTreeSet<usize> = names.iter().filter_map(|name| self.by_name.get(name)).flatten().copied().collect();
        near.into_iter().map(|at| &self.sources[at]).find(|source| canary::is_copied(&source.document, content))
    }
}
