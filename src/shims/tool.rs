//! The name of a program that a shim can stand in front of.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fmt;

use crate::program::is_our_name;

use super::ShimError;

/// One part of a path, and not our own name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tool(OsString);

impl Tool {
    /// Takes a word for a program's name.
    ///
    /// # Errors
    /// It is empty, has a `/` or begins with a dot or dash, or it is ours.
    pub fn named(word: &OsStr) -> Result<Self, ShimError> {
        let bytes = word.as_encoded_bytes();
        // What begins with a dot is hidden from `list`, and is how unfinished links are called.
        let is_name = !bytes.is_empty() && !bytes.contains(&b'/') && !bytes.contains(&0) && !b".-".contains(&bytes[0]);
        if !is_name {
            return Err(ShimError::NoName { name: word.to_string_lossy().into_owned() });
        }
        if is_our_name(word) { Err(ShimError::Ourselves) } else { Ok(Self(word.to_owned())) }
    }

    /// The name.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.to_string_lossy().fmt(f)
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
        ] {
            assert_eq!(Tool::named(OsStr::new(word)).is_ok(), fits, "{word}");
        }
    }
}
