//! Which branches are ours: the one that is checked out, what it follows, and the default branch.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use crate::git::{GitError, Repository};

use super::around::branch_in;

/// What default branches are called where origin does not say.
const USUAL: [&str; 2] = ["main", "master"];

/// Our branches, by name.
pub(super) struct Ours {
    /// None when HEAD is detached.
    branch: Option<String>,
    upstream: Option<String>,
    names: Vec<String>,
    /// What a rebase is about, in full: its commits are being made anew upon HEAD, and git asks where they meet.
    rebased: Option<String>,
}

impl Ours {
    pub(super) fn of(repository: &Repository, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, GitError> {
        let branch = repository.branch(env)?;
        let upstream = if branch.is_some() { repository.upstream(env)? } else { None };
        let default = repository.default_branch(env)?;
        let mut names: Vec<String> = branch.iter().cloned().collect();
        names.extend(upstream.as_deref().map(|it| branch_in(it).to_owned()));
        match default {
            Some(default) => names.push(branch_in(&default).to_owned()),
            None => names.extend(USUAL.map(str::to_owned)),
        }
        Ok(Self { branch, upstream, names, rebased: repository.rebased() })
    }

    pub(super) fn is_detached(&self) -> bool {
        self.branch.is_none()
    }

    /// What the branch follows, in full.
    pub(super) fn upstream(&self) -> Option<&str> {
        self.upstream.as_deref()
    }

    /// The name that comes first.
    pub(super) fn first(&self) -> Option<&str> {
        self.names.first().map(String::as_str)
    }

    /// Whether a branch of this name is one of ours.
    pub(super) fn has(&self, branch: &str) -> bool {
        self.names.iter().any(|name| name == branch)
    }

    /// Those of these refs that are ours: what the branch follows first, then remote ones.
    pub(super) fn among<'r>(&self, refs: &'r [String]) -> impl Iterator<Item = &'r str> {
        let is_branch =
            |reference: &str| reference.starts_with("refs/heads/") || reference.starts_with("refs/remotes/");
        let is_ours = |it: &&str| is_branch(it) && self.has(branch_in(it)) && self.rebased.as_deref() != Some(*it);
        let mut found: Vec<&str> = refs.iter().map(String::as_str).filter(is_ours).collect();
        found.sort_by_key(|it| (Some(*it) != self.upstream(), !it.starts_with("refs/remotes/")));
        found.into_iter()
    }
}
