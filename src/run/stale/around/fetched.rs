//! What was fetched of the branch that a version would come by.
#![forbid(unsafe_code)]

use crate::git::{GitError, Repository};

use super::reference::{branch_in, remote_in};
use super::{Around, Seen};

impl Around<'_> {
    /// Remote and branch that a version would come by that was written on this branch of ours, or nobody knows on which.
    /// `HEAD` where no branch is known.
    pub(super) fn comes_by(
        &self,
        repository: &Repository,
        seen: &Seen,
        branch: Option<&str>,
    ) -> Result<(String, String), GitError> {
        let upstream = seen.ours.upstream();
        let remote = match upstream.and_then(|upstream| remote_in(upstream, seen.ours.remotes())) {
            Some(remote) => remote.to_owned(),
            None => repository.remote(self.env)?.unwrap_or_else(|| "origin".to_owned()),
        };
        let follows = upstream.map(|upstream| branch_in(upstream, seen.ours.remotes()));
        let branch = branch.or(follows).or(seen.ours.first()).unwrap_or("HEAD");
        Ok((remote, branch.to_owned()))
    }

    /// When that was last looked at, ms since 1970.
    pub(super) fn looked_at(
        &self,
        repository: &Repository,
        seen: &Seen,
        branch: Option<&str>,
    ) -> Result<Option<i64>, GitError> {
        let wanted = self.comes_by(repository, seen, branch)?;
        if let Some(known) = self.looked_at.borrow().get(&wanted) {
            return Ok(*known);
        }
        let at = repository.looked_at(&wanted.0, &wanted.1, self.env)?;
        self.looked_at.borrow_mut().insert(wanted, at);
        Ok(at)
    }
}
