//! The ways by which a version comes here, and past what is uncommitted here.
#![forbid(unsafe_code)]

use crate::git::{GitError, Repository};
use crate::lineage::Way;

use super::lies::{Lies, Others};
use super::reference::{branch_in, remote_in};
use super::{Around, Seen};

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
        Ok(match self.lies(repository, seen)? {
            Lies::Clean if merges && !seen.ours.is_detached() && repository.is_in_the_middle() => Way::EndFirst,
            Lies::Clean if merges && !seen.ours.is_detached() => {
                past(self.others(repository, Some(from))?, merge(), alone)
            }
            Lies::Clean | Lies::Kept => alone(),
            Lies::Own => commit_here(repository, around(self.others(repository, Some(from))?, merge())),
            Lies::Plain if seen.ours.is_detached() => Way::PutAside(Box::new(alone())),
            Lies::Plain => Way::PutAside(Box::new(around(self.others(repository, Some(from))?, merge()))),
        })
    }

    /// What fetches what was pushed to this branch; asked for where it is not here yet.
    pub(super) fn pull(&self, seen: &Seen, branch: Option<&str>) -> Result<Way, GitError> {
        let Some(repository) = self.repository() else { return Ok(Way::Git("there is no repository".to_owned())) };
        let upstream = seen.ours.upstream();
        let follows = upstream.map(branch_in);
        let remote = match upstream.and_then(remote_in) {
            Some(remote) => remote.to_owned(),
            None => repository.remote(self.env)?.unwrap_or_else(|| "origin".to_owned()),
        };
        let wanted = branch.or(follows).or(seen.ours.first()).unwrap_or("HEAD").to_owned();
        let diverged = upstream.is_some_and(|upstream| repository.head_goes_beyond(upstream, self.env).unwrap_or(true));
        let from = (follows != Some(&*wanted)).then(|| (remote.clone(), wanted.clone()));
        let pull = |diverged: bool| Way::Pull { diverged: diverged || from.is_some(), from: from.clone() };
        let alone = || {
            let from = if wanted == "HEAD" { "FETCH_HEAD".to_owned() } else { format!("{remote}/{wanted}") };
            Way::FetchAndCheckout { remote: remote.clone(), branch: None, from }
        };
        let others = || self.others(repository, None);
        Ok(match self.lies(repository, seen)? {
            Lies::Clean if seen.ours.is_detached() => alone(),
            // git pulls nothing in the middle of a merge.
            Lies::Clean if repository.is_in_the_middle() => Way::EndFirst,
            Lies::Clean if diverged && !self.is_as_upstream_had_it(repository, upstream)? => {
                around(others()?, pull(true))
            }
            Lies::Clean => past(others()?, pull(diverged), alone),
            Lies::Kept => alone(),
            Lies::Own => commit_here(repository, around(others()?, pull(true))),
            Lies::Plain if seen.ours.is_detached() => Way::PutAside(Box::new(alone())),
            Lies::Plain => Way::PutAside(Box::new(around(others()?, pull(diverged)))),
        })
    }

    /// HEAD has not changed the file since it parted from what it follows: taking another version alone loses nothing.
    fn is_as_upstream_had_it(&self, repository: &Repository, upstream: Option<&str>) -> Result<bool, GitError> {
        let standing = upstream.map(|upstream| repository.standing(upstream, self.file(), self.env)).transpose()?;
        Ok(standing.is_none_or(|standing| standing.merges))
    }

    /// From that clone itself, whatever it has checked out.
    pub(super) fn pull_there(&self, seen: &Seen, place: String, branch: &str) -> Result<Way, GitError> {
        let Some(repository) = self.repository() else { return Ok(Way::Git("there is no repository".to_owned())) };
        let way = Way::PullThere { place: place.clone(), branch: branch.to_owned() };
        let alone =
            || Way::FetchAndCheckout { remote: place, branch: Some(branch.to_owned()), from: "FETCH_HEAD".to_owned() };
        let others = || self.others(repository, None);
        Ok(match self.lies(repository, seen)? {
            Lies::Clean if repository.is_in_the_middle() => Way::EndFirst,
            Lies::Clean => past(others()?, way, alone),
            Lies::Kept => alone(),
            Lies::Own => commit_here(repository, around(others()?, way)),
            Lies::Plain => Way::PutAside(Box::new(around(others()?, way))),
        })
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

/// What lies here is committed first. In the middle of a merge git commits no single file.
pub(super) fn commit_here(repository: &Repository, then: Way) -> Way {
    if repository.is_in_the_middle() { Way::EndFirst } else { Way::CommitHere(Box::new(then)) }
}
