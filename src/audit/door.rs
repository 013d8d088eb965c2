//! The door to git: its plumbing alone, in the environment as it is. A hook is told by that which index is meant, and a
//! receiving repository where the new objects are kept for now. Nothing is fetched, nothing is written, nobody is asked.
#![forbid(unsafe_code)]

mod listed;
mod objects;
mod spawn;
mod walked;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::change::Commit;
use crate::git::{Environment, GitError, path_from, real_git};

/// Every option of a raw listing that [`super::change`] reads.
const RAW: &[&str] = &["-r", "--raw", "-z", "--no-renames", "--no-abbrev"];

/// A version of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tree<'a> {
    /// What is staged.
    Index,
    /// Of this commit.
    Of(&'a str),
}

/// The repository that git finds from a directory.
#[derive(Debug, Clone)]
pub struct Door {
    directory: PathBuf,
    git: PathBuf,
}

impl Door {
    /// From this directory, which must exist; git is the one on the PATH of `env`.
    #[must_use]
    pub fn at(directory: &Path, env: Environment<'_>) -> Self {
        Self { directory: directory.to_owned(), git: real_git(env, directory) }
    }

    /// Where it was opened.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether git finds any repository from there.
    ///
    /// # Errors
    /// git cannot be started.
    pub fn is_in_a_repository(&self) -> Result<bool, GitError> {
        Ok(self.maybe("rev-parse", ["--git-dir"])?.is_some())
    }

    /// The root of the working tree; none in a bare repository.
    ///
    /// # Errors
    /// git cannot be started.
    pub fn root(&self) -> Result<Option<PathBuf>, GitError> {
        let told = self.maybe("rev-parse", ["--show-toplevel"])?;
        Ok(told.map(|told| path_from(told.strip_suffix(b"\n").unwrap_or(&told))).filter(|root| root.is_absolute()))
    }

    /// The commit that a name leads to; none when it leads to none.
    ///
    /// # Errors
    /// git cannot be started.
    pub fn commit(&self, name: &str) -> Result<Option<String>, GitError> {
        let told =
            self.maybe("rev-parse", ["--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])?;
        Ok(told.map(|told| String::from_utf8_lossy(&told).trim().to_owned()))
    }

    /// The tree that a name leads to; none when it leads to none.
    ///
    /// # Errors
    /// git cannot be started.
    pub fn tree(&self, name: &str) -> Result<Option<String>, GitError> {
        let told = self.maybe("rev-parse", ["--verify", "--quiet", "--end-of-options", &format!("{name}^{{tree}}")])?;
        Ok(told.map(|told| text(&told)))
    }

    /// The first of these commits whose parents were cut off from this clone, if there is one.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub fn first_cut(&self, history: &[Commit]) -> Result<Option<String>, GitError> {
        let named = self.ask("rev-parse", ["--git-path", "shallow"], "to see where the history begins")?;
        let named = self.directory.join(path_from(named.strip_suffix(b"\n").unwrap_or(&named)));
        let cut = std::fs::read_to_string(named).unwrap_or_default();
        let cut: HashSet<&str> = cut.lines().collect();
        Ok(history.iter().find(|commit| cut.contains(&*commit.id)).map(|commit| commit.id.clone()))
    }

    /// The parents of this commit.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub fn parents_of(&self, commit: &str) -> Result<Vec<String>, GitError> {
        let told = self.ask("rev-parse", [format!("{commit}^@")], "to find what a commit was made upon")?;
        Ok(text(&told).lines().map(str::to_owned).collect())
    }

    /// Whether any ref but the one that HEAD stands for leads to HEAD, or goes by it.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub fn is_kept_elsewhere(&self) -> Result<bool, GitError> {
        let own = self.maybe("symbolic-ref", ["--quiet", "HEAD"])?.unwrap_or_default();
        let args = ["--contains", "HEAD", "--format=%(refname)"];
        let refs = self.ask("for-each-ref", args, "to find who has a commit")?;
        Ok(text(&refs).lines().any(|name| name != text(&own)))
    }

    /// What the commit that is being made will have as parents. A merge that git makes by itself has not noted the other
    /// side yet when it asks the hook; it names it in the environment, whose `NAME=value` are `variables`: `GITHEAD_OBJECT=…`.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub fn parents<'a>(&self, variables: impl Iterator<Item = &'a OsStr>) -> Result<Vec<String>, GitError> {
        let mut parents: Vec<String> = self.commit("HEAD")?.into_iter().collect();
        let merging = self.ask("rev-parse", ["--git-path", "MERGE_HEAD"], "to find what is merged")?;
        let merging = self.directory.join(path_from(merging.strip_suffix(b"\n").unwrap_or(&merging)));
        let noted = std::fs::read_to_string(merging).unwrap_or_default();
        let named = variables.filter_map(|name| name.to_str()?.strip_prefix("GITHEAD_")?.split('=').next());
        for other in noted.lines().chain(named) {
            if other.bytes().all(|byte| byte.is_ascii_hexdigit()) && !parents.iter().any(|parent| parent == other) {
                parents.push(other.to_owned());
            }
        }
        Ok(parents)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}
