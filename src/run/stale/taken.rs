//! What is taken into a chain without having been written through us (`adopt`, `restore --accept`): the version that it was
//! made from, as git knows it, and whether a newer one would be passed over with it.
#![forbid(unsafe_code)]

use crate::canary::{self, Kind};
use crate::git::Repository;
use crate::lineage::{self, Base};
use crate::report::Refusal;
use crate::store::StoredReceipt;
use crate::terms::Digest;

use super::super::{Context, env_of, witness};
use super::{AtHand, would_lose};

/// So many versions of the history of HEAD are looked at, the newest first.
const MOST: usize = 32;

/// What it was made from, where that is known; the refusal, if a newer version than that would be lost. `at_hand` is what
/// lies in the file now.
///
/// # Errors
/// The refusal.
pub fn taken(
    context: &Context,
    host: &str,
    at_hand: &AtHand<'_>,
    chain: &[StoredReceipt],
) -> Result<Option<Digest>, Box<Refusal>> {
    if let Some(refusal) = would_lose(context, host, at_hand, chain) {
        return Err(refusal);
    }
    let Some((base, content)) = made_from(context, host, at_hand, chain) else { return Ok(None) };
    let is_known = |version: &Digest| lineage::knows(chain, version);
    // In the middle of a merge it is being made from both sides.
    let merged = at_hand.target.repository.as_ref().is_some_and(Repository::is_in_the_middle);
    if !merged && at_hand.version.is_none_or(|version| !is_known(version)) && is_known(&base) {
        let under = AtHand { content: content.as_deref(), version: Some(&base), base: Base::Under, ..*at_hand };
        if let Some(refusal) = would_lose(context, host, &under, chain) {
            return Err(refusal);
        }
    }
    Ok(Some(base))
}

/// The newest version of the chain where it was written here, else the last one of HEAD's history that the chain knows, else
/// the one before this of that history.
fn made_from(
    context: &Context,
    host: &str,
    at_hand: &AtHand<'_>,
    chain: &[StoredReceipt],
) -> Option<(Digest, Option<Vec<u8>>)> {
    let repository = at_hand.target.repository.as_ref()?;
    let (env, file) = (env_of(context), &at_hand.target.path);
    let root = repository.worktree_root.display().to_string();
    let is_here = |it: &&StoredReceipt| {
        it.host == host && it.worktree.as_deref() == Some(&*root) && witness::has_written(repository, &it.new)
    };
    if let Some(newest) = chain.first().filter(is_here)
        && Some(&newest.new) != at_hand.version
    {
        return Some((newest.new.clone(), None));
    }
    let is_known = |version: &Digest| lineage::knows(chain, version);
    let mut last = None;
    for blob in repository.line_of(file, &env).ok()?.iter().take(MOST) {
        let Ok(Some(content)) = repository.content_of(blob, &env) else { continue };
        let version = Digest::of(&content);
        if Some(&version) == at_hand.version || !matches!(canary::sniff(&content), Kind::Sops(_)) {
            continue;
        }
        if chain.is_empty() || is_known(&version) {
            return Some((version, Some(content)));
        }
        last.get_or_insert((version, Some(content)));
    }
    last
}
