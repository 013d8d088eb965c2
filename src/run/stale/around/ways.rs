//! The ways by which a version comes here, and past what is uncommitted here.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::git::{GitError, Repository};
use crate::lineage::Way;

use super::lies::{Lies, Others};
use super::reference::branch_in;
use super::theirs::Theirs;
use super::{Around, Seen};

/// What a pull is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asked {
    /// The branch that it was pushed to; none where nobody knows.
    pub(super) branch: Option<String>,
    /// What was pushed is known not to be made upon what HEAD has.
    pub(super) diverged: bool,
    /// Everything new was fetched already: what is missing is behind the beginning of this clone's history.
    pub(super) whole: bool,
    /// Nobody knows whether it was pushed at all.
    pub(super) unsure: bool,
}

impl Asked {
    pub(super) fn of(branch: Option<&str>) -> Self {
        Self { branch: branch.map(str::to_owned), ..Self::default() }
    }
}

impl Around<'_> {
    /// What brings what this ref has. `merges`: a merge brings exactly that.
    pub(super) fn merging(
        &self,
        repository: &Repository,
        seen: &Seen,
        from: &str,
        merges: bool,
    ) -> Result<Way, GitError> {
        let merge = || Way::Merge(from.to_owned());
        let alone = || Way::Checkout(from.to_owned());
        let others = || self.others(repository, Some(from));
        let lies = self.lies(repository, seen)?;
        if repository.is_shallow() && !repository.head_meets(from, self.env)? {
            return self.whole_first(repository, seen, lies, merge());
        }
        Ok(match lies {
            Lies::Clean if merges && !seen.ours.is_detached() && self.is_busy(repository)? => Way::EndFirst,
            Lies::Clean if merges && !seen.ours.is_detached() => past(others()?, merge(), alone),
            Lies::Own => self.commit_here(repository, around(others()?, merge()))?,
            Lies::Plain if !seen.ours.is_detached() => Way::PutAside(Box::new(around(others()?, merge()))),
            // Nothing is lost with the file alone where the other side has what HEAD has.
            _ if self.has_head(repository, self.file(), from)? => match lies {
                Lies::Plain => Way::PutAside(Box::new(alone())),
                _ => alone(),
            },
            _ if self.is_busy(repository)? => Way::EndFirst,
            Lies::Plain => Way::PutAside(Box::new(around(others()?, merge()))),
            Lies::Kept => Way::BackToHead(Box::new(around(others()?, merge()))),
            Lies::Clean => around(others()?, merge()),
        })
    }

    /// Where both sides met was cut off from this clone: without that git merges nothing, and tells nothing of it.
    fn whole_first(&self, repository: &Repository, seen: &Seen, lies: Lies, merge: Way) -> Result<Way, GitError> {
        if self.is_busy(repository)? {
            return Ok(Way::EndFirst);
        }
        let (remote, _) = self.comes_by(repository, seen, None)?;
        let way = around(self.others(repository, None)?, Way::FetchWhole { remote, then: Box::new(merge) });
        Ok(match lies {
            Lies::Clean => way,
            Lies::Own => self.commit_here(repository, way)?,
            Lies::Plain => Way::PutAside(Box::new(way)),
            Lies::Kept => Way::BackToHead(Box::new(way)),
        })
    }

    /// What fetches what was pushed to this branch; asked for where it is not here yet.
    pub(super) fn pull(&self, seen: &Seen, asked: &Asked) -> Result<Way, GitError> {
        let Some(repository) = self.repository() else { return Ok(Way::Git("there is no repository".to_owned())) };
        if let Some(known) = self.pulls.borrow().get(asked) {
            return Ok(known.clone());
        }
        let way = self.pulled(repository, seen, asked)?;
        self.pulls.borrow_mut().insert(asked.clone(), way.clone());
        Ok(way)
    }

    fn pulled(&self, repository: &Repository, seen: &Seen, asked: &Asked) -> Result<Way, GitError> {
        let upstream = seen.ours.upstream();
        let follows = upstream.map(|upstream| branch_in(upstream, seen.ours.remotes()));
        let (remote, wanted) = self.comes_by(repository, seen, asked.branch.as_deref())?;
        let there = format!("{remote}/{wanted}");
        let follower = format!("refs/remotes/{there}");
        let is_followed = repository.commit_of(&follower, self.env).is_some();
        if asked.unsure && !is_followed && wanted != "HEAD" && repository.follows_all(&remote, self.env) {
            return Ok(Way::Fetch(remote));
        }
        let diverged =
            asked.diverged || upstream.is_some_and(|it| repository.head_goes_beyond(it, self.env).unwrap_or(true));
        let from = (follows != Some(&*wanted)).then(|| (remote.clone(), wanted.clone()));
        let whole = |then: Way| Way::FetchWhole { remote: remote.clone(), then: Box::new(then) };
        let pull = |diverged: bool| match asked.whole {
            true => whole(Way::Merge(there.clone())),
            false => Way::Pull { diverged: diverged || from.is_some(), from: from.clone() },
        };
        let alone = || {
            if asked.whole {
                return whole(Way::Checkout(there.clone()));
            }
            let from = if wanted == "HEAD" { "FETCH_HEAD".to_owned() } else { there.clone() };
            Way::FetchAndCheckout { remote: remote.clone(), branch: None, from }
        };
        let others = || self.others(repository, None);
        let lies = self.lies(repository, seen)?;
        // Nothing is lost with the file alone where the other side has what HEAD has, as far as it is known here.
        let is_there = match wanted == "HEAD" {
            true => true,
            false => is_followed && self.has_head(repository, self.file(), &follower)?,
        };
        let is_detached = seen.ours.is_detached();
        Ok(match lies {
            Lies::Clean if is_detached && is_there => alone(),
            // git pulls nothing in the middle of a merge.
            Lies::Clean | Lies::Kept if !is_there && self.is_busy(repository)? => Way::EndFirst,
            Lies::Clean if self.is_busy(repository)? => Way::EndFirst,
            Lies::Clean if !is_there || is_detached => around(others()?, pull(diverged)),
            Lies::Clean if diverged && !self.is_as_upstream_had_it(repository, upstream)? => {
                around(others()?, pull(true))
            }
            Lies::Clean => past(others()?, pull(diverged), alone),
            Lies::Kept if is_there => alone(),
            Lies::Kept => Way::BackToHead(Box::new(around(others()?, pull(diverged)))),
            Lies::Own => self.commit_here(repository, around(others()?, pull(true)))?,
            Lies::Plain if is_detached && is_there => Way::PutAside(Box::new(alone())),
            Lies::Plain => Way::PutAside(Box::new(around(others()?, pull(diverged)))),
        })
    }

    /// HEAD has not changed the file since it parted from what it follows: taking another version alone loses nothing.
    fn is_as_upstream_had_it(&self, repository: &Repository, upstream: Option<&str>) -> Result<bool, GitError> {
        let standing = upstream.map(|upstream| repository.standing(upstream, self.file(), self.env)).transpose()?;
        Ok(standing.is_none_or(|standing| standing.merges))
    }

    /// From that clone itself, whatever it has checked out.
    pub(super) fn pull_there(&self, seen: &Seen, theirs: &Theirs, branch: &str) -> Result<Way, GitError> {
        let Some(repository) = self.repository() else { return Ok(Way::Git("there is no repository".to_owned())) };
        let place = theirs.repository.worktree_root.display().to_string();
        let way = Way::PullThere { place: place.clone(), branch: branch.to_owned() };
        let alone =
            || Way::FetchAndCheckout { remote: place, branch: Some(branch.to_owned()), from: "FETCH_HEAD".to_owned() };
        let others = || self.others(repository, None);
        let is_there = self.has_head(&theirs.repository, &theirs.file, &format!("refs/heads/{branch}"))?;
        Ok(match self.lies(repository, seen)? {
            Lies::Clean if self.is_busy(repository)? => Way::EndFirst,
            Lies::Clean if is_there => past(others()?, way, alone),
            Lies::Clean => around(others()?, way),
            Lies::Kept if is_there => alone(),
            Lies::Kept if self.is_busy(repository)? => Way::EndFirst,
            Lies::Kept => Way::BackToHead(Box::new(around(others()?, way))),
            Lies::Own => self.commit_here(repository, around(others()?, way))?,
            Lies::Plain => Way::PutAside(Box::new(around(others()?, way))),
        })
    }

    /// Whether a ref of that repository has, or once had, what HEAD here has of the file.
    fn has_head(&self, repository: &Repository, file: &Path, reference: &str) -> Result<bool, GitError> {
        let Some(ours) = self.repository() else { return Ok(false) };
        let Some(head) = ours.blob_at("HEAD", self.file(), self.env)? else { return Ok(true) };
        match repository.history_of(reference, file, self.env) {
            Ok(history) => Ok(!history.brought(&head).is_empty()),
            // There is no such ref.
            Err(GitError::Failed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// git is in the middle of something here, and merges nothing else.
    fn is_busy(&self, repository: &Repository) -> Result<bool, GitError> {
        Ok(repository.is_in_the_middle() || repository.is_in_conflict(self.env)?)
    }

    /// What lies here is committed first. In the middle of a merge git commits no single file.
    fn commit_here(&self, repository: &Repository, then: Way) -> Result<Way, GitError> {
        Ok(if self.is_busy(repository)? { Way::EndFirst } else { Way::CommitHere(Box::new(then)) })
    }
}

/// Past what is uncommitted beside the file, or the file alone.
fn past(others: Others, way: Way, alone: impl FnOnce() -> Way) -> Way {
    match others {
        Others::Nothing => way,
        Others::Texts => Way::PastOthers(Box::new(way)),
        Others::Ciphertext | Others::Fixed => alone(),
    }
}

/// The same where only a merge brings it without losing what is here. git stops by itself where it would keep plaintext.
pub(super) fn around(others: Others, way: Way) -> Way {
    match others {
        Others::Nothing | Others::Fixed => way,
        Others::Texts | Others::Ciphertext => Way::PastOthers(Box::new(way)),
    }
}
