//! One file of settings: what it sets, each with its place.
#![forbid(unsafe_code)]

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;
use toml::de::DeTable;

use super::document::{Document, Lines};
use super::fault::fault;
use super::pattern::Pattern;
use super::value::{Source, Value};
use super::written::{Checked, Form, Host, Written};
use super::{ConfigError, Key, Layer, name};

/// `store = { … }`. No `Debug` of what it holds: an address can have a password.
#[derive(Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// The address itself.
    pub(super) url: Option<String>,
    /// The variable that has it.
    pub(super) url_env: Option<String>,
    /// The SOPS file that has it.
    pub(super) url_sops: Option<InSops>,
    /// `ssh://[user@]host[:port]`: the way there.
    pub(super) via: Option<String>,
    /// Session locks of the server instead of the ledger.
    #[serde(default)]
    pub(super) advisory: bool,
    /// What the advisory store does when the server cannot be reached: `deny` or `local`.
    pub(super) on_unreachable: Option<super::OnUnreachable>,
}

impl Store {
    /// What it says, without what may be a password: `place` tells where an address leads.
    #[must_use]
    pub fn shown(&self, place: &dyn Fn(&str) -> String) -> serde_json::Value {
        let mut said = serde_json::Map::new();
        let mut say =
            |name: &str, value: Option<serde_json::Value>| said.extend(value.map(|value| (name.to_owned(), value)));
        say("at", self.url.as_deref().map(|url| place(url).into()));
        say("url_env", self.url_env.clone().map(Into::into));
        say("file", self.url_sops.as_ref().map(|it| it.file.display().to_string().into()));
        say("key", self.url_sops.as_ref().map(|it| it.key.clone().into()));
        // `ssh://user@host`: whoever puts a password there shall not find it here.
        say("via", self.via.as_deref().and_then(|via| via.rsplit(['@', '/']).next()).map(Into::into));
        say("advisory", self.advisory.then(|| true.into()));
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
    /// What it is called: `name`, in `[[rotation]]` the secret.
    pub(super) name: Option<String>,
    /// The programs that a `[[rule]]` is about.
    pub(super) program: Vec<String>,
    /// The keys that it sets.
    pub(super) sets: Vec<String>,
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

/// What has a form that the TOML reader does not know of.
fn check(document: &Document, written: &Written) -> Result<(), ConfigError> {
    let wrong = |at: Range<usize>, expected: &str| {
        document.wrong(at, format!("a value of the wrong form, expected {expected}"))
    };
    for pattern in written.trust.repositories.iter().flat_map(|list| list.get_ref()) {
        Pattern::read(pattern.get_ref()).ok_or_else(|| wrong(pattern.span(), Pattern::EXPECTED))?;
    }
    for alias in written.hosts.iter().flat_map(|hosts| hosts.get_ref().keys()) {
        Host::read(alias.get_ref()).ok_or_else(|| wrong(alias.span(), Host::EXPECTED))?;
    }
    let no_name = |key| ConfigError::NoName { path: document.path.clone(), key };
    let names = written.session.env.iter().flat_map(|env| env.get_ref());
    if !names.into_iter().all(|name| name::is_name(name)) {
        return Err(no_name(Key::SessionEnv.name()));
    }
    let variable = written.store.as_ref().and_then(|store| store.get_ref().url_env.as_ref());
    if variable.is_some_and(|name| !name::is_name(name)) { Err(no_name("store.url_env")) } else { Ok(()) }
}

fn heads(lines: &Lines, written: &Written) -> Vec<Head> {
    let kinds = [
        (Key::Rule, &written.rule, "name"),
        (Key::Program, &written.program, "name"),
        (Key::Zone, &written.zone, "name"),
        (Key::Safe, &written.safe, "name"),
        (Key::Rotation, &written.rotation, "secret"),
    ];
    let mut heads = Vec::new();
    for (key, tables, called) in kinds {
        heads.extend(tables.iter().enumerate().map(|(index, table)| Head {
            key,
            index,
            line: lines.of(table.span().start),
            name: table.get_ref().get(called).and_then(|name| name.as_str()).map(str::to_owned),
            program: table.get_ref().get("program").map_or_else(Vec::new, texts_of),
            sets: table.get_ref().keys().cloned().collect(),
        }));
    }
    heads
}

/// One text, or a list of them.
fn texts_of(value: &toml::Value) -> Vec<String> {
    let one = value.as_str().map(str::to_owned);
    let list = value.as_array().into_iter().flatten().filter_map(|it| it.as_str()).map(str::to_owned);
    one.into_iter().chain(list).collect()
}

/// The keys that are set, in the order of [`Key::ALL`].
fn entries(lines: &Lines, written: Written) -> Vec<Entry> {
    fn entry<T>(lines: &Lines, key: Key, spanned: Option<Spanned<T>>, value: impl FnOnce(T) -> Value) -> Option<Entry> {
        spanned.map(|spanned| {
            let line = lines.of(spanned.span().start);
            Entry { key, value: value(spanned.into_inner()), line }
        })
    }
    let length =
        |key, spanned| entry(lines, key, spanned, |Checked::<super::written::Length>(length)| Value::Length(length));
    let flag = |key, spanned| entry(lines, key, spanned, Value::Flag);
    let texts = |list: Vec<Spanned<String>>| Value::Words(list.into_iter().map(Spanned::into_inner).collect());
    let names = |names: std::collections::BTreeMap<Spanned<String>, Checked<Host>>| {
        Value::Names(
            names.into_iter().map(|(alias, Checked(host))| (alias.into_inner().to_ascii_lowercase(), host)).collect(),
        )
    };
    [
        entry(lines, Key::Scope, written.scope, |Checked(scope)| Value::Text(scope)),
        entry(lines, Key::Store, written.store, Value::Store),
        length(Key::Wait, written.wait),
        length(Key::Ttl, written.ttl),
        length(Key::Heartbeat, written.heartbeat),
        length(Key::RenewDeadline, written.renew_deadline),
        length(Key::Grace, written.grace),
        entry(lines, Key::UnknownBase, written.unknown_base, Value::Base),
        length(Key::RemoteHold, written.remote_hold),
        length(Key::StoppedMax, written.stopped_max),
        length(Key::MaxHold, written.max_hold),
        length(Key::KeepFor, written.keep_for),
        flag(Key::Canary, written.canary),
        entry(lines, Key::SessionEnv, written.session.env, Value::Words),
        entry(lines, Key::TrustRepositories, written.trust.repositories, texts),
        entry(lines, Key::Hosts, written.hosts, names),
        flag(Key::SshAsk, written.ssh.ask),
        entry(lines, Key::GhWorkflows, written.gh.workflows, |list| {
            Value::Words(list.into_iter().map(|Checked(word)| word).collect())
        }),
        length(Key::GhHoldFor, written.gh.hold_for),
        flag(Key::GhFollow, written.gh.follow),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests;
