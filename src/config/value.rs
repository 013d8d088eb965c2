//! Values of settings, and where they come from.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::terms::show_duration;

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

    /// As it is written in a file.
    #[must_use]
    pub fn toml(&self) -> String {
        // JSON's way to write a text is one of TOML's.
        let quoted = |text: &str| json!(text).to_string();
        match self {
            Self::Words(words) => format!("[{}]", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")),
            Self::Names(names) => {
                let pairs = names.iter().map(|(name, value)| format!("{} = {}", quoted(name), quoted(value)));
                format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
            }
            other => other.json().to_string(),
        }
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> Json {
        match self {
            Self::Length(length) => json!(show_duration(*length)),
            Self::Flag(flag) => json!(flag),
            Self::Text(text) => json!(text),
            Self::Words(words) => json!(words),
            Self::Names(names) => json!(names),
            Self::Base(UnknownBase::Allow) => json!("allow"),
            Self::Base(UnknownBase::Warn) => json!("warn"),
            Self::Base(UnknownBase::Refuse) => json!("refuse"),
            // Shown in a way of its own: an address may have a password.
            Self::Store(_) => Json::Null,
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
