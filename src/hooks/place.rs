//! Where git looks for hooks, and whose place that is.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use super::HooksError;
use crate::git::{Environment, GitError, path_from, real_git};

/// Point git at another repository than that of the directory: a hook that installs hooks has them set.
const MISLEADING: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"];

/// Where git looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The directory from which git was asked; where hooks are tried out.
    pub(super) from: PathBuf,
    /// git itself.
    git: PathBuf,
    /// The git directory that all work trees share.
    pub(super) common: PathBuf,
    /// The directory of the hooks.
    pub directory: PathBuf,
    /// Whose it is, when it is not the repository's own.
    pub whose: Option<&'static str>,
}

/// Asks git for the repository around `directory`: it knows of work trees, submodules and `core.hooksPath`.
///
/// # Errors
/// No repository, or git cannot be started.
pub fn find(directory: &Path, env: Environment<'_>) -> Result<Place, HooksError> {
    let program = real_git(env, directory);
    let told =
        |args: &[&str]| ask(&program, directory, args).map(|told| told.map(|told| directory.join(path_from(&told))));
    let Some(common) = told(&["rev-parse", "--git-common-dir"])? else {
        return Err(HooksError::NoRepository(directory.to_owned()));
    };
    let hooks = told(&["rev-parse", "--git-path", "hooks"])?.unwrap_or_else(|| common.join("hooks"));
    let root = told(&["rev-parse", "--show-toplevel"])?;
    let git_dir = told(&["rev-parse", "--git-dir"])?.unwrap_or_else(|| common.clone());
    let physical = |path: &Path| nearest(path);
    let inside = |of: &Path| physical(&hooks).starts_with(physical(of));
    let by = match hooks == common.join("hooks") {
        true => ["files of the working tree, by a link", "shared with other repositories, by a link"],
        false => ["files of the working tree, by core.hooksPath", "shared with other repositories, by core.hooksPath"],
    };
    let whose = match () {
        () if inside(&common) || inside(&git_dir) => None,
        () if root.as_deref().is_some_and(inside) => Some(by[0]),
        () => Some(by[1]),
    };
    Ok(Place { from: directory.to_owned(), git: program, common, directory: clean(&hooks), whose })
}

impl Place {
    /// A git command that means this repository.
    pub(super) fn git(&self) -> Command {
        git(&self.git, &self.from)
    }

    /// Where git looks for hooks when nobody says otherwise.
    #[must_use]
    pub fn usual(&self) -> PathBuf {
        self.common.join("hooks")
    }

    /// The hooks that call us in the usual place, when git looks in another one.
    #[must_use]
    pub fn left_behind(&self) -> Vec<&'static str> {
        let usual = self.usual();
        if nearest(&usual) == nearest(&self.directory) {
            return Vec::new();
        }
        let calls = |name: &&'static str| {
            std::fs::read(usual.join(name)).is_ok_and(|text| {
                super::text::is_ours(&text) || String::from_utf8_lossy(&text).contains("locked hooks run")
            })
        };
        super::NAMES.into_iter().filter(calls).collect()
    }

    /// What people had written behind the end of our hooks, where some had.
    #[must_use]
    pub fn additions(&self) -> Vec<PathBuf> {
        super::NAMES.iter().map(|name| self.added(name)).filter(|kept| kept.is_file()).collect()
    }

    /// Where that is kept.
    pub(super) fn added(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.locked-added"))
    }

    /// Where a hook lies.
    #[must_use]
    pub fn hook(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Where the hook lies that was there before.
    #[must_use]
    pub fn aside(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.locked-prev"))
    }
}

/// A git command that means the repository around `directory`.
fn git(program: &Path, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).stdin(Stdio::null()).env("LC_ALL", "C");
    MISLEADING.iter().for_each(|name| _ = command.env_remove(name));
    command
}

/// One line of an answer; none when git refuses.
fn ask<S: AsRef<OsStr>>(program: &Path, directory: &Path, args: &[S]) -> Result<Option<Vec<u8>>, HooksError> {
    let asked = git(program, directory).args(args).stderr(Stdio::null()).output();
    let output = asked.map_err(|source| GitError::NoGit { need: "to find its hooks", source })?;
    let line = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout).to_vec();
    Ok(output.status.success().then_some(line).filter(|line| !line.is_empty()))
}

/// The path with its links resolved, as far as it exists.
fn nearest(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    for above in path.ancestors() {
        if let Ok(real) = crate::platform::canonical(above) {
            return rest.iter().rev().fold(real, |path: PathBuf, part: &&OsStr| path.join(part));
        }
        rest.extend(above.file_name());
    }
    path.to_owned()
}

/// Without `.` and `..`, for showing. What stands before a `..` may be a link, so the directory above is asked of the system;
/// the last part stays as it is called.
fn clean(path: &Path) -> PathBuf {
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) if goes_up => nearest(above).join(name),
        _ => path.components().collect(),
    }
}
