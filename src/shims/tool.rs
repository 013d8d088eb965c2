//! The name of a program that a shim can stand in front of.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fmt;

use crate::program::is_our_name;
use crate::terms::{shell_quote, shows_as_itself};

use super::{ShimError, platform};

/// One part of a path, and not our own name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tool(OsString);

impl Tool {
    /// Takes a word for a program's name.
    ///
    /// # Errors
    /// It is empty, has a `/`, a comma or a character that does not show as itself, begins with a dot or dash, or it is ours.
    pub fn named(word: &OsStr) -> Result<Self, ShimError> {
        let tool = Self::found(word)?;
        // Who sees it in a list must be able to tell it from another, and a terminal must survive it.
        // With a comma it is two names that were meant for two words.
        let shows = |letter: char| letter == ' ' || (letter != ',' && shows_as_itself(letter));
        match word.to_string_lossy().chars().all(shows) {
            true => Ok(tool),
            false => Err(ShimError::NoName { name: word.to_owned() }),
        }
    }

    /// Takes the name of something that may be there already: whatever somebody called it, it can be shown and taken away.
    ///
    /// # Errors
    /// As [`Tool::named`], but for what does not show.
    pub fn found(word: &OsStr) -> Result<Self, ShimError> {
        let bytes = word.as_encoded_bytes();
        // What begins with a dot is hidden from `list`, and is how unfinished links are called.
        let is_name = !bytes.is_empty() && !bytes.contains(&b'/') && !bytes.contains(&0) && !b".-".contains(&bytes[0]);
        if !is_name {
            return Err(ShimError::NoName { name: word.to_owned() });
        }
        if is_our_name(word) { Err(ShimError::Ourselves) } else { Ok(Self(word.to_owned())) }
    }

    /// The name of its shim's file.
    #[must_use]
    pub fn file(&self) -> OsString {
        platform::file_of(&self.0)
    }

    /// The name.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }
}

/// As a person types it.
impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shell_quote(self.0.as_encoded_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_and_not_ours() {
        for (word, fits) in [
            ("sops", true),
            ("docker-compose", true),
            ("ü", true),
            ("lockedness", true),
            ("", false),
            ("/usr/bin/sops", false),
            ("bin/", false),
            ("..", false),
            (".hidden", false),
            ("--all", false),
            ("locked", false),
            ("locked-0.2", false),
            ("python3.12", true),
            ("my tool", true),
            ("sops,docker", false),
            ("two\nlines", false),
            ("\u{1b}[2J", false),
            ("a\u{202e}b", false),
            ("tab\t", false),
        ] {
            assert_eq!(Tool::named(OsStr::new(word)).is_ok(), fits, "{word:?}");
        }
    }

    #[test]
    fn what_is_there_is_shown_so_that_it_can_be_typed() {
        for (word, shown) in [("sops", "sops"), ("my tool", "'my tool'"), ("\u{1b}[2J", r#""$(printf '\033[2J')""#)] {
            assert_eq!(Tool::found(OsStr::new(word)).expect("a name").to_string(), shown);
        }
    }
}
