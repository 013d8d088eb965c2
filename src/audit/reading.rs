//! Reads what has to be looked at: the configurations, then what is new, then what was there before; each in one batch.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use super::change::{Change, Kind};
use super::demand::{CONFIG, Rules, directories, may_be_sops};
use super::door::{Door, Tree};
use super::seen::Seen;
use crate::canary::Document;
use crate::git::GitError;
use crate::naming::CreationRules;

/// The metadata alone is longer than this (bytes).
pub(super) const SMALLEST: u64 = 200;
/// What a name demands to be SOPS is looked at up to this (bytes).
const LARGEST_NAMED: u64 = 256 * 1024 * 1024;
/// What no name demands to be SOPS is not looked into above this (bytes).
const LARGEST_UNNAMED: u64 = 1024 * 1024;

/// Contents by their objects.
#[derive(Debug, Default)]
pub(super) struct Contents {
    seen: HashMap<String, Seen>,
}

impl Contents {
    pub(super) fn of(&self, blob: &str) -> &Seen {
        self.seen.get(blob).unwrap_or(&Seen::Passed)
    }

    /// The document of a whole SOPS file; it is had once.
    pub(super) fn take(&mut self, blob: &str) -> Option<Document> {
        match self.seen.remove(blob)? {
            Seen::Whole(document, _) => Some(*document),
            _ => None,
        }
    }
}

/// The configurations of each of these trees, for the paths that changed there.
pub(super) fn rules(door: &Door, trees: &[(Tree<'_>, &[Change])]) -> Result<Vec<Rules>, GitError> {
    let mut names = Vec::new();
    let mut places = Vec::new();
    for (at, (tree, changes)) in trees.iter().enumerate() {
        let paths = changes.iter().filter(|change| change.kind == Kind::File).map(|change| &change.path);
        let all: BTreeSet<&[u8]> = paths.flat_map(|path| directories(path)).collect();
        // One name a line: a directory whose name has a line's end cannot be asked about.
        for directory in all.into_iter().filter(|directory| !directory.contains(&b'\n')) {
            let slash: &[u8] = if directory.is_empty() { b"" } else { b"/" };
            let of = match tree {
                Tree::Index => "",
                Tree::Of(commit) => commit,
            };
            names.push([of.as_bytes(), b":", directory, slash, CONFIG].concat());
            places.push((at, directory.to_vec()));
        }
    }
    let found = door.sizes(&names)?;
    let blobs: BTreeSet<&str> = found.iter().flatten().map(|(blob, _)| &**blob).collect();
    let mut sets: HashMap<String, Rc<CreationRules>> = HashMap::new();
    door.contents(&blobs.into_iter().collect::<Vec<_>>(), |blob, content| {
        // One that sops cannot read demands nothing.
        let parsed = content.and_then(|content| CreationRules::parse(&content, Path::new(".sops.yaml")).ok());
        sets.extend(parsed.map(|rules| (blob.to_owned(), Rc::new(rules))));
    })?;
    let mut all = vec![Rules::default(); trees.len()];
    for ((at, directory), found) in places.into_iter().zip(&found) {
        let set = found.as_ref().and_then(|(blob, _)| sets.get(blob));
        all[at].sets.extend(set.map(|set| (directory, Rc::clone(set))));
    }
    Ok(all)
}

/// Looks at the new contents of these changes, each with the rules of its tree, and at the old ones where they matter.
pub(super) fn contents(door: &Door, changes: &[(&Change, &Rules)]) -> Result<Contents, GitError> {
    let mut contents = Contents::default();
    let mut named: BTreeMap<&str, bool> = BTreeMap::new();
    for (change, rules) in changes.iter().filter(|(change, _)| change.kind == Kind::File) {
        let demanded = rules.demand(&change.path);
        if demanded || may_be_sops(&change.path) {
            *named.entry(&change.blob).or_default() |= demanded;
        }
    }
    contents.read(door, &named)?;
    // What is SOPS is compared with what was; what is not must not have been.
    let mut old: BTreeMap<&str, bool> = BTreeMap::new();
    for (change, _) in changes.iter().filter(|(change, _)| change.kind == Kind::File) {
        let now = contents.of(&change.blob);
        let matters = now.is_sops() || may_be_sops(&change.path);
        for before in change.before.iter().filter(|_| matters) {
            *old.entry(before).or_default() |= now.is_sops();
        }
    }
    // What went away may have come back under another name.
    if contents.seen.values().any(Seen::is_sops) {
        let gone = changes.iter().filter(|(change, _)| change.kind == Kind::Gone && may_be_sops(&change.path));
        gone.flat_map(|(change, _)| &change.before).for_each(|before| _ = old.entry(before).or_default());
    }
    let known: HashSet<String> = contents.seen.keys().cloned().collect();
    old.retain(|blob, _| !known.contains(*blob));
    contents.read(door, &old)?;
    // What was SOPS is looked at whatever it has become: cut short, it is smaller than any SOPS file.
    let passed = changes.iter().map(|(change, _)| *change).filter(|change| {
        let was = || change.before.iter().any(|before| contents.of(before).is_sops());
        change.kind == Kind::File && matches!(contents.of(&change.blob), Seen::Passed) && was()
    });
    let again: BTreeMap<&str, bool> = passed.map(|change| (&*change.blob, true)).collect();
    contents.read(door, &again)?;
    Ok(contents)
}

impl Contents {
    /// Reads these; with true, whatever their size.
    fn read(&mut self, door: &Door, blobs: &BTreeMap<&str, bool>) -> Result<(), GitError> {
        let names: Vec<Vec<u8>> = blobs.keys().map(|blob| blob.as_bytes().to_vec()).collect();
        let mut wanted = Vec::new();
        for ((&blob, &named), found) in blobs.iter().zip(door.sizes(&names)?) {
            let seen = match found {
                None => Seen::Absent,
                Some((_, size)) if named && size > LARGEST_NAMED => Seen::TooLarge,
                Some((_, size)) if named || (SMALLEST..=LARGEST_UNNAMED).contains(&size) => {
                    wanted.push(blob);
                    continue;
                }
                Some(_) => Seen::Passed,
            };
            self.seen.insert(blob.to_owned(), seen);
        }
        let seen = door.looked_at(&wanted, |_, content| content.map_or(Seen::Absent, Seen::of))?;
        self.seen.extend(wanted.into_iter().map(str::to_owned).zip(seen));
        Ok(())
    }
}
