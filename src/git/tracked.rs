//! What a work tree holds and how its git is set up, for who looks the repository over. Bounded: a repository may be of any
//! size.
#![forbid(unsafe_code)]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Environment, GitError, Repository, path_from};

/// No list of names is read further (bytes): some hundred thousand files.
const MOST: u64 = 8 * 1024 * 1024;

/// The files that git keeps, in the order of its index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tracked {
    /// Below the root of the work tree.
    pub files: Vec<PathBuf>,
    /// There are more.
    pub cut: bool,
}

impl Repository {
    /// The tracked files.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn tracked(&self, env: Environment<'_>) -> Result<Tracked, GitError> {
        let mut command = self.git(env);
        command.args(["-c", "core.fsmonitor=false", "ls-files", "-z"]);
        let (listed, cut) = some_of(&mut command, "ls-files", &self.worktree_root)?;
        let whole = if cut { &listed[..=listed.iter().rposition(|&byte| byte == 0).unwrap_or(0)] } else { &listed };
        let names = whole.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        Ok(Tracked { files: names.map(path_from).collect(), cut })
    }

    /// The files whose staged content has this word in it, whether they are in the work tree or not.
    ///
    /// # Errors
    /// When git cannot be started or fails, also because this clone has not got some of the contents.
    pub fn staged_with(&self, word: &str, env: Environment<'_>) -> Result<Vec<PathBuf>, GitError> {
        let args = ["--cached", "--full-name", "--no-color", "--no-textconv", "-a", "-l", "-z", "-F", "-e", word];
        let told = self.ask_whether(env, "grep", args, "to look the repository over")?.unwrap_or_default();
        Ok(told.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(path_from).collect())
    }

    /// The other work trees of this repository that are there (gitrepository-layout(5), `worktrees/<id>/gitdir`), and the
    /// main one.
    #[must_use]
    pub fn work_trees(&self) -> Vec<PathBuf> {
        let listed = std::fs::read_dir(self.common_dir.join("worktrees")).into_iter().flatten().flatten();
        let linked = listed.filter_map(|entry| {
            let named = std::fs::read(entry.path().join("gitdir")).ok()?;
            let dot_git = entry.path().join(path_from(named.trim_ascii_end()));
            crate::platform::canonical(dot_git.parent()?).ok()
        });
        let main = self.common_dir.parent().filter(|main| main.join(".git") == self.common_dir).map(Path::to_owned);
        let mut all: Vec<PathBuf> = main.into_iter().chain(linked).filter(|root| *root != self.worktree_root).collect();
        all.sort();
        all.dedup();
        all
    }
}

/// Every setting that git would go by, in its order: the name, lower-case but for its middle, and the value. Outside of a
/// repository only the machine's and the user's count. They may hold passwords, in the names as well.
///
/// # Errors
/// When git cannot be started or fails.
pub fn settings(repository: Option<&Repository>, env: Environment<'_>) -> Result<Vec<(String, String)>, GitError> {
    let mut command = match repository {
        Some(repository) => repository.git(env),
        None => super::spawn::nowhere(env),
    };
    command.args(["config", "--list", "-z"]);
    let directory = repository.map_or(Path::new("/"), |it| &it.worktree_root);
    let (listed, _) = some_of(&mut command, "config", directory)?;
    let text = String::from_utf8_lossy(&listed);
    let pair = |entry: &str| {
        let (name, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        (name.to_owned(), value.to_owned())
    };
    Ok(text.split('\0').filter(|entry| !entry.is_empty()).map(pair).collect())
}

/// What a command prints, up to the bound; whether that was not all.
fn some_of(command: &mut Command, name: &'static str, directory: &Path) -> Result<(Vec<u8>, bool), GitError> {
    let no_git = |source| GitError::NoGit { need: "to look the repository over", source };
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(no_git)?;
    let mut said = Vec::new();
    if let Some(out) = child.stdout.take() {
        out.take(MOST).read_to_end(&mut said).map_err(no_git)?;
    }
    let cut = said.len() as u64 == MOST;
    // What we no longer read it could only wait to write; dropping our end has told it so.
    let status = child.wait().map_err(no_git)?;
    match status.success() || cut {
        true => Ok((said, cut)),
        false => Err(GitError::Failed { command: name, directory: directory.to_owned(), status }),
    }
}
