//! A version that its writer's checkout has written and no ref of it has any more. What was never committed was thrown away.
//! What was committed may have been pushed, and then others have it: that it was not is proven by the branch it was taken back
//! from, in a clone that sees its origin, or by a fetch that came later and has not brought it.
#![forbid(unsafe_code)]

use crate::git::{GitError, Repository};
use crate::lineage::Whereabouts;
use crate::store::StoredReceipt;

use super::theirs::Theirs;
use super::ways::Asked;
use super::{Around, Seen, blob_of};

/// So much of a commit's name tells it from all others of a repository.
const SHORT: usize = 12;

impl Around<'_> {
    /// Where such a version is that was written in `theirs`.
    pub(super) fn forgotten(
        &self,
        receipt: &StoredReceipt,
        ours: &Repository,
        theirs: &Theirs,
        seen: &Seen,
    ) -> Result<Whereabouts, GitError> {
        let is_ours = theirs.repository.common_dir == ours.common_dir;
        // What this repository has got of another one was published.
        let fetched = !is_ours && self.has_object(ours, receipt)?;
        let history = theirs.remembered(self.env)?;
        let blob = blob_of(&theirs.repository, history, receipt, self.env)?;
        let commits = blob.as_deref().map(|blob| history.brought(blob)).unwrap_or_default();
        let Some(commit) = commits.first() else {
            return Ok(if fetched { self.unsure(receipt, None, seen)? } else { Whereabouts::Nowhere });
        };
        let stashes = theirs.stashes(self.env)?;
        if commits.iter().any(|commit| stashes.contains(commit)) {
            return Ok(Whereabouts::Elsewhere(format!("a stash in {}", theirs.repository.worktree_root.display())));
        }
        // All checkouts of a repository without a remote share its refs.
        if receipt.scope.0.starts_with("local/") || (!fetched && self.was_taken_back(theirs, commits)?) {
            return Ok(Whereabouts::Nowhere);
        }
        // A fetch brings what was pushed before it.
        let changed = theirs.repository.remotes_changed_at().filter(|_| !is_ours).unwrap_or_default();
        let branch = seen.branch_of(receipt);
        let looked_at = self.looked_at(ours, seen, branch)?.unwrap_or_default();
        if ours.sees_origin(self.env)? && !ours.is_shallow() && looked_at > changed.max(receipt.at) {
            return Ok(Whereabouts::Nowhere);
        }
        self.unsure(receipt, Some(commit.as_str()).filter(|_| is_ours), seen)
    }

    /// The branch that had it is there and has gone back; and what was pushed from here would be known.
    fn was_taken_back(&self, theirs: &Theirs, commits: &[String]) -> Result<bool, GitError> {
        let were = theirs.were_at(self.env)?;
        Ok(commits.iter().any(|commit| were.contains(commit)))
    }

    pub(super) fn has_object(&self, ours: &Repository, receipt: &StoredReceipt) -> Result<bool, GitError> {
        let blob = receipt.blob.as_deref().map(|blob| ours.content_of(blob, self.env)).transpose()?;
        Ok(blob.flatten().is_some())
    }

    /// It may be at the remote. `commit`: this repository remembers it.
    pub(super) fn unsure(
        &self,
        receipt: &StoredReceipt,
        commit: Option<&str>,
        seen: &Seen,
    ) -> Result<Whereabouts, GitError> {
        let branch = seen.branch_of(receipt);
        let ours = receipt.branch.is_none() || branch.is_some();
        let Some(repository) = self.repository() else { return Ok(Whereabouts::Nowhere) };
        let looked_at = self.looked_at(repository, seen, branch)?;
        let fetched = looked_at.is_some_and(|at| at > receipt.at);
        let whole = repository.is_shallow() && fetched;
        let way = match commit {
            Some(commit) => self.merging(repository, seen, commit.get(..SHORT).unwrap_or(commit), false)?,
            None if repository.remote(self.env)?.is_some() => {
                self.pull(seen, &Asked { whole, unsure: true, ..Asked::of(branch) })?
            }
            None => self.ask_there(receipt, seen, branch),
        };
        let fetched = (fetched && !whole) || !repository.has_origin(self.env);
        Ok(Whereabouts::OutOfSight { ours, fetched, way })
    }
}
