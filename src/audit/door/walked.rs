//! What commits have changed: a range of them, a path's line, contents that are sought.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::io::Read as _;

use super::super::change::{self, Change, Commit, HEADER, Kind};
use super::spawn::{cannot_read, ended};
use super::{Door, RAW};
use crate::git::GitError;

/// Searched for a version that has no receipt; more is history that nobody pushes or merges today.
const MOST_COMMITS: &str = "--max-count=20000";

/// Searched for another version with the code of one that nobody has proven.
const MOST_EVER: &str = "--max-count=5000";

/// So many commits that changed one file are looked at for what it was.
const MOST_OF_ONE: &str = "--max-count=200";

impl Door {
    /// The commits that these words of `rev-list` name, parents first, each with what it changed against all of its parents.
    ///
    /// # Errors
    /// git cannot be started, or fails: a word names no commit.
    pub(in crate::audit) fn commits(&self, words: &[String]) -> Result<Vec<Commit>, GitError> {
        let list = ["--topo-order", "--reverse"];
        let args = RAW.iter().copied().chain(["-c", "--root", "--always", HEADER]);
        let list = list.iter().copied().chain(words.iter().map(String::as_str));
        Ok(change::commits(&self.walked(list, args)?))
    }

    /// Every content that these commits, any ref or HEAD has ever had, with its path, the oldest first. Of a long history the newer
    /// part.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(in crate::audit) fn ever(&self, tips: &[&str]) -> Result<Vec<(Vec<u8>, String)>, GitError> {
        let list = ["--all", MOST_EVER, "--topo-order", "--reverse"].into_iter().chain(tips.iter().copied());
        let args = RAW.iter().copied().chain(["-m", "--root", "--always", HEADER]);
        let changes = change::commits(&self.walked(list, args)?).into_iter().flat_map(|commit| commit.changes);
        // What was there before may lie behind what is looked at.
        Ok(changes
            .flat_map(|change| {
                let now = (change.kind == Kind::File).then_some(change.blob);
                let all: Vec<String> = change.before.into_iter().chain(now).collect();
                all.into_iter().map(move |blob| (change.path.clone(), blob))
            })
            .collect())
    }

    /// The contents that a path has had in the history of a commit, as far as that is looked at, the newest first.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(in crate::audit) fn line_of(&self, tip: &str, path: &[u8]) -> Result<Vec<String>, GitError> {
        let Ok(path) = std::str::from_utf8(path) else { return Ok(Vec::new()) };
        let (literally, args) = (format!(":(top,literal){path}"), ["-m", "--root", "--always", HEADER]);
        let list = ["--full-history", MOST_OF_ONE, tip, "--", &literally];
        let walked = change::commits(&self.walked(list.into_iter(), RAW.iter().copied().chain(args))?);
        let of_path = walked.into_iter().flat_map(|commit| commit.changes).filter(|it| it.path == path.as_bytes());
        let is_there = |change: &Change| change.kind == Kind::File;
        Ok(of_path.flat_map(|it| is_there(&it).then_some(it.blob).into_iter().chain(it.before)).collect())
    }

    /// Where these contents stand already: in a parent, or in the newer history of a ref, without this commit. Path and content.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub fn places(
        &self,
        blobs: &[&str],
        parents: &[String],
        without: Option<&str>,
    ) -> Result<Vec<(Vec<u8>, String)>, GitError> {
        let mut places = Vec::new();
        let sought: HashSet<&str> = blobs.iter().copied().collect();
        for parent in parents {
            places.extend(self.files(parent)?.into_iter().filter(|(_, blob)| sought.contains(&**blob)));
        }
        let wanted: Vec<String> = blobs.iter().map(|blob| format!("--find-object={blob}")).collect();
        let walk = |wanted: &[String]| {
            let list = ["--all", MOST_COMMITS].into_iter().chain(parents.iter().map(String::as_str));
            let args = RAW.iter().copied().chain(["-m", "--root", "--always", HEADER]);
            self.walked(list, args.chain(wanted.iter().map(String::as_str)))
        };
        // In a clone without all contents git cannot search by one; then everything is listed.
        let walked = change::commits(&walk(&wanted).or_else(|_| walk(&[]))?);
        let others = walked.into_iter().filter(|commit| without != Some(&*commit.id));
        let found = others.flat_map(|commit| commit.changes).map(|change| (change.path, change.blob));
        places.extend(found.filter(|(_, blob)| sought.contains(&**blob)));
        Ok(places)
    }

    /// Which of these contents some ancestor of these commits had that is none of `within`.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(in crate::audit) fn stood_before(
        &self,
        blobs: &[&str],
        tips: &[&str],
        within: &HashSet<&str>,
    ) -> Result<HashSet<String>, GitError> {
        let wanted: Vec<String> = blobs.iter().map(|blob| format!("--find-object={blob}")).collect();
        let walk = |wanted: &[String]| {
            let args = RAW.iter().copied().chain(["-m", "--root", "--always", HEADER]);
            let list = [MOST_COMMITS].into_iter().chain(tips.iter().copied());
            self.walked(list, args.chain(wanted.iter().map(String::as_str)))
        };
        let walked = change::commits(&walk(&wanted).or_else(|_| walk(&[]))?);
        let outside = walked.into_iter().filter(|commit| !within.contains(&*commit.id));
        let had = outside.flat_map(|commit| commit.changes).flat_map(|change| {
            let mut had = change.before;
            had.push(change.blob);
            had
        });
        let sought: HashSet<&str> = blobs.iter().copied().collect();
        Ok(had.filter(|blob| sought.contains(&**blob)).collect())
    }

    /// `rev-list` into `diff-tree`.
    fn walked<'a>(
        &self,
        list: impl Iterator<Item = &'a str>,
        args: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<u8>, GitError> {
        let commits = self.ask("rev-list", list, "to list commits")?;
        let args: Vec<&str> = ["diff-tree", "--stdin"].into_iter().chain(args).collect();
        let (mut child, mut output) = self.fed(&args, &commits)?;
        let mut raw = Vec::new();
        output.read_to_end(&mut raw).map_err(cannot_read)?;
        ended("diff-tree", &self.directory, &mut child)?;
        Ok(raw)
    }
}
