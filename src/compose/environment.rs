//! The variables as compose sees them: those of its own environment, then those of its environment files.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::{Asked, Sight, dotenv, dotenv_legacy, path};

/// A larger file is not read.
const SIZE_CAP: u64 = 16 << 20;

/// Variables, and what kept some of them from us.
pub(super) struct Environment<'a> {
    asked: Asked<'a>,
    /// Of the files: the value and the file.
    added: HashMap<String, (OsString, PathBuf)>,
    /// The first file that could not be read, and why.
    pub(super) trouble: Option<String>,
}

impl<'a> Environment<'a> {
    pub(super) fn new(asked: Asked<'a>) -> Self {
        Self { asked, added: HashMap::new(), trouble: None }
    }

    pub(super) fn get(&self, name: &str) -> Option<OsString> {
        (self.asked.env)(name).or_else(|| self.added.get(name).map(|(value, _)| value.clone()))
    }

    /// The value where it says something.
    pub(super) fn filled(&self, name: &str) -> Option<OsString> {
        self.get(name).filter(|value| !value.is_empty())
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| value.to_string_lossy().into_owned())
    }

    /// The file that a variable came from; none when it is the environment's own.
    pub(super) fn file_of(&self, name: &str) -> Option<&Path> {
        if (self.asked.env)(name).is_some() {
            return None;
        }
        self.added.get(name).map(|(_, file)| &**file)
    }

    /// Takes in files of version 2: of several the last counts, but what was there before goes before all of them.
    /// Compose reads them first for its own variables alone, and only then sets `PWD` where the shell has not.
    pub(super) fn read(&mut self, files: &[PathBuf], what: Take<'_>) {
        let mut new: HashMap<String, (OsString, PathBuf)> = HashMap::new();
        for file in files {
            let Some(text) = self.text_of(file) else { continue };
            let text_of = |value: OsString| value.to_string_lossy().into_owned();
            let pwd = |name: &str| what.pwd().filter(|_| name == "PWD").map(Into::into);
            let set = |name: &str| self.get(name).or_else(|| pwd(name)).map(text_of);
            let earlier = |name: &str| new.get(name).map(|(value, _)| text_of(value.clone()));
            match dotenv::read(&text, &set, &earlier) {
                Ok(found) => {
                    new.extend(found.into_iter().map(|(key, value)| (key, (value.into(), file.clone()))));
                }
                Err(fault) => self.troubled(format!("{}: {fault}", path::shown(file))),
            }
        }
        for (key, value) in new.into_iter().filter(|(key, _)| what.takes(key)) {
            self.added.entry(key).or_insert(value);
        }
    }

    /// Takes in the file of version 1.
    pub(super) fn read_legacy(&mut self, file: &Path) {
        let Some(text) = self.text_of(file) else { return };
        // Python reads every end of a line as one.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let own = |name: &str| (self.asked.env)(name).map(|value| value.to_string_lossy().into_owned());
        for (key, value) in dotenv_legacy::read(&text, &own) {
            match value {
                Some(value) => drop(self.added.insert(key, (value.into(), file.to_owned()))),
                None => drop(self.added.remove(&key)),
            }
        }
    }

    /// The text of a file. One that is not there, or is a directory, has none, and that is no trouble: the program
    /// refuses or passes over it.
    pub(super) fn text_of(&mut self, file: &Path) -> Option<String> {
        match read(file, self.asked.sight) {
            Ok(text) => text,
            Err(why) => {
                self.troubled(format!("{} {why}", path::shown(file)));
                None
            }
        }
    }

    fn troubled(&mut self, what: String) {
        self.trouble.get_or_insert(what);
    }
}

/// What is taken from files.
#[derive(Clone, Copy)]
pub(super) enum Take<'a> {
    /// The variables of compose itself.
    Own,
    /// All of them; `PWD` is this directory if it is not set.
    All(&'a Path),
}

impl<'a> Take<'a> {
    fn takes(self, key: &str) -> bool {
        matches!(self, Self::All(_)) || key.starts_with("COMPOSE_")
    }

    fn pwd(self) -> Option<&'a Path> {
        match self {
            Self::Own => None,
            Self::All(cwd) => Some(cwd),
        }
    }
}

fn read(file: &Path, sight: Sight) -> Result<Option<String>, String> {
    if sight == Sight::Nothing {
        return Ok(None);
    }
    let about = match std::fs::metadata(file) {
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(format!("cannot be looked at ({})", error.kind())),
        Ok(about) => about,
    };
    if about.is_dir() {
        return Ok(None);
    }
    if !about.is_file() {
        // The program would find it empty after us.
        return Err("is a pipe or a device, which only the program itself may read".to_owned());
    }
    let mut bytes = Vec::new();
    let opened = crate::platform::regular(file).and_then(|opened| opened.take(SIZE_CAP + 1).read_to_end(&mut bytes));
    opened.map_err(|error| format!("cannot be read ({})", error.kind()))?;
    if bytes.len() as u64 > SIZE_CAP {
        return Err(format!("is larger than {} MiB", SIZE_CAP >> 20));
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Does a file stand there, as far as may be seen?
pub(super) fn exists(file: &Path, sight: Sight) -> bool {
    sight == Sight::Files && file.exists()
}

/// A word of the command line that says something.
pub(super) fn said<T: AsRef<OsStr> + ?Sized>(word: Option<&T>) -> Option<&T> {
    word.filter(|word| !word.as_ref().is_empty())
}
