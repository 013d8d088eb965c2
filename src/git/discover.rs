//! Which repository a file belongs to: the nearest `.git` above it.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::{GitError, Repository, path_from, read_if_there};
use crate::platform::canonical;

impl Repository {
    /// The repository of a file, which need not exist. `file` is physical (see `naming`): a link would lead the walk
    /// astray. None when no directory above it is a work tree, or when it lies inside a git directory (a bare
    /// repository, `.git` itself), where nothing is tracked.
    ///
    /// Unlike git this walk crosses mount points: a directory mounted into a work tree is still named by its place in it.
    ///
    /// # Errors
    /// [`GitError::Broken`] when a `.git` file leads nowhere: two checkouts of one repository would no longer meet
    /// under one name, so nobody guesses. [`GitError::Unreadable`] as it says.
    pub fn discover(file: &Path) -> Result<Option<Self>, GitError> {
        match file.parent() {
            Some(directory) => Self::around(directory),
            None => Ok(None),
        }
    }

    /// The repository that a directory lies in (or is the root of). Otherwise as [`Repository::discover`].
    ///
    /// # Errors
    /// As [`Repository::discover`].
    pub fn around(directory: &Path) -> Result<Option<Self>, GitError> {
        for root in directory.ancestors() {
            let dot_git = root.join(".git");
            match std::fs::metadata(&dot_git).map(Some).or_else(absent(&dot_git))? {
                Some(found) if found.is_dir() && is_git_dir(&dot_git)? => return at(root, &dot_git).map(Some),
                Some(found) if found.is_file() => return at(root, &linked(root, &dot_git)?).map(Some),
                _ if is_git_dir(root)? => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }
}

/// What git asks of a git directory before it believes in one. One that may not be looked into is an error: taken for
/// none, it would give its files other names than its owner's commands do.
fn is_git_dir(directory: &Path) -> Result<bool, GitError> {
    for part in ["HEAD", "objects", "refs"] {
        let path = directory.join(part);
        let Some(found) = std::fs::symlink_metadata(&path).map(Some).or_else(absent(&path))? else { return Ok(false) };
        if part != "HEAD" && !found.is_dir() && !path.is_dir() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes "there is none" for an answer and any other failure for one.
fn absent<T>(path: &Path) -> impl FnOnce(std::io::Error) -> Result<Option<T>, GitError> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    move |source| match source.kind() {
        NotFound | NotADirectory => Ok(None),
        _ => Err(GitError::Unreadable { path: path.to_owned(), source }),
    }
}

/// The directory that a `.git` file names (linked work trees, submodules): `gitdir: PATH`, relative to the file.
fn linked(root: &Path, dot_git: &Path) -> Result<PathBuf, GitError> {
    let broken = |why: &str| GitError::Broken { dot_git: dot_git.to_owned(), why: why.to_owned() };
    let content = read_if_there(dot_git)?.ok_or_else(|| broken("it has just vanished"))?;
    let named = content.strip_prefix(b"gitdir: ").ok_or_else(|| broken("it does not begin with `gitdir: `"))?;
    let end = named.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |last| last + 1);
    if end == 0 {
        return Err(broken("it names no directory"));
    }
    Ok(root.join(path_from(&named[..end])))
}

fn at(root: &Path, git_dir: &Path) -> Result<Repository, GitError> {
    let dot_git = root.join(".git");
    let broken = |what: &Path| GitError::Broken { dot_git: dot_git.clone(), why: format!("there is no {what:?}") };
    let git_dir = canonical(git_dir).map_err(|_| broken(git_dir))?;
    let common_dir = match read_if_there(&git_dir.join("commondir"))? {
        None => git_dir.clone(),
        Some(named) => {
            let common = git_dir.join(path_from(named.trim_ascii_end()));
            canonical(&common).map_err(|_| broken(&common))?
        }
    };
    if std::fs::symlink_metadata(git_dir.join("HEAD")).is_err() || !common_dir.join("objects").is_dir() {
        return Err(broken(&git_dir.join("HEAD")));
    }
    Ok(Repository { worktree_root: root.to_owned(), git_dir, common_dir })
}
