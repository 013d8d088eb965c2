//! The door to git: its plumbing alone, in the environment as it is. A hook is told by that which index is meant, and a
//! receiving repository where the new objects are kept for now. Nothing is fetched, nothing is written, nobody is asked.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use super::change::{self, Change, Commit, HEADER, Kind};
use crate::git::{GitError, path_from};

/// Would change what a path argument means.
const PATHSPECS: &[&str] =
    &["GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"];

/// Searched for a version that has no receipt; more is history that nobody pushes or merges today.
const MOST_COMMITS: &str = "--max-count=20000";

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
}

impl Door {
    /// From this directory, which must exist.
    #[must_use]
    pub fn at(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
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
        for parent in parents {
            places.extend(self.files(parent)?.into_iter().filter(|(_, blob)| blobs.contains(&&**blob)));
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
        places.extend(found.filter(|(_, blob)| blobs.contains(&&**blob)));
        Ok(places)
    }

    /// The objects and sizes (bytes) of these, in their order; none for what is no blob, or not here.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(super) fn sizes(&self, names: &[Vec<u8>]) -> Result<Vec<Option<(String, u64)>>, GitError> {
        let input: Vec<u8> = names.iter().flat_map(|name| name.iter().chain(b"\n")).copied().collect();
        let (mut child, output) = self.fed(&["cat-file", "--batch-check", "--buffer"], &input)?;
        let mut sizes = Vec::with_capacity(names.len());
        for line in BufReader::new(output).split(b'\n') {
            sizes.push(header(&line.map_err(cannot_read)?));
        }
        ended("cat-file", &self.directory, &mut child)?;
        sizes.resize(names.len(), None);
        Ok(sizes)
    }

    /// Hands over the contents of these blobs, one after the other; none for what is not here.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(super) fn contents(&self, blobs: &[&str], mut take: impl FnMut(&str, Option<Vec<u8>>)) -> Result<(), GitError> {
        if blobs.is_empty() {
            return Ok(());
        }
        let (mut child, output) = self.fed(&["cat-file", "--batch", "--buffer"], blobs.join("\n").as_bytes())?;
        let mut output = BufReader::with_capacity(1 << 16, output);
        for blob in blobs {
            let mut line = Vec::new();
            output.read_until(b'\n', &mut line).map_err(cannot_read)?;
            let Some((_, size)) = header(&line) else {
                take(blob, None);
                continue;
            };
            let mut content = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
            output.read_exact(&mut content).map_err(cannot_read)?;
            output.read_exact(&mut [0]).map_err(cannot_read)?;
            take(blob, Some(content));
        }
        drop(output);
        ended("cat-file", &self.directory, &mut child)
    }

    /// Whether what is at a path now, or was there before, is content of this kind.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub fn any_content(&self, change: &Change, fits: impl Fn(&[u8]) -> bool) -> Result<bool, GitError> {
        let now = (change.kind == Kind::File).then_some(&change.blob);
        let blobs: Vec<&str> = now.into_iter().chain(&change.before).map(String::as_str).collect();
        let mut any = false;
        self.contents(&blobs, |_, content| any |= content.is_none_or(|content| fits(&content)))?;
        Ok(any)
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

    fn git(&self) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.directory).stdin(Stdio::null()).stderr(Stdio::null());
        PATHSPECS.iter().for_each(|name| _ = command.env_remove(name));
        command
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C");
        command
    }

    fn ask<S: AsRef<OsStr>>(
        &self,
        name: &'static str,
        args: impl IntoIterator<Item = S>,
        need: &'static str,
    ) -> Result<Vec<u8>, GitError> {
        let output = self.git().arg(name).args(args).output().map_err(|source| GitError::NoGit { need, source })?;
        checked(name, &self.directory, output.status).map(|()| output.stdout)
    }

    /// The same where a failure is an answer.
    fn maybe<S: AsRef<OsStr>>(
        &self,
        name: &'static str,
        args: impl IntoIterator<Item = S>,
    ) -> Result<Option<Vec<u8>>, GitError> {
        match self.ask(name, args, "to find the repository") {
            Err(GitError::Failed { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    /// A command that reads this from a file, so that neither of us waits for the other.
    fn fed(&self, args: &[&str], input: &[u8]) -> Result<(Child, std::process::ChildStdout), GitError> {
        let no_git = |source| GitError::NoGit { need: "to read objects", source };
        let mut file = tempfile::tempfile().map_err(no_git)?;
        file.write_all(input).and_then(|()| file.rewind()).map_err(no_git)?;
        let mut command = self.git();
        let mut child = command.args(args).stdin(file).stdout(Stdio::piped()).spawn().map_err(no_git)?;
        let output = child.stdout.take().ok_or_else(|| no_git(std::io::ErrorKind::BrokenPipe.into()))?;
        Ok((child, output))
    }
}

/// `OBJECT blob SIZE`.
fn header(line: &[u8]) -> Option<(String, u64)> {
    let mut facts = std::str::from_utf8(line).ok()?.trim_end().split(' ');
    let (object, kind, size) = (facts.next()?, facts.next()?, facts.next()?);
    (kind == "blob" && facts.next().is_none()).then_some((object.to_owned(), size.parse().ok()?))
}

fn ended(name: &'static str, directory: &Path, child: &mut Child) -> Result<(), GitError> {
    let status = child.wait().map_err(cannot_read)?;
    checked(name, directory, status)
}

fn checked(command: &'static str, directory: &Path, status: ExitStatus) -> Result<(), GitError> {
    if status.success() {
        return Ok(());
    }
    Err(GitError::Failed { command, directory: directory.to_owned(), status })
}

fn cannot_read(source: std::io::Error) -> GitError {
    GitError::NoGit { need: "to read objects", source }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}
