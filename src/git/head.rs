//! HEAD: the branch that is checked out, and what it holds of a file.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;

use super::history::literally;
use super::{Environment, GitError, Repository, read_if_there};

/// What HEAD says where refs are not kept in files (the `reftable` format): git's own stand-in, only git knows more.
const ELSEWHERE: &[u8] = b"refs/heads/.invalid";

impl Repository {
    /// The branch that is checked out (`main`, `feature/x`); none when HEAD is detached. A name that is not UTF-8 comes
    /// percent-encoded.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    pub fn branch(&self, env: Environment<'_>) -> Result<Option<String>, GitError> {
        let head = read_if_there(&self.git_dir.join("HEAD"))?.unwrap_or_default();
        let Some(named) = head.strip_prefix(b"ref:") else { return Ok(None) };
        let named = named.trim_ascii();
        if named == ELSEWHERE {
            let told = self.ask_whether(env, "symbolic-ref", ["--quiet", "HEAD"], "to read HEAD from a reftable")?;
            return Ok(told.and_then(|told| branch_name(told.trim_ascii())));
        }
        Ok(branch_name(named))
    }

    /// The branch, in full, whose commits a rebase in this work tree is making anew; none where there is no rebase, or one of
    /// a detached HEAD. Facts: git's `wt-status.c`.
    #[must_use]
    pub fn rebased(&self) -> Option<String> {
        let told = ["rebase-merge", "rebase-apply"]
            .into_iter()
            .find_map(|place| read_if_there(&self.git_dir.join(place).join("head-name")).ok().flatten())?;
        Some(String::from_utf8_lossy(told.trim_ascii()).into_owned()).filter(|name| name.starts_with("refs/"))
    }

    /// Whether a merge, a rebase or a pick has begun here and has not ended. Facts: git's `wt-status.c`.
    #[must_use]
    pub fn is_in_the_middle(&self) -> bool {
        ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"]
            .into_iter()
            .any(|sign| self.git_dir.join(sign).exists())
    }

    /// Whether something of the index is in conflict: of a merge, or of a stash that was brought back, which leaves no other sign.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn is_in_conflict(&self, env: Environment<'_>) -> Result<bool, GitError> {
        let told = self.ask(env, "ls-files", ["--unmerged", "-z"], "to see what git asks")?;
        Ok(!told.is_empty())
    }

    /// Whether a merge that has begun here takes this commit in, or it is the one that is being picked.
    #[must_use]
    pub fn is_taking_in(&self, commit: &str, env: Environment<'_>) -> bool {
        self.named_by("MERGE_HEAD").iter().any(|merged| self.is_ancestor(commit, merged, env).unwrap_or(false))
            || self.named_by("CHERRY_PICK_HEAD").iter().any(|picked| picked == commit)
    }

    /// The commits that a merge or a pick that has begun here takes in, as far as they are named.
    pub(super) fn taken_in(&self) -> Vec<String> {
        ["MERGE_HEAD", "CHERRY_PICK_HEAD"].into_iter().flat_map(|sign| self.named_by(sign)).collect()
    }

    fn named_by(&self, sign: &str) -> Vec<String> {
        let told = read_if_there(&self.git_dir.join(sign)).ok().flatten().unwrap_or_default();
        let is_object = |line: &&str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        String::from_utf8_lossy(&told).lines().map(str::trim).filter(is_object).map(str::to_owned).collect()
    }

    /// What HEAD holds of a file, byte for byte as git stores it: no filter, no end-of-line conversion. None when HEAD has
    /// no such regular file, or no commit. Starts git up to three times: for `restore`, not for every command.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn head_content(&self, file: &Path, env: Environment<'_>) -> Result<Option<Vec<u8>>, GitError> {
        const NEED: &str = "to read a file from HEAD";
        let Some(inside) = self.inside(file) else { return Ok(None) };
        if self.ask_whether(env, "rev-parse", ["--verify", "--quiet", "HEAD^{commit}"], NEED)?.is_none() {
            return Ok(None);
        }
        let listed = self.ask(
            env,
            "ls-tree",
            ["-z", "--full-tree", "HEAD", "--"].map(OsString::from).into_iter().chain([literally(inside)]),
            NEED,
        )?;
        let Some(blob) = regular_blob(&listed) else { return Ok(None) };
        self.ask(env, "cat-file", ["blob", blob], NEED).map(Some)
    }
}

fn branch_name(reference: &[u8]) -> Option<String> {
    let name = reference.strip_prefix(b"refs/heads/")?;
    Some(match std::str::from_utf8(name) {
        Ok(name) => name.to_owned(),
        Err(_) => crate::terms::percent_encode(name),
    })
}

/// The object of the one entry `MODE SP TYPE SP OBJECT TAB PATH NUL`, if it is a regular file.
pub(super) fn regular_blob(listed: &[u8]) -> Option<&str> {
    let facts = listed.split(|&byte| byte == b'\t').next()?;
    let mut facts = std::str::from_utf8(facts).ok()?.split(' ');
    let (mode, kind, object) = (facts.next()?, facts.next()?, facts.next()?);
    (mode.starts_with("100") && kind == "blob").then_some(object)
}
