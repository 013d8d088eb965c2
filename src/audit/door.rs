//! The door to git: its plumbing alone, in the environment as it is. A hook is told by that which index is meant, and a
//! receiving repository where the new objects are kept for now. Nothing is fetched, nothing is written, nobody is asked.
#![forbid(unsafe_code)]

mod objects;
mod spawn;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::change::{self, Change, Commit, HEADER, Kind};
use crate::canary;
use crate::git::{Environment, GitError, path_from, real_git};

/// Searched for a version that has no receipt; more is history that nobody pushes or merges today.
const MOST_COMMITS: &str = "--max-count=20000";

/// Searched for another version with the code of one that nobody has proven.
const MOST_EVER: &str = "--max-count=5000";

/// So many commits that changed one file are looked at for what it was.
const MOST_OF_ONE: &str = "--max-count=200";

/// Every option of a raw listing that [`change`] reads.
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

    /// What is staged and in none of these, against each of them.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(super) fn staged(&self, parents: &[String]) -> Result<Vec<Vec<Change>>, GitError> {
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
    pub(super) fn open_edits(&self) -> Result<Vec<(Vec<u8>, String)>, GitError> {
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

    /// The commits that these words of `rev-list` name, parents first, each with what it changed against all of its parents.
    ///
    /// # Errors
    /// git cannot be started, or fails: a word names no commit.
    pub(super) fn commits(&self, words: &[String]) -> Result<Vec<Commit>, GitError> {
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
    pub(super) fn ever(&self, tips: &[&str]) -> Result<Vec<(Vec<u8>, String)>, GitError> {
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

    /// Every file of a tree.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(super) fn files(&self, commit: &str) -> Result<Vec<(Vec<u8>, String)>, GitError> {
        let listed = self.ask("ls-tree", ["-r", "-z", "--full-tree", commit], "to read a commit")?;
        let entry = |entry: &[u8]| {
            let tab = entry.iter().position(|&byte| byte == b'\t')?;
            let mut facts = std::str::from_utf8(&entry[..tab]).ok()?.split(' ');
            let (kind, object) = (change::kind(facts.next()?), facts.nth(1)?);
            (kind == Kind::File).then(|| (entry[tab + 1..].to_vec(), object.to_owned()))
        };
        Ok(listed.split(|&byte| byte == 0).filter_map(entry).collect())
    }

    /// The contents that a path has had in the history of a commit, as far as that is looked at, the newest first.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(super) fn line_of(&self, tip: &str, path: &[u8]) -> Result<Vec<String>, GitError> {
        let Ok(path) = std::str::from_utf8(path) else { return Ok(Vec::new()) };
        let (literally, args) = (format!(":(top,literal){path}"), ["-m", "--root", "--always", HEADER]);
        let list = ["--full-history", MOST_OF_ONE, tip, "--", &literally];
        let walked = change::commits(&self.walked(list.into_iter(), RAW.iter().copied().chain(args))?);
        let of_path = walked.into_iter().flat_map(|commit| commit.changes).filter(|it| it.path == path.as_bytes());
        let is_there = |change: &Change| change.kind == Kind::File;
        Ok(of_path.flat_map(|it| is_there(&it).then_some(it.blob).into_iter().chain(it.before)).collect())
    }

    /// Every file of these commits: path and content.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub fn versions_at(&self, commits: &[String]) -> Result<HashSet<(Vec<u8>, String)>, GitError> {
        let all: Result<Vec<_>, _> = commits.iter().map(|commit| self.files(commit)).collect();
        Ok(all?.into_iter().flatten().collect())
    }

    /// Where these contents stand already: in a parent, or in the newer history of a ref. Path and content.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub fn places(&self, blobs: &[&str], parents: &[String]) -> Result<Vec<(Vec<u8>, String)>, GitError> {
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
        let found = walked.into_iter().flat_map(|commit| commit.changes).map(|change| (change.path, change.blob));
        places.extend(found.filter(|(_, blob)| sought.contains(&**blob)));
        Ok(places)
    }
}

impl Door {
    /// Which of these contents some ancestor of these commits had that is none of `within`.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(super) fn stood_before(
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
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}
