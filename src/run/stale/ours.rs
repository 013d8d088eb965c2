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
    /// The remotes that there are.
    remotes: Vec<String>,
    /// What a rebase is about, in full: its commits are being made anew upon HEAD, and git asks where they meet.
    rebased: Option<String>,
}

impl Ours {
    pub(super) fn of(repository: &Repository, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, GitError> {
        let branch = repository.branch(env)?;
        let upstream = if branch.is_some() { repository.upstream(env)? } else { None };
        let default = repository.default_branch(env)?;
        let remotes = repository.remote_names(env)?;
        let mut names: Vec<String> = branch.iter().cloned().collect();
        names.extend(upstream.as_deref().map(|it| branch_in(it, &remotes).to_owned()));
        if branch.is_none() {
            names.extend(lies_on(repository, &remotes, env)?);
        }
        match default {
            Some(default) => names.push(branch_in(&default, &remotes).to_owned()),
            None => names.extend(USUAL.map(str::to_owned)),
        }
        Ok(Self { branch, upstream, names, remotes, rebased: repository.rebased() })
    }

    /// The remotes that there are.
    pub(super) fn remotes(&self) -> &[String] {
        &self.remotes
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
    pub(super) fn among<'r>(&self, refs: &'r [String]) -> impl Iterator<Item = &'r str> + use<'r> {
        self.among_of(refs, &self.remotes)
    }

    /// The same of refs of another clone, which has these remotes.
    pub(super) fn among_of<'r>(
        &self,
        refs: &'r [String],
        remotes: &[String],
    ) -> impl Iterator<Item = &'r str> + use<'r> {
        let is_branch =
            |reference: &str| reference.starts_with("refs/heads/") || reference.starts_with("refs/remotes/");
        let is_ours =
            |it: &&str| is_branch(it) && self.has(branch_in(it, remotes)) && self.rebased.as_deref() != Some(*it);
        let mut found: Vec<&str> = refs.iter().map(String::as_str).filter(is_ours).collect();
        found.sort_by_key(|it| (Some(*it) != self.upstream(), !it.starts_with("refs/remotes/")));
        found.into_iter()
    }
}

/// The branch that a detached HEAD lies on, where it is one alone: a runner has no other.
fn lies_on(
    repository: &Repository,
    remotes: &[String],
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Option<String>, GitError> {
    // There may be no commit yet.
    let refs = repository.refs_with("HEAD", env).or_else(|error| match error {
        GitError::Failed { .. } => Ok(Vec::new()),
        other => Err(other),
    })?;
    let is_branch =
        |it: &&String| (it.starts_with("refs/heads/") || it.starts_with("refs/remotes/")) && !it.ends_with("/HEAD");
    let mut names: Vec<&str> = refs.iter().filter(is_branch).map(|it| branch_in(it, remotes)).collect();
    names.sort_unstable();
    names.dedup();
    Ok(if let [only] = &*names { Some((*only).to_owned()) } else { None })
}
