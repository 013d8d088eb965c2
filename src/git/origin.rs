//! The URL of origin, natively where the files at hand say it all, by git where `insteadOf` or an include may have a say.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::config::{self, Entry};
use super::include::{may_rewrite, may_touch_remotes};
use super::{Environment, GitError, Repository, read_if_there};

/// Where a git keeps its system-wide file: `$(prefix)/etc/gitconfig` of the usual builds.
const SYSTEM_FILES: &[&str] = &["/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"];

impl Repository {
    /// The first URL of the repository's origin, after `insteadOf`: of the remote called so, else of the only one that there is
    /// (`git clone -o up`); none where several are there and none is called so, since nothing says which of them all checkouts
    /// have. It may hold a password: never show it.
    ///
    /// # Errors
    /// When a configuration file of the repository is unreadable or broken, or git is needed and fails.
    pub(crate) fn origin(&self, env: Environment<'_>) -> Result<Option<Vec<u8>>, GitError> {
        let home = env("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let shared = self.common_dir.join("config");
        let text = read_if_there(&shared)?.unwrap_or_default();
        let mut entries = parse(&shared, &text)?;
        let mut only_git_knows = may_rewrite(&shared, &text, home.as_deref());
        if setting_in(&entries, "extensions", "worktreeconfig").is_some_and(|value| is_true(&value)) {
            let own = self.git_dir.join("config.worktree");
            let text = read_if_there(&own)?.unwrap_or_default();
            only_git_knows |= may_rewrite(&own, &text, home.as_deref());
            entries.extend(parse(&own, &text)?);
        }
        if only_git_knows || self.needs_git(env, home.as_deref()) {
            return self.origin_by_git(env);
        }
        Ok(the_remote(&names(&entries)).and_then(|remote| first_url(&entries, remote)))
    }

    /// A plain setting of the repository's shared file.
    pub(super) fn setting(&self, section: &str, key: &str) -> Result<Option<Vec<u8>>, GitError> {
        let path = self.common_dir.join("config");
        let Some(text) = read_if_there(&path)? else { return Ok(None) };
        Ok(setting_in(&parse(&path, &text)?, section, key))
    }

    /// Is there configuration outside the repository that only git can weigh?
    fn needs_git(&self, env: Environment<'_>, home: Option<&Path>) -> bool {
        env("GIT_CONFIG_COUNT").is_some_and(|count| count != "0" && !count.is_empty())
            || env("GIT_CONFIG_PARAMETERS").is_some_and(|parameters| !parameters.is_empty())
            || outer_files(env, home).iter().any(|path| match std::fs::read(path) {
                Ok(text) => may_touch_remotes(path, &text, home),
                // git passes over what it may not read here, too (the file of another user under sudo).
                Err(_) => false,
            })
    }

    /// `ls-remote --get-url` contacts nobody; it prints the name itself when there is no such remote.
    fn origin_by_git(&self, env: Environment<'_>) -> Result<Option<Vec<u8>>, GitError> {
        if let Some(url) = self.url_by_git("origin", env)? {
            return Ok(Some(url));
        }
        let Some(only) = self.remote(env)? else { return Ok(None) };
        self.url_by_git(&only, env)
    }

    pub(super) fn url_by_git(&self, remote: &str, env: Environment<'_>) -> Result<Option<Vec<u8>>, GitError> {
        let url = self.ask(env, "ls-remote", ["--get-url", remote], "to apply insteadOf to the origin's URL")?;
        let url = url.strip_suffix(b"\n").unwrap_or(&url);
        Ok(Some(url.to_vec()).filter(|url| url != remote.as_bytes()))
    }

    /// How many remotes there are, as far as git tells.
    #[must_use]
    pub(crate) fn remotes(&self, env: Environment<'_>) -> usize {
        let told = self.ask(env, "remote", [] as [&str; 0], "to count the remotes").unwrap_or_default();
        told.split(|&byte| byte == b'\n').filter(|name| !name.is_empty()).count()
    }

    /// The name of the remote that is the repository's origin: `origin`, else the only one.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub(crate) fn remote(&self, env: Environment<'_>) -> Result<Option<String>, GitError> {
        Ok(the_remote(&self.remote_names(env)?).map(str::to_owned))
    }

    /// The names of the remotes. One may have a slash in it.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub(crate) fn remote_names(&self, env: Environment<'_>) -> Result<Vec<String>, GitError> {
        let told = self.ask(env, "remote", [] as [&str; 0], "to find the origin")?;
        Ok(String::from_utf8_lossy(&told).lines().map(str::to_owned).collect())
    }
}

/// `origin`, else the only one of them.
fn the_remote(names: &[String]) -> Option<&str> {
    let origin = names.iter().find(|name| *name == "origin");
    let only = || if let [only] = names { Some(only) } else { None };
    origin.or_else(only).map(String::as_str)
}

/// The remotes that have a URL, each once.
fn names(entries: &[Entry]) -> Vec<String> {
    let of = |entry: &Entry| entry.remote().map(str::to_owned);
    let mut names: Vec<String> = entries.iter().filter_map(of).collect();
    names.sort();
    names.dedup();
    names
}

/// The system's and the user's files, as the environment chooses them.
fn outer_files(env: Environment<'_>, home: Option<&Path>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if !env("GIT_CONFIG_NOSYSTEM").is_some_and(|value| is_true(value.as_encoded_bytes())) {
        match env("GIT_CONFIG_SYSTEM") {
            Some(path) => files.push(PathBuf::from(path)),
            None => files.extend(SYSTEM_FILES.iter().map(PathBuf::from)),
        }
    }
    if let Some(path) = env("GIT_CONFIG_GLOBAL") {
        files.push(PathBuf::from(path));
        return files;
    }
    let xdg = env("XDG_CONFIG_HOME").filter(|xdg| !xdg.is_empty()).map(PathBuf::from);
    files.extend(xdg.or_else(|| Some(home?.join(".config"))).map(|base| base.join("git").join("config")));
    files.extend(home.map(|home| home.join(".gitconfig")));
    files
}

fn parse(path: &Path, text: &[u8]) -> Result<Vec<Entry>, GitError> {
    config::parse(text).map_err(|bad| GitError::BadConfig { path: path.to_owned(), line: bad.0 })
}

/// The last such setting counts; a key without value reads as `true`.
fn setting_in(entries: &[Entry], section: &str, key: &str) -> Option<Vec<u8>> {
    let found = entries.iter().rfind(|entry| entry.is(section, None, key))?;
    Some(found.value.clone().unwrap_or_else(|| b"true".to_vec()))
}

/// URLs add up over the files; an empty one takes back those before it.
fn first_url(entries: &[Entry], remote: &str) -> Option<Vec<u8>> {
    let mut first = None;
    for entry in entries.iter().filter(|entry| entry.is("remote", Some(remote), "url")) {
        match &entry.value {
            Some(url) if url.is_empty() => first = None,
            Some(url) => first = first.or_else(|| Some(url.clone())),
            None => {}
        }
    }
    first
}

/// git's idea of a true value.
fn is_true(value: &[u8]) -> bool {
    let truths: [&OsStr; 4] = ["true".as_ref(), "yes".as_ref(), "on".as_ref(), "1".as_ref()];
    truths.iter().any(|truth| truth.as_encoded_bytes().eq_ignore_ascii_case(value))
}
