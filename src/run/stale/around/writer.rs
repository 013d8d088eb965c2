//! Where a version lies that no ref here has: in its writer's place on this host, or out of sight.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::git::{GitError, Repository};
use crate::lineage::{Way, Whereabouts};
use crate::store::StoredReceipt;
use crate::terms::Digest;

use super::super::super::witness;
use super::super::SKEW_MS;
use super::lies::Lies;
use super::reference::{branch_in, short};
use super::theirs::Theirs;
use super::ways::{Asked, around};
use super::{Around, DETACHED, Seen, blob_of, path_of_key};

impl Around<'_> {
    /// Its writer's place on this host: whether the file there holds it still, and what git says of it there.
    pub(super) fn at_its_writer(
        &self,
        receipt: &StoredReceipt,
        ours: &Repository,
        place: &Path,
        moved_on: bool,
        seen: &Seen,
    ) -> Result<Whereabouts, GitError> {
        let file = place.join(path_of_key(&receipt.path));
        let is_here = file == self.file();
        let holds =
            !is_here && !moved_on && std::fs::read(&file).is_ok_and(|content| Digest::of(&content) == receipt.new);
        let theirs = self.theirs(place, &file);
        let remembers = theirs.as_ref().is_some_and(|theirs| theirs.written.contains(receipt.new.as_str()));
        if !holds && !remembers {
            return self.not_there(receipt, ours, place, seen);
        }
        let Some(theirs) = theirs else {
            // Without a repository there is nothing to compare it by: what a work tree holds is there.
            return Ok(Whereabouts::Elsewhere(place.display().to_string()));
        };
        let branch = theirs.repository.branch(self.env)?;
        if theirs.repository.common_dir != ours.common_dir {
            return self.in_another_clone(receipt, ours, &theirs, branch, holds, seen);
        }
        if !holds {
            return self.forgotten(receipt, ours, &theirs, seen);
        }
        let branch = match branch {
            Some(branch) if seen.ours.has(&branch) => branch,
            other => return Ok(Whereabouts::Elsewhere(other.unwrap_or_else(|| DETACHED.to_owned()))),
        };
        let worktree = place.display().to_string();
        if theirs.repository.is_in_the_middle() {
            return Ok(Whereabouts::Ahead(Way::EndThere { worktree }));
        }
        let then = Box::new(self.merging(ours, seen, &branch, true)?);
        Ok(Whereabouts::Ahead(Way::CommitThere { worktree, push: false, then }))
    }

    fn in_another_clone(
        &self,
        receipt: &StoredReceipt,
        ours: &Repository,
        theirs: &Theirs,
        branch: Option<String>,
        holds: bool,
        seen: &Seen,
    ) -> Result<Whereabouts, GitError> {
        let history = theirs.history(self.env)?;
        let blob = blob_of(&theirs.repository, history, receipt, self.env)?;
        let brought = blob.as_deref().and_then(|blob| history.brought(blob).first());
        let refs = brought.map(|commit| theirs.repository.refs_with(commit, self.env)).transpose()?.unwrap_or_default();
        let worktree = theirs.repository.worktree_root.display().to_string();
        let remotes = theirs.remotes(self.env)?;
        let mut found = seen.ours.among_of(&refs, remotes);
        if let Some(reference) = found.next() {
            let tip = theirs.repository.blob_at(reference, &theirs.file, self.env)?;
            if tip.is_some_and(|tip| seen.blobs.contains(&tip)) {
                // It has gone back to what we have.
                return Ok(Whereabouts::Behind);
            }
            return self.on_their_branch(receipt, ours, theirs, &refs, reference, seen).map(Whereabouts::Ahead);
        }
        if !refs.is_empty() {
            return Ok(Whereabouts::Elsewhere(short(&refs[0]).to_owned()));
        }
        match branch {
            Some(branch) if holds && seen.ours.has(&branch) && theirs.repository.is_in_the_middle() => {
                Ok(Whereabouts::Ahead(Way::EndThere { worktree }))
            }
            Some(branch) if holds && seen.ours.has(&branch) => {
                let push = self.pushes(theirs, &branch)?;
                if !push && theirs.repository.is_partial(self.env) {
                    return Ok(Whereabouts::Ahead(self.ask_there(receipt, seen, Some(&branch))));
                }
                let then = if push {
                    self.pull(seen, &Asked::of(Some(&branch)))?
                } else {
                    self.pull_there(seen, theirs, &branch)?
                };
                Ok(Whereabouts::Ahead(Way::CommitThere { worktree, push, then: Box::new(then) }))
            }
            Some(other) if holds => Ok(Whereabouts::Elsewhere(other)),
            None if holds => Ok(Whereabouts::Elsewhere(DETACHED.to_owned())),
            _ => self.forgotten(receipt, ours, theirs, seen),
        }
    }

    /// What brings what this branch of ours, or the remote's, has in that clone.
    fn on_their_branch(
        &self,
        receipt: &StoredReceipt,
        ours: &Repository,
        theirs: &Theirs,
        refs: &[String],
        reference: &str,
        seen: &Seen,
    ) -> Result<Way, GitError> {
        let remotes = theirs.remotes(self.env)?;
        let branch = branch_in(reference, remotes);
        let pushed = seen.ours.among_of(refs, remotes).find(|reference| reference.starts_with("refs/remotes/"));
        let own = seen.ours.among_of(refs, remotes).find(|reference| reference.starts_with("refs/heads/"));
        if let Some(pushed) = pushed.filter(|_| ours.remote(self.env).is_ok_and(|it| it.is_some())) {
            return self.pull(seen, &self.pushed_to(ours, theirs, pushed, branch_in(pushed, remotes)));
        }
        if pushed.is_none() && self.pushes(theirs, branch)? {
            // A push that has been asked for and has not been done does not work: somebody else has pushed before.
            let is_first = witness::first(ours, "push", &receipt.new).is_none_or(|(_, is_new)| is_new);
            if is_first || own.is_none() {
                let worktree = theirs.repository.worktree_root.display().to_string();
                let then = Box::new(self.pull(seen, &Asked::of(Some(branch)))?);
                return Ok(Way::PushThere { worktree, then });
            }
        }
        match own.filter(|_| !theirs.repository.is_partial(self.env)) {
            Some(own) => self.pull_there(seen, theirs, branch_in(own, remotes)),
            None => Ok(self.ask_there(receipt, seen, None)),
        }
    }

    /// A pull of what that clone has pushed.
    fn pushed_to(&self, ours: &Repository, theirs: &Theirs, pushed: &str, branch: &str) -> Asked {
        let head = ours.commit_of("HEAD", self.env);
        let goes_on = head.map(|head| theirs.repository.contains(pushed, &head, self.env));
        let tip = theirs.repository.commit_of(pushed, self.env);
        let has_tip = || tip.is_some_and(|tip| ours.contains(pushed, &tip, self.env).unwrap_or(false));
        Asked {
            // It was pushed with force; of what they have not got nobody can say.
            diverged: matches!(goes_on, Some(Ok(false))),
            whole: ours.is_shallow() && has_tip(),
            ..Asked::of(Some(branch))
        }
    }

    /// Whether a plain `git push` in that clone would push this branch: it is checked out, follows the branch of that name at
    /// a remote, and has all that either of us knows of that one.
    fn pushes(&self, theirs: &Theirs, branch: &str) -> Result<bool, GitError> {
        if theirs.repository.branch(self.env)?.as_deref() != Some(branch) {
            return Ok(false);
        }
        let remotes = theirs.remotes(self.env)?;
        let upstream = theirs.repository.upstream(self.env)?.filter(|it| branch_in(it, remotes) == branch);
        let Some(upstream) = upstream else { return Ok(false) };
        let known = [Some(&theirs.repository), self.repository()].into_iter().flatten();
        let tips: Vec<String> = known.filter_map(|it| it.commit_of(&upstream, self.env)).collect();
        // Objects that they have not got are behind them as well.
        Ok(tips.iter().all(|tip| theirs.repository.head_has(tip, self.env).unwrap_or(false)))
    }

    /// It was written where we cannot look.
    pub(super) fn out_of_sight(&self, receipt: &StoredReceipt, seen: &Seen) -> Result<Whereabouts, GitError> {
        let branch = seen.branch_of(receipt);
        let ours = receipt.branch.is_none() || branch.is_some();
        let Some(repository) = self.repository() else { return Ok(Whereabouts::Nowhere) };
        let has_origin = repository.has_origin(self.env);
        let looked_at = if has_origin { self.looked_at(repository, seen, branch)? } else { None };
        let fetched = looked_at.is_some_and(|at| at > receipt.at.saturating_add(SKEW_MS));
        let whole = repository.is_shallow() && fetched;
        let there = || self.ask_there(receipt, seen, branch);
        let way = if has_origin && (!fetched || whole) {
            self.pull(seen, &Asked { whole, unsure: true, ..Asked::of(branch) })?
        } else {
            match self.lies(repository, seen)? {
                Lies::Clean => around(self.others(repository, None)?, there()),
                _ => there(),
            }
        };
        Ok(Whereabouts::OutOfSight { ours, fetched: (fetched && !whole) || !has_origin, way })
    }

    /// Somebody must push it over there first.
    pub(super) fn ask_there(&self, receipt: &StoredReceipt, seen: &Seen, branch: Option<&str>) -> Way {
        let upstream = seen.ours.upstream().map(|upstream| branch_in(upstream, seen.ours.remotes()));
        let repository =
            self.repository().filter(|_| upstream.is_none() || branch.is_some_and(|it| upstream != Some(it)));
        let from = repository.and_then(|repository| self.comes_by(repository, seen, branch).ok());
        let from = from.filter(|(remote, branch)| branch != "HEAD" && seen.ours.remotes().contains(remote));
        Way::AskThere { host: receipt.host.clone(), worktree: receipt.worktree.clone(), from }
    }
}
