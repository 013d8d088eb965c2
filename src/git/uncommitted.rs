//! What only a work tree or its index has, and what a merge would bring: whether both meet in a file.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use super::{Environment, GitError, Repository, path_from};

const NEED: &str = "to see what else is uncommitted";

/// A tracked file that is not as HEAD has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncommitted {
    /// Below the root of the work tree.
    pub path: PathBuf,
    /// The index has something else than HEAD.
    pub staged: bool,
}

/// A file that a merge would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// Below the root of the work tree.
    pub path: PathBuf,
    /// There is none before.
    pub added: bool,
}

impl Repository {
    /// The tracked files with uncommitted work.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn uncommitted(&self, env: Environment<'_>) -> Result<Vec<Uncommitted>, GitError> {
        let options = ["--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames"];
        let told = self.ask(env, "status", options, NEED)?;
        // `XY SP PATH NUL`.
        let entry = |entry: &[u8]| match entry {
            [index, _, b' ', path @ ..] => Some(Uncommitted { path: path_from(path), staged: *index != b' ' }),
            _ => None,
        };
        Ok(told.split(|&byte| byte == 0).filter_map(entry).collect())
    }

    /// What merging a ref would change in files, if nothing of it meets what HEAD has changed.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn incoming(&self, reference: &str, env: Environment<'_>) -> Result<Vec<Incoming>, GitError> {
        let between = format!("HEAD...{reference}");
        let options = ["--name-status", "-z", "--no-renames", "--no-ext-diff", "--end-of-options", &between, "--"];
        let told = self.ask(env, "diff", options, NEED)?;
        let mut fields = told.split(|&byte| byte == 0).filter(|field| !field.is_empty());
        let mut incoming = Vec::new();
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            incoming.push(Incoming { path: path_from(path), added: status == b"A" });
        }
        Ok(incoming)
    }
}
