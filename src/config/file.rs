//! One file of settings: what it sets, each with its place.
#![forbid(unsafe_code)]

mod parts;
mod runs;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;
use toml::de::DeTable;

use self::parts::{check, entries, heads};
use crate::terms::{Span, show_duration};

use super::document::Document;
use super::fault::fault;
use super::value::{Source, Value};
use super::written::Written;
use super::{ConfigError, Key, Layer};

/// `store = { … }`. No `Debug` of what it holds: an address can have a password.
#[derive(Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// The address itself.
    pub(super) url: Option<String>,
    /// The variable that has it.
    pub(super) url_env: Option<Spanned<String>>,
    /// The SOPS file that has it.
    pub(super) url_sops: Option<InSops>,
    /// The schema of its database that has the leases.
    pub(super) schema: Option<String>,
    /// `ssh://[user@]host[:port]`: the way there.
    pub(super) via: Option<String>,
    /// Session locks of the server instead of the ledger.
    #[serde(default)]
    pub(super) advisory: bool,
    /// What the advisory store does when the server cannot be reached: `deny` or `local`.
    pub(super) on_unreachable: Option<super::OnUnreachable>,
    /// For how long a relay keeps connections warm after the last command.
    pub(super) relay: Option<Span>,
}

impl Store {
    /// What it says, without what may be a password: `place` tells where an address leads.
    #[must_use]
    pub fn shown(&self, place: &dyn Fn(&str) -> String) -> serde_json::Value {
        let mut said = serde_json::Map::new();
        let mut say =
            |name: &str, value: Option<serde_json::Value>| said.extend(value.map(|value| (name.to_owned(), value)));
        say("at", self.url.as_deref().map(|url| place(url).into()));
        say("url_env", self.url_env.clone().map(|name| name.into_inner().into()));
        say("file", self.url_sops.as_ref().map(|it| it.file.display().to_string().into()));
        say("key", self.url_sops.as_ref().map(|it| it.key.clone().into()));
        say("schema", self.schema.clone().map(Into::into));
        // `ssh://user@host`: whoever puts a password there shall not find it here.
        say("via", self.via.as_deref().and_then(|via| via.rsplit(['@', '/']).next()).map(Into::into));
        say("advisory", self.advisory.then(|| true.into()));
        say("relay", self.relay.map(|span| show_duration(span.0).into()));
        said.into()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("advisory", &self.advisory).finish_non_exhaustive()
    }
}

/// A value inside a SOPS file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InSops {
    /// The file, from where the settings lie.
    pub(super) file: PathBuf,
    /// Its key at the top.
    pub(super) key: String,
}

/// What a file sets.
#[derive(Debug, Clone)]
pub struct File {
    /// Where it stands.
    pub document: Document,
    pub(super) entries: Vec<Entry>,
    pub(super) tables: Vec<Head>,
}

/// The file of a repository has no more tables: whoever checked it out pays for each of them at every command.
const MOST_TABLES: usize = 256;

/// One key with its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) value: Value,
    pub(super) line: usize,
}

/// What is known of a `[[rule]]` or one of its kin before it is read whole.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) key: Key,
    /// The how manieth of its key in the file.
    pub(super) index: usize,
    pub(super) line: usize,
    /// What it is called: `name`, of which a `[[program]]` may have several; in `[[rotation]]` the secret.
    pub(super) called: Vec<String>,
    /// The programs that a `[[rule]]` is about.
    pub(super) program: Vec<String>,
    /// The keys that it sets.
    pub(super) sets: Vec<String>,
    /// The command of its `canary`.
    pub(super) canary: Vec<String>,
    /// It follows what it sets off.
    pub(super) follows: bool,
    /// What a `[[rule]]` holds, as it is written.
    pub(super) holds: Vec<String>,
    /// The command lines that enter a `[[zone]]`, as they are written.
    pub(super) commands: Vec<String>,
    /// Whether it counts hangs on what words, values or texts of a line say, letter by letter.
    pub(super) spells: bool,
}

impl File {
    /// Reads it; none when it is not there.
    pub(super) fn read(path: &Path, layer: Layer) -> Result<Option<Self>, ConfigError> {
        Document::read(path, layer)?.map(Self::of).transpose()
    }

    /// Reads what stands in the document.
    pub(super) fn of(document: Document) -> Result<Self, ConfigError> {
        let wrong = |error: &toml::de::Error| document.wrong(error.span().unwrap_or(0..0), fault(error.message()));
        let table = DeTable::parse(&document.text).map_err(|error| wrong(&error))?;
        let written = Written::deserialize(toml::de::Deserializer::from(table)).map_err(|error| wrong(&error))?;
        check(&document, &written)?;
        let lines = document.lines();
        let tables = heads(&lines, &written);
        let entries = entries(&lines, written);
        if document.layer == Layer::Repository && tables.len() > MOST_TABLES {
            let at = document.text.match_indices('\n').nth(tables[MOST_TABLES].line.saturating_sub(2));
            let at = at.map_or(0, |(at, _)| at + 1);
            return Err(
                document.wrong(at..at, "the file of a repository has at most 256 tables ([[rule]] and its kin)")
            );
        }
        Ok(Self { document, entries, tables })
    }

    /// The names of what it sets, each once.
    #[must_use]
    pub fn sets(&self) -> Vec<&'static str> {
        let keys = self.entries.iter().map(|entry| entry.key).chain(self.tables.iter().map(|head| head.key));
        let mut names: Vec<&'static str> = keys.map(Key::name).collect();
        names.dedup();
        names
    }

    /// The value of a key.
    pub(super) fn value(&self, key: Key) -> Option<&Value> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The source of what stands on this line.
    pub(super) fn source(&self, line: usize) -> Source {
        Source::File { path: self.document.path.clone(), line, layer: self.document.layer }
    }
}

#[cfg(test)]
mod tests;
