//! Where a version lies that no ref here has: in its writer's place on this host, or out of sight.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::git::{GitError, Repository};
use crate::lineage::{Way, Whereabouts};
use crate::store::StoredReceipt;
use crate::terms::Digest;

use super::super::super::witness;
use super::lies::Lies;
use super::reference::{branch_in, short};
use super::ways::around;
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
        let is_here = file == self.file();
        let holds =
            !is_here && !moved_on && std::fs::read(&file).is_ok_and(|content| Digest::of(&content) == receipt.new);
        let other = Repository::around(place).ok().flatten();
        let remembers = other.as_ref().is_some_and(|other| witness::has_written(other, &receipt.new));
        if !holds && !remembers {
            return self.writer_is_gone(receipt, place);
        }
        let Some((ours, theirs)) = self.repository().zip(other) else {
            // Without a repository there is nothing to compare it by: what a work tree holds is there.
            let there = place.display().to_string();
            return Ok(if holds { Whereabouts::Elsewhere(there) } else { Whereabouts::Nowhere });
        };
        let seen = match self.seen(ours) {
            Ok(seen) => seen,
            Err(why) => return Ok(Whereabouts::Untold(why)),
        };
        let branch = theirs.branch(self.env)?;
        if theirs.common_dir == ours.common_dir {
            if !holds {
                return self.forgotten(receipt, ours, &theirs, &file, seen);
            }
            let branch = match branch {
                Some(branch) if seen.ours.has(&branch) => branch,
                other => return Ok(Whereabouts::Elsewhere(other.unwrap_or_else(|| DETACHED.to_owned()))),
            };
            let worktree = place.display().to_string();
            if theirs.is_in_the_middle() {
                return Ok(Whereabouts::Ahead(Way::EndThere { worktree }));
            }
            let then = Box::new(self.merging(ours, seen, &branch, true)?);
            return Ok(Whereabouts::Ahead(Way::CommitThere { worktree, push: false, then }));
        }
        self.in_another_clone(receipt, (ours, &theirs), &file, branch, holds, seen)
    }

    fn in_another_clone(
        &self,
        receipt: &StoredReceipt,
        (ours, theirs): (&Repository, &Repository),
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
            let branch_there = branch_in(reference);
            let pushed = seen.ours.among(&refs).any(|reference| reference.starts_with("refs/remotes/"));
            let way = if pushed && ours.remote(self.env)?.is_some() {
                self.pull(seen, Some(branch_there))?
            } else if !pushed && self.pushes(theirs, branch_there)? {
                Way::PushThere { worktree, then: Box::new(self.pull(seen, Some(branch_there))?) }
            } else {
                match seen.ours.among(&refs).find(|reference| reference.starts_with("refs/heads/")) {
                    Some(own) => self.pull_there(seen, worktree, branch_in(own))?,
                    None => Way::AskThere { host: receipt.host.clone(), worktree: receipt.worktree.clone() },
                }
            };
            return Ok(Whereabouts::Ahead(way));
        }
        if !refs.is_empty() {
            return Ok(Whereabouts::Elsewhere(short(&refs[0]).to_owned()));
        }
        match branch {
            Some(branch) if holds && seen.ours.has(&branch) && theirs.is_in_the_middle() => {
                Ok(Whereabouts::Ahead(Way::EndThere { worktree }))
            }
            Some(branch) if holds && seen.ours.has(&branch) => {
                let push = self.pushes(theirs, &branch)?;
                let then = if push {
                    self.pull(seen, Some(&branch))?
                } else {
                    self.pull_there(seen, worktree.clone(), &branch)?
                };
                Ok(Whereabouts::Ahead(Way::CommitThere { worktree, push, then: Box::new(then) }))
            }
            Some(other) if holds => Ok(Whereabouts::Elsewhere(other)),
            None if holds => Ok(Whereabouts::Elsewhere(DETACHED.to_owned())),
            _ => self.forgotten(receipt, ours, theirs, file, seen),
        }
    }

    /// Whether a plain `git push` in that clone would push this branch: it is checked out, follows the branch of that name at
    /// a remote, and has all that either of us knows of that one.
    fn pushes(&self, theirs: &Repository, branch: &str) -> Result<bool, GitError> {
        if theirs.branch(self.env)?.as_deref() != Some(branch) {
            return Ok(false);
        }
        let Some(upstream) = theirs.upstream(self.env)?.filter(|it| branch_in(it) == branch) else { return Ok(false) };
        let known = [Some(theirs), self.repository()].into_iter().flatten();
        let tips: Vec<String> = known.filter_map(|it| it.commit_of(&upstream, self.env)).collect();
        // Objects that they have not got are behind them as well.
        Ok(tips.iter().all(|tip| theirs.head_has(tip, self.env).unwrap_or(false)))
    }

    /// The place on this host is gone, or is another one now: that proves nothing, it may have been pushed before. A fetch that
    /// came after the place was taken away would have brought it.
    fn writer_is_gone(&self, receipt: &StoredReceipt, place: &Path) -> Result<Whereabouts, GitError> {
        let Some(repository) = self.repository() else { return Ok(Whereabouts::Nowhere) };
        let seen = match self.seen(repository) {
            Ok(seen) => seen,
            Err(why) => return Ok(Whereabouts::Untold(why)),
        };
        // All checkouts of a repository without a remote share its refs.
        if receipt.scope.0.starts_with("local/") {
            return Ok(Whereabouts::Nowhere);
        }
        let above = place.ancestors().skip(1).find_map(|above| std::fs::metadata(above).ok()?.modified().ok());
        let taken_away = above.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let taken_away = taken_away.and_then(|at| i64::try_from(at.as_millis()).ok()).unwrap_or(i64::MAX);
        let fetched = repository.fetched_at().unwrap_or_default();
        if fetched > taken_away && fetched > receipt.at {
            return Ok(Whereabouts::Nowhere);
        }
        // On whichever branch it was: nobody can say where it was pushed to.
        let branch = receipt.branch.as_deref().filter(|branch| seen.ours.has(branch));
        Ok(Whereabouts::OutOfSight { ours: true, way: self.pull(seen, branch)? })
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
            Some(repository) => match self.lies(repository, seen)? {
                Lies::Clean => around(self.others(repository, None)?, there),
                _ => there,
            },
            None => there,
        };
        Ok(Whereabouts::OutOfSight { ours, way })
    }
}
