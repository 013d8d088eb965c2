//! What stands in the index, in the working tree and in trees.
#![forbid(unsafe_code)]

use std::collections::HashSet;

use super::super::change::{self, Change, Kind};
use super::{Door, RAW, text};
use crate::canary;
use crate::git::{GitError, path_from};

impl Door {
    /// What is staged and in none of these, against each of them.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(in crate::audit) fn staged(&self, parents: &[String]) -> Result<Vec<Vec<Change>>, GitError> {
        const NEED: &str = "to read the index";
        let empty = || self.ask("hash-object", ["-t", "tree", "--stdin"], NEED);
        let nothing = if parents.is_empty() { vec![text(&empty()?)] } else { Vec::new() };
        let against = |parent: &String| {
            // What is only intended to be added is not committed.
            let args =
                ["--cached", "--ita-invisible-in-index"].iter().chain(RAW).copied().chain(["--end-of-options", parent]);
            Ok(change::changes(&self.ask("diff-index", args, NEED)?))
        };
        parents.iter().chain(&nothing).map(against).collect()
    }

    /// SOPS files of the index that lie in the open in the working tree: path and object. What is staged of them is not judged
    /// here.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(in crate::audit) fn open_edits(&self) -> Result<Vec<(Vec<u8>, String)>, GitError> {
        let Some(root) = self.root()? else { return Ok(Vec::new()) };
        let listed = self.ask("diff-files", ["--raw", "-z", "--no-abbrev"], "to see what lies in the working tree")?;
        let is_open = |path: &[u8]| {
            let path = root.join(path_from(path));
            let is_file = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= 1 << 20);
            is_file && std::fs::read(path).is_ok_and(|now| matches!(canary::sniff(&now), canary::Kind::Plain))
        };
        let open = change::changes(&listed).into_iter().filter(|change| is_open(&change.path));
        Ok(open.filter_map(|change| Some((change.path, change.before.into_iter().next()?))).collect())
    }

    /// Every file of a tree.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(in crate::audit) fn files(&self, commit: &str) -> Result<Vec<(Vec<u8>, String)>, GitError> {
        let listed = self.ask("ls-tree", ["-r", "-z", "--full-tree", commit], "to read a commit")?;
        let entry = |entry: &[u8]| {
            let tab = entry.iter().position(|&byte| byte == b'\t')?;
            let mut facts = std::str::from_utf8(&entry[..tab]).ok()?.split(' ');
            let (kind, object) = (change::kind(facts.next()?), facts.nth(1)?);
            (kind == Kind::File).then(|| (entry[tab + 1..].to_vec(), object.to_owned()))
        };
        Ok(listed.split(|&byte| byte == 0).filter_map(entry).collect())
    }

    /// Every file of these commits: path and content.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub fn versions_at(&self, commits: &[String]) -> Result<HashSet<(Vec<u8>, String)>, GitError> {
        let all: Result<Vec<_>, _> = commits.iter().map(|commit| self.files(commit)).collect();
        Ok(all?.into_iter().flatten().collect())
    }
}
