//! What options are called.
#![forbid(unsafe_code)]

use std::borrow::Cow;

/// What an option is called. Compared without being read: a word of a mebibyte is longer than any name.
#[derive(Debug, Clone)]
pub(super) enum Named<'a> {
    /// All names that the grammar has for it: `-p|--project-name`.
    Known(&'a str),
    /// As it was typed.
    Typed(Cow<'a, [u8]>),
}

impl Named<'_> {
    /// Whether it is one of these, written with their other names.
    pub(super) fn is(&self, asked: &str) -> bool {
        match self {
            Self::Known(own) => own.split('|').any(|own| has_name(asked, own.as_bytes())),
            Self::Typed(own) => has_name(asked, own),
        }
    }
}

/// Whether this is one of an option's names (`-p|--project-name`).
pub(super) fn has_name(names: &str, name: &[u8]) -> bool {
    names.split('|').any(|own| own.as_bytes() == name)
}

/// Whether one of these options is called so.
pub(super) fn has(options: &[String], name: &[u8]) -> bool {
    options.iter().any(|names| has_name(names, name))
}
