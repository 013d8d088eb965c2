//! Where settings lie, and whose they are.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::ConfigError;
use super::document::longest;

/// The files, the weakest first.
#[derive(Debug, Clone)]
pub struct Places {
    /// `/etc/locked/config.toml`; on Windows below `%ProgramFiles%\locked`.
    pub system: PathBuf,
    /// `/etc/locked/config.d`: every `*.toml` in it, in the order of the bytes of their names.
    pub fragments: PathBuf,
    /// `$XDG_CONFIG_HOME/locked/config.toml`, else below `$HOME/.config` (on Windows `%APPDATA%`); none without either.
    pub user: Option<PathBuf>,
    /// `.locked.toml` at the root of each work tree that the command is about.
    pub repositories: Vec<PathBuf>,
    /// The command is about something that lies in no work tree, where only the first two have a say.
    pub outside: bool,
}

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// The machine's.
    System,
    /// The user's.
    User,
    /// The repository's: it came with what was checked out.
    Repository,
}

/// What a repository's file is called, at the root of the work tree.
pub const FILE: &str = ".locked.toml";

impl Places {
    /// The places for a command in this environment that is about these work trees.
    #[must_use]
    pub fn around(env: &dyn Fn(&str) -> Option<OsString>, roots: &[&Path]) -> Self {
        let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || match cfg!(windows) {
            true => absolute("APPDATA"),
            false => absolute("HOME").map(|home| home.join(".config")),
        };
        // On Windows anybody may make a directory in the root of a drive, and only an administrator one here.
        let system = match cfg!(windows) {
            true => absolute("ProgramFiles").unwrap_or_else(|| PathBuf::from(r"C:\Program Files")).join("locked"),
            false => PathBuf::from("/etc/locked"),
        };
        let mut repositories: Vec<PathBuf> = roots.iter().map(|root| root.join(FILE)).collect();
        repositories.sort();
        repositories.dedup();
        Self {
            system: system.join("config.toml"),
            fragments: system.join("config.d"),
            user: absolute("XDG_CONFIG_HOME").or_else(home).map(|config| config.join("locked/config.toml")),
            repositories,
            outside: roots.is_empty(),
        }
    }
}

/// What a file says that matters before it is known whether anything is to be held. Any other text that has one of these
/// words in it is read for nothing, which harms nobody.
const ABOUT_LINES: [&[u8]; 11] =
    [b"rule", b"program", b"launcher", b"writer", b"sql", b"zone", b"safe", b"rotation", b"hosts", b"ssh", b"gh"];

impl Places {
    /// Whether some file may say which lines are to hold something. Only looks for words: reading settings costs more
    /// than all the rest of a command that passes.
    #[must_use]
    pub fn may_say_what_is_held(&self) -> bool {
        self.may_have(&ABOUT_LINES)
    }

    /// Whether some file may say which variables name a session.
    #[must_use]
    pub fn may_name_sessions(&self) -> bool {
        self.may_have(&[b"session"])
    }

    /// Whether one of these words is in some file.
    fn may_have(&self, words: &[&[u8]]) -> bool {
        // What cannot be read may say anything: whoever reads it for good says what is wrong with it.
        let Ok(fragments) = fragments(&self.fragments) else { return true };
        let system = fragments.iter().chain([&self.system]).map(|path| (path, Layer::System));
        let user = self.user.iter().map(|path| (path, Layer::User));
        let all = system.chain(user).chain(self.repositories.iter().map(|path| (path, Layer::Repository)));
        all.into_iter().any(|(path, layer)| may_say(path, layer, words))
    }
}

/// Whether a file has one of these words, or nobody can tell. What is no file is not opened: that could hold a reader up.
fn may_say(path: &Path, layer: Layer, words: &[&[u8]]) -> bool {
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() && layer == Layer::Repository => return true,
        Ok(found) if found.is_symlink() => std::fs::metadata(path),
        found => found,
    };
    let is_nothing = |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    let text = match found {
        Ok(found) if found.is_file() && found.len() <= longest(layer) => std::fs::read(path),
        Ok(_) => return true,
        Err(error) => Err(error),
    };
    match text {
        Ok(text) => words.iter().any(|word| text.windows(word.len()).any(|part| part == *word)),
        Err(error) => !is_nothing(&error),
    }
}

/// The files in the directory, in their order; none when it is not there.
pub(super) fn fragments(directory: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: directory.to_owned(), source };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(unreadable)?.file_name());
    }
    // What an editor or a package manager leaves beside a file begins with a dot or ends otherwise.
    names.retain(|name| name.as_encoded_bytes().ends_with(b".toml") && !name.as_encoded_bytes().starts_with(b"."));
    names.sort_by(|one, other| one.as_encoded_bytes().cmp(other.as_encoded_bytes()));
    Ok(names.into_iter().map(|name| directory.join(name)).collect())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn fragments_come_in_the_order_of_their_bytes() {
        let place = tempfile::tempdir().expect("place");
        for name in ["b.toml", "a.toml", "B.toml", "10.toml", "9.toml", ".hidden.toml", "x.toml~", "x.toml.rpmsave"] {
            std::fs::write(place.path().join(name), "").expect("file");
        }
        let found = fragments(place.path()).expect("listed");
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["10.toml", "9.toml", "B.toml", "a.toml", "b.toml"]);
        assert!(fragments(&place.path().join("nowhere")).expect("none").is_empty());
    }
}
