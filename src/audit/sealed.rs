//! One message authentication code over two sets of values: a merge of text, a pick with `-X theirs`, a change by hand. Which of
//! two versions sops has made is told by which came first; the other one nobody can decrypt. No key is needed for that.
#![forbid(unsafe_code)]

use std::collections::{HashMap, HashSet};

use super::demand::may_be_sops;
use super::door::Door;
use super::finding::{Finding, Wrong};
use super::reading::SMALLEST;
use super::written::Wanted;
use crate::canary::{self, Document, Fault};
use crate::git::GitError;

/// Larger versions of before are not looked into (bytes).
const LARGEST: u64 = 4 << 20;

/// Whole versions by their codes, the first of each.
#[derive(Default)]
pub(super) struct Seals<'a>(HashMap<u64, &'a Document>);

impl<'a> Seals<'a> {
    /// The first with its code stays; another one is no version of sops's making.
    pub(super) fn add(&mut self, document: &'a Document) {
        if let Some(metadata) = document.metadata.as_ref().filter(|metadata| metadata.mac) {
            self.0.entry(metadata.seal).or_insert(document);
        }
    }

    /// Whether it bears the code of one of them, over other values or with another time.
    pub(super) fn is_merged(&self, document: &Document) -> bool {
        let seal = document.metadata.as_ref().map(|metadata| metadata.seal);
        seal.and_then(|seal| self.0.get(&seal)).is_some_and(|first| canary::is_merged(first, document))
    }
}

/// Those of these versions that bear the code of another one that the repository had before them, under whatever name, with
/// other values. Of a long history the newer part is looked at.
///
/// # Errors
/// git cannot be started, or fails.
pub fn resealed(door: &Door, wanted: &[Wanted]) -> Result<Vec<Finding>, GitError> {
    let names: HashSet<&str> = wanted.iter().map(|wanted| &*wanted.blob).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let documents = door.looked_at(&names, |_, content| canary::native(content?).ok())?;
    let named = names.into_iter().map(str::to_owned).zip(documents);
    let found: HashMap<String, Document> = named.filter_map(|(blob, document)| Some((blob, document?))).collect();
    let tips: Vec<&str> = wanted.iter().filter_map(|it| it.commit.as_ref()).map(|(commit, _)| &**commit).collect();
    let merged = merged(door, &tips, &found)?;
    let bad = wanted.iter().filter(|wanted| merged.contains(&wanted.blob));
    Ok(bad.map(|wanted| wanted.finding(Wrong::Bad(Fault::Merged))).collect())
}

/// What can be told without receipts: what nobody can read, and what bears the code of another version.
///
/// # Errors
/// git cannot be started, or fails.
pub fn by_content(door: &Door, wanted: &[Wanted]) -> Result<Vec<Finding>, GitError> {
    let mut found = super::odd(wanted);
    found.extend(resealed(door, wanted)?);
    Ok(found)
}

/// Whether a content that may be in no commit yet bears the code of another version that the repository has.
///
/// # Errors
/// git cannot be started, or fails.
pub fn is_resealed(door: &Door, content: &[u8], blob: &str) -> Result<bool, GitError> {
    let Ok(document) = canary::native(content) else { return Ok(false) };
    Ok(!merged(door, &[], &HashMap::from([(blob.to_owned(), document)]))?.is_empty())
}

fn merged(door: &Door, tips: &[&str], found: &HashMap<String, Document>) -> Result<HashSet<String>, GitError> {
    let seal = |document: &Document| document.metadata.as_ref().map(|metadata| metadata.seal);
    let wanted: HashSet<u64> = found.values().filter_map(seal).collect();
    if wanted.is_empty() {
        return Ok(HashSet::new());
    }
    let mut seen = HashSet::new();
    let mut history = door.ever(tips)?;
    history.retain(|(path, blob)| may_be_sops(path) && seen.insert(blob.clone()));
    // What is wanted was read already.
    let unread: Vec<&str> = history.iter().map(|(_, blob)| &**blob).filter(|blob| !found.contains_key(*blob)).collect();
    let names: Vec<Vec<u8>> = unread.iter().map(|blob| blob.as_bytes().to_vec()).collect();
    let sizes = door.sizes(&names)?;
    let fits = |size: &Option<(String, u64)>| size.as_ref().is_some_and(|(_, it)| (SMALLEST..=LARGEST).contains(it));
    let blobs: Vec<&str> = unread.iter().zip(&sizes).filter(|(_, size)| fits(size)).map(|(blob, _)| *blob).collect();
    let others = door.looked_at(&blobs, |_, content| {
        let content = content.filter(|content| canary::seals(content).any(|seal| wanted.contains(&seal)))?;
        canary::native(content).ok()
    })?;
    let others: HashMap<&str, Document> =
        blobs.iter().zip(others).filter_map(|(blob, other)| Some((*blob, other?))).collect();
    let mut first: HashMap<u64, (&str, &Document)> = HashMap::new();
    for (_, blob) in &history {
        if let Some(document) = found.get(blob).or_else(|| others.get(&**blob))
            && let Some(seal) = seal(document).filter(|seal| wanted.contains(seal))
        {
            first.entry(seal).or_insert((blob, document));
        }
    }
    let is_another = |blob: &str, document: &Document| {
        let first = seal(document).and_then(|seal| first.get(&seal));
        first.is_some_and(|(known, first)| *known != blob && canary::is_merged(first, document))
    };
    let bad = found.iter().filter(|(blob, document)| is_another(blob, document));
    Ok(bad.map(|(blob, _)| blob.clone()).collect())
}
