//! Whether a version that was made without the one that it replaces has lost what that had brought.
//!
//! A chain of receipts tells what the writer had before him; it does not tell what happened when two lines of commits met. So
//! the version that stands on one it was not made from is a suspect, and this is what becomes of it:
//!
//! | how it came to stand there | then |
//! |---|---|
//! | in a merge, made from the version of one side | none: who commits a merge has both sides before him |
//! | a receipt that begins the chain anew (`--accept-stale adopt`) was given later to it, or to what was made from it | none: a person has decided so |
//! | otherwise (a rebase, a squash, a file taken out of another branch, a copy, a stale write past every hook), and it, or some version of the history after it, has all that the replaced one had brought | none: somebody has put it in again; what becomes of that later is a write like any other |
//! | otherwise | a loss |
//!
//! What the replaced version had brought is what it differs in from the version that both were made from: names, values and
//! recipients. sops keeps the ciphertext of a value that a command does not touch, so two versions under one data key can be
//! compared without a key. Where a file was encrypted anew, or a version cannot be read here, only names tell; what does not
//! tell is a loss. A value that both sides have changed is the one of whoever wrote last. That a commit is older than what it
//! replaces tells nothing: git asks in a rebase where both meet, and in `rebase -X theirs`, an amended checkout or a commit that
//! takes over another one's message and date it does not.
#![forbid(unsafe_code)]

mod line;
mod versions;

use std::collections::{BTreeSet, VecDeque};

use super::change::Commit;
use super::door::Door;
use super::finding::{Finding, Wrong};
use super::written::{Chains, Version, Wanted, Written, newest, seen_by};
use crate::canary::{self, Names};
use crate::git::GitError;
use line::Line;
use versions::Versions;

/// A version that was made without what it replaces.
struct Suspect<'a> {
    wanted: &'a Wanted,
    chain: &'a [Written],
    own: &'a Written,
    replaced: Vec<&'a Written>,
}

/// Something is lost, and what, where that can be told.
struct Lost(Option<Names>);

/// Those that have lost something that what they replace had brought.
///
/// # Errors
/// git cannot be started, or fails.
pub fn lost(door: &Door, history: &[Commit], wanted: &[Wanted], chains: &Chains) -> Result<Vec<Finding>, GitError> {
    let line = Line::of(history);
    let mut found = Vec::new();
    for suspect in wanted.iter().filter_map(|wanted| Suspect::of(wanted, chains.get(&wanted.path)?)) {
        if suspect.is_decided() {
            continue;
        }
        if let Some(lost) = suspect.lost(door, &line)? {
            found.push(suspect.finding(lost));
        }
    }
    Ok(found)
}

impl<'a> Suspect<'a> {
    fn of(wanted: &'a Wanted, chain: &'a [Written]) -> Option<Self> {
        let own = newest(chain, &wanted.blob, wanted.digest.as_deref())?;
        // A chain that begins anew says nothing of what was before.
        own.base.as_ref()?;
        let of = |before: &Version| newest(chain, &before.blob, before.digest.as_deref());
        let replaced: Vec<Option<&Written>> = wanted.before.iter().map(of).collect();
        let seen = seen_by(&own.new, chain);
        let built_on = |before: &Option<&Written>| before.is_none_or(|before| seen.contains(before.new.as_str()));
        let is_built = replaced.is_empty() || replaced.iter().any(built_on);
        (!is_built).then(|| Self { wanted, chain, own, replaced: replaced.into_iter().flatten().collect() })
    }

    fn finding(&self, Lost(lost): Lost) -> Finding {
        let replaced = self.replaced.iter().map(|replaced| replaced.token).max().unwrap_or_default();
        self.wanted.finding(Wrong::Stale { token: self.own.token, replaced, lost })
    }

    /// Somebody has had it, or what was made from it, before him, and has begun the chain anew with that.
    fn is_decided(&self) -> bool {
        let last = self.replaced.iter().map(|replaced| replaced.token).chain([self.own.token]).max();
        let anew = self.chain.iter().filter(|it| it.base.is_none() && Some(it.token) > last);
        anew.into_iter().any(|it| seen_by(&it.new, self.chain).contains(&*self.own.new))
    }

    fn lost(&self, door: &Door, line: &Line<'_>) -> Result<Option<Lost>, GitError> {
        let Some((commit, _)) = &self.wanted.commit else { return Ok(Some(Lost(None))) };
        for tip in line.tips_of(commit) {
            let mut since = line.since(commit, tip, &self.wanted.path);
            since.extend(last(door, tip, &self.wanted.path)?);
            let versions = Versions::read(door, tip, &self.wanted.path, self.chain, &since)?;
            let lost = |replaced: &&Written| {
                let lacks: Option<Vec<Lost>> =
                    since.iter().map(|blob| self.lost_of(&versions, blob, replaced)).collect();
                lacks.map(|lacks| lacks.into_iter().next_back().unwrap_or(Lost(None)))
            };
            if let Some(lost) = self.replaced.iter().copied().find_map(|replaced| lost(&replaced)) {
                return Ok(Some(lost));
            }
        }
        Ok(None)
    }

    /// What this version lacks of what the replaced one had brought.
    fn lost_of(&self, versions: &Versions, blob: &str, replaced: &Written) -> Option<Lost> {
        let base = parting(&self.own.new, &replaced.new, self.chain).and_then(|base| versions.of(base));
        let (Some((now, digest)), Some(base), Some(newer)) = (versions.at(blob), base, versions.of(&replaced.new))
        else {
            return Some(Lost(None));
        };
        let written = self.chain.iter().filter(|it| it.new == digest.as_str()).map(|it| it.token).max();
        let is_later = written.is_some_and(|token| token > replaced.token);
        canary::lacking(now, base, newer, is_later).map(|names| Lost(Some(names)))
    }
}

/// The version that both were made from, the nearest to the other one.
fn parting<'a>(own: &'a str, other: &'a str, chain: &'a [Written]) -> Option<&'a str> {
    let seen = seen_by(own, chain);
    let mut open = VecDeque::from([other]);
    let mut looked_at = BTreeSet::new();
    while let Some(digest) = open.pop_front() {
        if seen.contains(digest) {
            return Some(digest);
        }
        if looked_at.insert(digest) {
            open.extend(chain.iter().filter(|it| it.new == digest).filter_map(|it| it.base.as_deref()));
        }
    }
    None
}

/// The object that a commit has at a path; none where it has none, or that cannot be asked.
fn last(door: &Door, tip: &str, path: &[u8]) -> Result<Option<String>, GitError> {
    if path.contains(&b'\n') {
        return Ok(None);
    }
    let found = door.sizes(&[[tip.as_bytes(), b":", path].concat()])?;
    Ok(found.into_iter().flatten().next().map(|(blob, _)| blob))
}

#[cfg(test)]
mod tests;
