//! What refs knew once: commits that were taken back, stashes below the newest, remotes that are gone. git(1) keeps it for weeks.
#![forbid(unsafe_code)]

use std::path::Path;

use super::{Environment, GitError, History, Repository};

const NEED: &str = "to see what became of another version of a file";

impl Repository {
    /// The history of a file with what only reflogs know.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn remembered(&self, file: &Path, env: Environment<'_>) -> Result<History, GitError> {
        self.history_in(file, &["--all", "--reflog"], env)
    }

    /// Every stash, the newest first: of those behind the first one only a reflog knows.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn stashes(&self, env: Environment<'_>) -> Result<Vec<String>, GitError> {
        self.entries("refs/stash", env)
    }

    /// The commits that branches of this repository have been at, as their reflogs have it. Those of a branch that is gone are
    /// not among them.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn branches_were_at(&self, env: Environment<'_>) -> Result<Vec<String>, GitError> {
        self.entries("--branches", env)
    }

    fn entries(&self, of: &str, env: Environment<'_>) -> Result<Vec<String>, GitError> {
        match self.ask(env, "log", ["--walk-reflogs", "--format=%H", "--no-show-signature", of, "--"], NEED) {
            Ok(told) => Ok(String::from_utf8_lossy(&told).lines().map(str::to_owned).collect()),
            // There is none.
            Err(GitError::Failed { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Whether the branches of origin, as they were last seen, are known here. Of what was pushed to a remote that has been
    /// removed, or set anew and not fetched, nothing is.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn sees_origin(&self, env: Environment<'_>) -> Result<bool, GitError> {
        let Some(remote) = self.remote(env)? else { return Ok(false) };
        let seen = self.ask(env, "for-each-ref", ["--count=1", &format!("refs/remotes/{remote}")], NEED)?;
        Ok(!seen.is_empty())
    }

    /// When the remotes of this repository, or what is known of them, last changed, ms since 1970. Later than any push from
    /// here that git has noted.
    #[must_use]
    pub fn remotes_changed_at(&self) -> Option<i64> {
        let refs = self.common_dir.join("refs/remotes");
        let each = std::fs::read_dir(&refs).into_iter().flatten().flatten().map(|entry| entry.path());
        let places = [self.common_dir.join("config"), refs].into_iter().chain(each);
        places.filter_map(|place| super::modified(&place)).max()
    }
}
