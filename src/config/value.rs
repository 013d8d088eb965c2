//! Values of settings, and where they come from.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::Layer;
use super::file::Store;

/// What is done about a file that was changed outside of `locked`; the later the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownBase {
    /// Nothing.
    Allow,
    /// It is said.
    Warn,
    /// Nothing is written.
    Refuse,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A time.
    Length(Duration),
    /// Yes or no.
    Flag(bool),
    /// One word.
    Text(String),
    /// Several.
    Words(Vec<String>),
    /// `unknown_base`.
    Base(UnknownBase),
    /// Names for names.
    Names(BTreeMap<String, String>),
    /// `store`.
    Store(Store),
}

impl Value {
    /// Is it more of the same kind than that: longer, stricter, on where the other is off?
    pub(super) fn is_more_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Length(one), Self::Length(other)) => one > other,
            (Self::Base(one), Self::Base(other)) => one > other,
            (Self::Flag(one), Self::Flag(other)) => one > other,
            _ => false,
        }
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nobody said it.
    BuiltIn,
    /// A file.
    File {
        /// Which.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// Whose.
        layer: Layer,
    },
    /// The repository's origin.
    Origin,
    /// A variable of this name.
    Variable(String),
    /// An option, as it is typed.
    Typed(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::Origin => f.write_str("origin"),
            // Debug quotes what does not print.
            Self::File { path, line, .. } => write!(f, "{path:?} line {line}"),
            Self::Variable(name) => f.write_str(name),
            Self::Typed(option) => f.write_str(option),
        }
    }
}

/// A value with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub from: Source,
}
