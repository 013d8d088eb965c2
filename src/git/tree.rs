//! The files of a work tree that are git's business.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use super::{Environment, GitError, Repository, path_from};

impl Repository {
    /// The files of the work tree that git tracks, or would track (nothing ignores them), relative to its root. A file
    /// that is tracked and gone is among them.
    ///
    /// # Errors
    /// [`GitError::NoGit`] and [`GitError::Failed`].
    pub fn files(&self, env: Environment<'_>) -> Result<Vec<PathBuf>, GitError> {
        let args = ["-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
        let listed = self.ask(env, "ls-files", args, "to list files")?;
        Ok(listed.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(path_from).collect())
    }
}
