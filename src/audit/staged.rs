//! What a commit that is being made would take in.
#![forbid(unsafe_code)]

use std::collections::{HashMap, HashSet};

use super::bared;
use super::change::{Change, Kind};
use super::demand::{Rules, may_be_sops};
use super::door::{Door, Tree};
use super::finding::{Finding, Wrong};
use super::judge::{Judgement, judge};
use super::reading::{self, Contents};
use super::sealed::Seals;
use super::written::{Version, Wanted};
use crate::canary::Fault;
use crate::git::GitError;

/// What it comes to.
#[derive(Debug, Default)]
pub struct Staged {
    /// What is wrong by the content alone.
    pub findings: Vec<Finding>,
    /// The versions of which somebody must know who wrote them.
    pub wanted: Vec<Wanted>,
    /// Everything that differs from every parent.
    pub changes: Vec<Change>,
}

/// Looks at what is staged and stands at the same path in none of these parents. What a parent has elsewhere (a copy, a
/// renaming) was looked at when it came: only what its new path demands is asked. `replaced` is the commit whose place it takes: no
/// parent, but what it has was there before as well.
///
/// # Errors
/// git cannot be started, or fails.
pub fn staged(door: &Door, parents: &[String], replaced: Option<&String>) -> Result<Staged, GitError> {
    let (mut changes, known) = own_changes(door.staged(parents)?);
    if let Some(replaced) = replaced {
        let since = door.staged(std::slice::from_ref(replaced))?;
        add_before(&mut changes, since.into_iter().flatten());
    }
    let rules = reading::rules(door, &[(Tree::Index, &changes)])?.pop().unwrap_or_default();
    let with_rules: Vec<(&Change, &Rules)> = changes.iter().map(|change| (change, &rules)).collect();
    let contents = reading::contents(door, &with_rules)?;
    let mut seals = Seals::default();
    let before = changes.iter().flat_map(|change| &change.before);
    before.filter_map(|blob| contents.of(blob).document()).for_each(|document| seals.add(document));
    let is_merged = |change: &Change| contents.of(&change.blob).document().is_some_and(|it| seals.is_merged(it));
    let mut staged = Staged::default();
    for change in &changes {
        let known = known.contains(&change.blob);
        match look(change, &contents, &rules) {
            Judgement::Other => {}
            Judgement::Sound | Judgement::Odd(_) if known => {}
            // It may have moved, or been copied, from a path where it was sound.
            Judgement::Sound if is_merged(change) => {
                staged.findings.push(finding(change, Wrong::Bad(Fault::Merged), None));
            }
            Judgement::Sound => staged.wanted.push(wanted(change, &contents, None)),
            Judgement::Odd(fault) => {
                staged.wanted.push(Wanted { odd: Some(fault), ..wanted(change, &contents, None) });
            }
            // What a clone without all contents does not have came from where it was cloned: it is not new.
            Judgement::Wrong(Wrong::Unseen) => {}
            Judgement::Wrong(wrong) if known && !wrong.is_of_the_path() => {}
            Judgement::Wrong(wrong) => staged.findings.push(finding(change, wrong, None)),
        }
    }
    let open = if may_hold_a_copy(&changes, &rules) { door.open_edits()? } else { Vec::new() };
    let bared = bared::bared(door, &changes, &rules, &open)?;
    staged.findings.extend(bared::findings(&changes, bared, None, &staged.findings));
    staged.changes = changes;
    Ok(staged)
}

/// Whether a file is staged that an edit may have been copied to.
fn may_hold_a_copy(changes: &[Change], rules: &Rules) -> bool {
    let mut files = changes.iter().filter(|change| change.kind == Kind::File);
    files.any(|change| may_be_sops(&change.path) && !rules.demand(&change.path))
}

/// What differs from every parent, with what each of them has there; and the contents that any of them has where
/// something changed.
fn own_changes(against: Vec<Vec<Change>>) -> (Vec<Change>, HashSet<String>) {
    let known = against.iter().flatten().flat_map(|change| change.before.clone()).collect();
    let mut against = against.into_iter();
    let first = against.next().unwrap_or_default();
    let own = against.fold(first, |own, other| {
        let mut others: HashMap<Vec<u8>, Change> =
            other.into_iter().map(|change| (change.path.clone(), change)).collect();
        let both = own.into_iter().filter_map(|mut change| {
            change.before.append(&mut others.remove(&change.path)?.before);
            Some(change)
        });
        both.collect()
    });
    (own, known)
}

/// What a commit had that is no parent: the version before, and what has gone since.
fn add_before(changes: &mut Vec<Change>, since: impl Iterator<Item = Change>) {
    let mut others: HashMap<Vec<u8>, Change> = since.map(|change| (change.path.clone(), change)).collect();
    for change in &mut *changes {
        let before = others.remove(&change.path).map(|other| other.before).unwrap_or_default();
        let new = before.into_iter().filter(|blob| !change.before.contains(blob)).collect::<Vec<_>>();
        change.before.extend(new);
    }
    changes.extend(others.into_values().filter(|other| other.kind == Kind::Gone));
    changes.sort_by(|one, other| one.path.cmp(&other.path));
}

/// Judges one change.
pub(super) fn look(change: &Change, contents: &Contents, rules: &Rules) -> Judgement {
    match change.kind {
        Kind::File => {
            let before: Vec<_> = change.before.iter().map(|before| contents.of(before)).collect();
            judge(&change.path, contents.of(&change.blob), &before, rules)
        }
        Kind::Unmerged if rules.demand(&change.path) => Judgement::Wrong(Wrong::Unmerged),
        // Where a link leads is a file of its own, a submodule's files are committed in their own repository, and what is
        // removed can leak nothing.
        Kind::Link | Kind::Module | Kind::Gone | Kind::Unmerged => Judgement::Other,
    }
}

pub(super) fn finding(change: &Change, wrong: Wrong, commit: Option<&str>) -> Finding {
    let blob = (change.kind == Kind::File).then(|| change.blob.clone());
    Finding { path: change.path.clone(), blob, commit: commit.map(str::to_owned), wrong }
}

pub(super) fn wanted(change: &Change, contents: &Contents, commit: Option<(&str, i64)>) -> Wanted {
    let digest = |blob: &str| contents.of(blob).digest().map(str::to_owned);
    let version = |blob: &String| Version { blob: blob.clone(), digest: digest(blob) };
    Wanted {
        path: change.path.clone(),
        blob: change.blob.clone(),
        digest: digest(&change.blob),
        odd: None,
        commit: commit.map(|(id, at)| (id.to_owned(), at)),
        before: change.before.iter().map(version).collect(),
    }
}
