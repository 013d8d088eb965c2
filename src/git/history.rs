//! The history of one file: which blobs refs have had at its path, which refs have them, and what a merge would bring.
//! Every answer starts git: for who must know where another version of a file is, not for every command.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::{Environment, GitError, Repository};

const NEED: &str = "to see where another version of a file is";

/// So many commits that changed the file are looked at, the newest first.
const COMMITS: &str = "--max-count=2000";

/// Which blobs have been at a path, in any ref or detached HEAD, each with the commits that brought it, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History(BTreeMap<String, Vec<String>>);

impl History {
    /// The commits that brought this blob to the path; empty when no ref ever had it there.
    #[must_use]
    pub fn brought(&self, blob: &str) -> &[String] {
        self.0.get(blob).map_or(&[], Vec::as_slice)
    }

    /// Every blob.
    pub fn blobs(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// How a ref stands to HEAD for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// What the ref has at the path; none when it has no such file.
    pub blob: Option<String>,
    /// Merging it would bring exactly that: HEAD has not changed the file since both parted.
    pub merges: bool,
}

impl Repository {
    /// The history of a file, in every ref, in HEAD, and in what a merge or a pick that has begun here takes in. It needs commits and trees, and no content: also in a clone without blobs.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn history(&self, file: &Path, env: Environment<'_>) -> Result<History, GitError> {
        // What a merge or a pick takes in may have come from a place that no ref follows.
        let taken_in = self.taken_in();
        let which: Vec<&str> = std::iter::once("--all").chain(taken_in.iter().map(String::as_str)).collect();
        self.history_in(file, &which, env)
    }

    /// The history of a file in one ref or commit.
    ///
    /// # Errors
    /// When git cannot be started or fails: there is no such ref.
    pub fn history_of(&self, commit: &str, file: &Path, env: Environment<'_>) -> Result<History, GitError> {
        self.history_in(file, &["--end-of-options", commit], env)
    }

    /// Whether what one ref or commit has is all in this one.
    ///
    /// # Errors
    /// When git cannot be started or fails: one of them is not here.
    pub fn contains(&self, all: &str, one: &str, env: Environment<'_>) -> Result<bool, GitError> {
        self.is_ancestor(one, all, env)
    }

    /// The same in these revisions.
    pub(super) fn history_in(&self, file: &Path, which: &[&str], env: Environment<'_>) -> Result<History, GitError> {
        let mut history = History::default();
        let Some(inside) = self.inside(file) else { return Ok(history) };
        let options = ["--full-history", "-m", "--raw", "--no-abbrev", "--no-renames", "--no-color"];
        let more = ["--no-show-signature", "-z", "--format=%x01%H", COMMITS];
        let args = options.iter().chain(&more).chain(which).chain(&["--"]);
        let args = args.map(OsString::from).chain([literally(inside)]);
        let told = self.ask(env, "log", args, NEED)?;
        let mut commit = None;
        let mut fields = told.split(|&byte| byte == 0);
        while let Some(field) = fields.next() {
            let field = field.trim_ascii_start();
            if let Some(named) = field.strip_prefix(b"\x01") {
                commit = std::str::from_utf8(named).ok().map(str::trim_end);
            } else if let (Some(change), Some(commit)) = (field.strip_prefix(b":"), commit) {
                fields.next();
                if let Some(blob) = regular_blob_after(change) {
                    history.0.entry(blob.to_owned()).or_default().push(commit.to_owned());
                }
            }
        }
        for commits in history.0.values_mut() {
            let mut seen = BTreeSet::new();
            commits.retain(|commit| seen.insert(commit.clone()));
        }
        Ok(history)
    }

    /// The refs that contain a commit, in full (`refs/heads/main`).
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn refs_with(&self, commit: &str, env: Environment<'_>) -> Result<Vec<String>, GitError> {
        let told = self.ask(env, "for-each-ref", ["--format=%(refname)", "--contains", commit], NEED)?;
        Ok(String::from_utf8_lossy(&told).lines().map(str::to_owned).collect())
    }

    /// Whether HEAD contains a commit.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn head_has(&self, commit: &str, env: Environment<'_>) -> Result<bool, GitError> {
        self.is_ancestor(commit, "HEAD", env)
    }

    /// Whether HEAD and this one have a beginning in common here: in a clone of the newest commits alone it may be cut off.
    ///
    /// # Errors
    /// When git cannot be started or fails: there is no such commit.
    pub fn head_meets(&self, other: &str, env: Environment<'_>) -> Result<bool, GitError> {
        Ok(self.ask_whether(env, "merge-base", ["HEAD", other], NEED)?.is_some())
    }

    /// Whether HEAD has commits that this one has not.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn head_goes_beyond(&self, other: &str, env: Environment<'_>) -> Result<bool, GitError> {
        Ok(!self.is_ancestor("HEAD", other, env)?)
    }

    pub(super) fn is_ancestor(&self, one: &str, other: &str, env: Environment<'_>) -> Result<bool, GitError> {
        Ok(self.ask_whether(env, "merge-base", ["--is-ancestor", one, other], NEED)?.is_some())
    }

    /// The blob that a commit has at a file's path; none when it has no such regular file, or is no commit.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn blob_at(&self, commit: &str, file: &Path, env: Environment<'_>) -> Result<Option<String>, GitError> {
        let Some(inside) = self.inside(file) else { return Ok(None) };
        let args = ["-z", "--full-tree", commit, "--"].map(OsString::from).into_iter().chain([literally(inside)]);
        match self.ask(env, "ls-tree", args, NEED) {
            Ok(listed) => Ok(super::head::regular_blob(&listed).map(str::to_owned)),
            // An unborn HEAD, a ref that is gone.
            Err(GitError::Failed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What the index has at a file's path, and whether a sparse checkout leaves the file out.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn staged(&self, file: &Path, env: Environment<'_>) -> Result<Option<(String, bool)>, GitError> {
        let Some(inside) = self.inside(file) else { return Ok(None) };
        let args = ["-t", "-s", "-z", "--"].map(OsString::from).into_iter().chain([literally(inside)]);
        let told = self.ask(env, "ls-files", args, NEED)?;
        // `TAG SP MODE SP OBJECT SP STAGE TAB PATH NUL`.
        let facts = told.split(|&byte| byte == b'\t').next().and_then(|facts| std::str::from_utf8(facts).ok());
        let mut facts = facts.unwrap_or_default().split(' ');
        let (tag, blob) = (facts.next(), facts.nth(1));
        Ok(blob.map(|blob| (blob.to_owned(), tag == Some("S"))))
    }

    /// The commit that a ref is, if it is there.
    #[must_use]
    pub fn commit_of(&self, reference: &str, env: Environment<'_>) -> Option<String> {
        let name = format!("{reference}^{{commit}}");
        self.one_ref(env, "rev-parse", &["--verify", "--quiet", "--end-of-options", &name]).ok().flatten()
    }

    /// What HEAD's history has had at a file's path, newest first.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn line_of(&self, file: &Path, env: Environment<'_>) -> Result<Vec<String>, GitError> {
        let Some(inside) = self.inside(file) else { return Ok(Vec::new()) };
        let options = ["--raw", "-m", "--no-abbrev", "--no-renames", "--no-color", "--no-show-signature", "-z"];
        let args = options.iter().chain(&["--format=", "--max-count=200", "HEAD", "--"]).map(OsString::from);
        let told = match self.ask(env, "log", args.chain([literally(inside)]), NEED) {
            Ok(told) => told,
            // An unborn HEAD.
            Err(GitError::Failed { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut blobs: Vec<String> = Vec::new();
        let mut fields = told.split(|&byte| byte == 0);
        while let Some(field) = fields.next() {
            if let Some(change) = field.trim_ascii_start().strip_prefix(b":") {
                fields.next();
                blobs.extend(regular_blob_after(change).map(str::to_owned));
            }
        }
        Ok(blobs)
    }

    /// What the branch that is checked out follows, in full (`refs/remotes/origin/main`).
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn upstream(&self, env: Environment<'_>) -> Result<Option<String>, GitError> {
        self.one_ref(env, "rev-parse", &["--symbolic-full-name", "--verify", "--quiet", "@{upstream}"])
    }

    /// The default branch of origin, in full, where it is known here.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn default_branch(&self, env: Environment<'_>) -> Result<Option<String>, GitError> {
        let remote = self.remote(env)?.unwrap_or_else(|| "origin".to_owned());
        self.one_ref(env, "symbolic-ref", &["--quiet", &format!("refs/remotes/{remote}/HEAD")])
    }

    fn one_ref(&self, env: Environment<'_>, name: &'static str, args: &[&str]) -> Result<Option<String>, GitError> {
        match self.ask(env, name, args, NEED) {
            Ok(told) => Ok(Some(String::from_utf8_lossy(&told).trim().to_owned()).filter(|told| !told.is_empty())),
            Err(GitError::Failed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether there is a remote that is the repository's origin.
    #[must_use]
    pub fn has_origin(&self, env: Environment<'_>) -> bool {
        self.origin(env).is_ok_and(|origin| origin.is_some())
    }

    /// How a ref stands to HEAD for a file.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn standing(&self, reference: &str, file: &Path, env: Environment<'_>) -> Result<Standing, GitError> {
        let blob = self.blob_at(reference, file, env)?;
        let base = self.ask_whether(env, "merge-base", ["HEAD", reference], NEED);
        let base = match base {
            Ok(base) => base.map(|base| String::from_utf8_lossy(&base).trim().to_owned()),
            Err(GitError::Failed { .. }) => None,
            Err(error) => return Err(error),
        };
        let merges = match base {
            Some(base) => self.blob_at(&base, file, env)? == self.blob_at("HEAD", file, env)?,
            None => false,
        };
        Ok(Standing { blob, merges })
    }

    /// The name that git would give this content of a file when it stores it: with its line ends converted, and filtered, as
    /// attributes and settings have it. Only content with CRLF, and files that a filter may be for, need git for that.
    ///
    /// # Errors
    /// When the configuration is unreadable or broken.
    pub fn stored_as(&self, file: &Path, content: &[u8], env: Environment<'_>) -> Result<String, GitError> {
        if !content.windows(2).any(|pair| pair == b"\r\n") && !self.may_convert(file, env) {
            return self.blob_id(content);
        }
        let of_file = || {
            let inside = self.inside(file)?;
            let on_disk = std::fs::read(file).ok()?;
            // What git hashes is the file by its name; only if that is the content asked about its word counts.
            let told = self.ask(env, "hash-object", [OsStr::new("--"), inside.as_os_str()], NEED).ok()?;
            (on_disk == content).then(|| String::from_utf8_lossy(&told).trim().to_owned())
        };
        of_file().map_or_else(|| self.blob_id(content), Ok)
    }

    /// A blob's content; none when this clone has not got it.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn content_of(&self, blob: &str, env: Environment<'_>) -> Result<Option<Vec<u8>>, GitError> {
        match self.ask(env, "cat-file", ["blob", blob], NEED) {
            Ok(content) => Ok(Some(content)),
            Err(GitError::Failed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A path that git takes letter by letter.
pub(super) fn literally(inside: &Path) -> OsString {
    let mut spec = OsString::from(":(top,literal)");
    spec.push(inside);
    spec
}

/// The blob after the change in `MODE SP MODE SP OBJECT SP OBJECT SP STATUS`, if it is a regular file.
fn regular_blob_after(change: &[u8]) -> Option<&str> {
    let mut facts = std::str::from_utf8(change).ok()?.split(' ');
    let (mode, blob) = (facts.nth(1)?, facts.nth(1)?);
    mode.starts_with("100").then_some(blob)
}
