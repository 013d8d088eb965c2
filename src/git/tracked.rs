//! Which files git keeps.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use super::{Environment, GitError, Repository, path_from};

impl Repository {
    /// Every file that is in the index, by its path below the root of the work tree, in the byte order of git.
    ///
    /// # Errors
    /// When git is not there or fails.
    pub fn tracked(&self, env: Environment<'_>) -> Result<Vec<PathBuf>, GitError> {
        // With -z a name is its bytes, whatever core.quotePath says.
        let listed =
            self.ask(env, "ls-files", ["-z", "--cached", "--full-name"], "to find the files of the repository")?;
        Ok(listed.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(path_from).collect())
    }
}
