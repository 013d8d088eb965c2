//! Where a version lies that no ref here has: in its writer's place on this host, or out of sight.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::git::{GitError, Repository};
use crate::lineage::{Way, Whereabouts};
use crate::store::StoredReceipt;
use crate::terms::Digest;

use super::reference::{branch_in, remote_in, short};
use super::{Around, DETACHED, Seen, blob_of, path_of_key};

/// A clock of ours and the store's may differ by so much.
const SKEW_MS: i64 = 60_000;

impl Around<'_> {
    /// Its writer's place on this host: whether the file there holds it still, and what git says of it there.
    pub(super) fn at_its_writer(
        &self,
        receipt: &StoredReceipt,
        place: &Path,
        moved_on: bool,
    ) -> Result<Whereabouts, GitError> {
        let file = place.join(path_of_key(&receipt.path));
        if file == self.file() {
            return Ok(Whereabouts::Nowhere);
        }
        let holds = !moved_on && std::fs::read(&file).is_ok_and(|content| Digest::of(&content) == receipt.new);
        let other = Repository::around(place).ok().flatten();
        let Some((ours, theirs)) = self.repository().zip(other) else {
            // Without a repository there is nothing to compare it by: what a work tree holds is there.
            let there = place.display().to_string();
            return Ok(if holds { Whereabouts::Elsewhere(there) } else { Whereabouts::Nowhere });
        };
        let seen = match self.seen(ours) {
            Ok(seen) => seen,
            Err(why) if holds => return Ok(Whereabouts::Untold(why)),
            Err(_) => return Ok(Whereabouts::Nowhere),
        };
        let branch = theirs.branch(self.env)?;
        if theirs.common_dir == ours.common_dir {
            if !holds {
                return Ok(Whereabouts::Nowhere);
            }
            let branch = match branch {
                Some(branch) if seen.ours.has(&branch) => branch,
                other => return Ok(Whereabouts::Elsewhere(other.unwrap_or_else(|| DETACHED.to_owned()))),
            };
            let merges = !seen.ours.is_detached() && self.is_clean(ours, seen)?;
            let then = Box::new(if merges { Way::Merge(branch) } else { Way::Checkout(branch) });
            let worktree = place.display().to_string();
            return Ok(Whereabouts::Ahead(Way::CommitThere { worktree, push: false, then }));
        }
        self.in_another_clone(receipt, &theirs, &file, branch, holds, seen)
    }

    fn in_another_clone(
        &self,
        receipt: &StoredReceipt,
        theirs: &Repository,
        file: &Path,
        branch: Option<String>,
        holds: bool,
        seen: &Seen,
    ) -> Result<Whereabouts, GitError> {
        let history = theirs.history(file, self.env)?;
        let blob = blob_of(theirs, &history, receipt, self.env)?;
        let brought = blob.as_deref().and_then(|blob| history.brought(blob).first());
        let refs = brought.map(|commit| theirs.refs_with(commit, self.env)).transpose()?.unwrap_or_default();
        let worktree = theirs.worktree_root.display().to_string();
        if let Some(reference) = seen.ours.among(&refs).next() {
            let then = Box::new(self.pull(seen, Some(branch_in(reference)))?);
            let pushed = seen.ours.among(&refs).any(|reference| reference.starts_with("refs/remotes/"));
            return Ok(Whereabouts::Ahead(if pushed { *then } else { Way::PushThere { worktree, then } }));
        }
        if !refs.is_empty() {
            return Ok(Whereabouts::Elsewhere(short(&refs[0]).to_owned()));
        }
        match branch {
            Some(branch) if holds && seen.ours.has(&branch) => {
                let then = Box::new(self.pull(seen, Some(&branch))?);
                Ok(Whereabouts::Ahead(Way::CommitThere { worktree, push: true, then }))
            }
            Some(other) if holds => Ok(Whereabouts::Elsewhere(other)),
            None if holds => Ok(Whereabouts::Elsewhere(DETACHED.to_owned())),
            _ => Ok(Whereabouts::Nowhere),
        }
    }

    /// What fetches what was pushed to this branch; asked for where it is not here yet.
    fn pull(&self, seen: &Seen, branch: Option<&str>) -> Result<Way, GitError> {
        let Some(repository) = self.repository() else { return Ok(Way::Git("there is no repository".to_owned())) };
        let upstream = seen.ours.upstream();
        let follows = upstream.map(branch_in);
        let remote = upstream.and_then(remote_in).unwrap_or("origin").to_owned();
        let wanted = branch.or(follows).or(seen.ours.first()).unwrap_or("HEAD").to_owned();
        if seen.ours.is_detached() || !self.is_clean(repository, seen)? {
            let from = if wanted == "HEAD" { "FETCH_HEAD".to_owned() } else { format!("{remote}/{wanted}") };
            return Ok(Way::FetchAndCheckout { remote, from });
        }
        let diverged = upstream.is_some_and(|upstream| repository.head_goes_beyond(upstream, self.env).unwrap_or(true));
        let from = (follows != Some(&*wanted)).then_some((remote, wanted));
        Ok(Way::Pull { diverged: diverged || from.is_some(), from })
    }

    /// It was written where we cannot look.
    pub(super) fn out_of_sight(&self, receipt: &StoredReceipt, seen: &Seen) -> Result<Whereabouts, GitError> {
        let ours = receipt.branch.as_deref().is_none_or(|branch| seen.ours.has(branch));
        let repository = self.repository();
        let there = Way::AskThere { host: receipt.host.clone(), worktree: receipt.worktree.clone() };
        let fetched_since = repository
            .and_then(Repository::fetched_at)
            .is_some_and(|fetched| fetched > receipt.at.saturating_add(SKEW_MS));
        let way = match repository {
            Some(repository) if !fetched_since && repository.has_origin(self.env) => {
                self.pull(seen, receipt.branch.as_deref())?
            }
            _ => there,
        };
        Ok(Whereabouts::OutOfSight { ours, way })
    }
}
