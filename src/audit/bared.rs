//! Plaintext under another name: what a SOPS file holds, in the open, beside it or in its place. An open edit that is renamed or
//! copied has a name that demands nothing, and still is what it was.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashMap, HashSet};

use super::change::{Change, Kind};
use super::demand::{Rules, may_be_sops};
use super::door::Door;
use super::finding::{Finding, Wrong};
use crate::canary::{self, Document};
use crate::git::GitError;
use crate::terms::percent_encode;

/// What is larger is nobody's secrets file (bytes).
pub(super) const LARGEST: u64 = 1 << 20;

/// A SOPS file that is not there any more, or is open.
pub(super) struct Source {
    pub(super) path: Vec<u8>,
    pub(super) document: Document,
}

/// The files among these changes that are what a SOPS file holds: one that goes with the same changes, or one of `open`, which
/// are those that lie in the open in the working tree. git is asked only where there are such.
pub(super) fn bared(
    door: &Door,
    changes: &[Change],
    rules: &Rules,
    open: &[(Vec<u8>, String)],
) -> Result<Vec<(usize, Wrong)>, GitError> {
    let came: Vec<(usize, &Change)> = changes.iter().enumerate().filter(|(_, it)| it.kind == Kind::File).collect();
    // Who moves it as it is leaves nothing in the open.
    let moved: HashSet<&str> = came.iter().map(|(_, change)| &*change.blob).collect();
    let is_named = |path: &[u8]| rules.demand(path) || may_be_sops(path);
    let gone = changes.iter().filter(|change| change.kind == Kind::Gone && is_named(&change.path));
    let gone = gone.flat_map(|change| change.before.iter().map(|blob| (&change.path, blob)));
    let sources: Vec<(&Vec<u8>, &String)> = gone
        .chain(open.iter().map(|(path, blob)| (path, blob)))
        .filter(|(_, blob)| !moved.contains(&***blob))
        .collect();
    if came.is_empty() || sources.is_empty() {
        return Ok(Vec::new());
    }
    let sources = read(door, &sources)?;
    let known: HashSet<&str> = changes.iter().flat_map(|change| change.before.iter().map(String::as_str)).collect();
    let new: Vec<(usize, &Change)> = came.into_iter().filter(|(_, it)| !known.contains(&*it.blob)).collect();
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let small = small(door, &new)?;
    let held = door.looked_at(&small, |_, content| {
        let source = content.and_then(|it| sources.iter().find(|source| canary::is_bared(&source.document, it)))?;
        Some(Wrong::Bared(percent_encode(&source.path)))
    })?;
    let found: HashMap<&str, Wrong> =
        small.into_iter().zip(held).filter_map(|(blob, held)| Some((blob, held?))).collect();
    Ok(new.into_iter().filter_map(|(at, change)| Some((at, found.get(&*change.blob)?.clone()))).collect())
}

/// Those that are not too large.
pub(super) fn small<'a>(door: &Door, new: &[(usize, &'a Change)]) -> Result<Vec<&'a str>, GitError> {
    let names: Vec<Vec<u8>> = new.iter().map(|(_, change)| change.blob.as_bytes().to_vec()).collect();
    let sizes = door.sizes(&names)?;
    let fits = |size: &Option<(String, u64)>| size.as_ref().is_some_and(|(_, size)| (1..=LARGEST).contains(size));
    Ok(new.iter().zip(sizes).filter(|(_, size)| fits(size)).map(|((_, change), _)| &*change.blob).collect())
}

/// Those that are SOPS.
pub(super) fn read(door: &Door, sources: &[(&Vec<u8>, &String)]) -> Result<Vec<Source>, GitError> {
    // In an order that is the same each time: who is named as the source is the first that fits.
    let of: BTreeMap<&str, &Vec<u8>> = sources.iter().rev().map(|(path, blob)| (blob.as_str(), *path)).collect();
    let blobs: Vec<&str> = of.keys().copied().collect();
    let documents = door.looked_at(&blobs, |_, content| match canary::kind_and_native(content?) {
        (canary::Kind::Sops(_), document) => document.ok(),
        _ => None,
    })?;
    let source =
        |(path, document): (&&Vec<u8>, Option<Document>)| Some(Source { path: path.to_vec(), document: document? });
    Ok(of.values().zip(documents).filter_map(source).collect())
}

/// A finding for each, without those that are wrong already.
pub(super) fn findings(
    changes: &[Change],
    bared: Vec<(usize, Wrong)>,
    commit: Option<&str>,
    others: &[Finding],
) -> Vec<Finding> {
    if bared.is_empty() {
        return Vec::new();
    }
    let of = |(at, wrong): (usize, Wrong)| {
        let change = &changes[at];
        Finding { path: change.path.clone(), blob: Some(change.blob.clone()), commit: commit.map(str::to_owned), wrong }
    };
    let told: HashSet<&[u8]> = others.iter().filter(|it| it.commit.as_deref() == commit).map(|it| &*it.path).collect();
    bared.into_iter().map(of).filter(|one| !told.contains(&*one.path)).collect()
}
