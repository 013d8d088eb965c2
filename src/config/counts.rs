//! What counts of all that the files say: a pure function over what was read. Later wins, but the file of a repository that
//! nobody has vouched for may only add: it came with whatever one checked out.
#![forbid(unsafe_code)]

mod tables;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::file::{Entry, File, Head};
use super::key::Untrusted;
use super::store::foreign;
use super::value::{Sourced, Value};
use super::{ConfigError, Key, Layer};

/// Has somebody vouched for what a file says?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is the machine's or the user's own.
    Own,
    /// It came with a repository, and is trusted.
    Trusted,
    /// It came with a repository.
    Untrusted,
}

/// A file with its standing.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) file: Arc<File>,
    pub(super) standing: Standing,
    /// What the repository's scope is without `scope`; none without a remote, or outside of any.
    pub(super) origin: Option<String>,
}

/// What is there before any file says anything: names that an untrusted file must not take.
#[derive(Clone, Copy)]
pub struct BuiltIn<'a> {
    /// Is it a rule of this name?
    pub rule: &'a dyn Fn(&str) -> bool,
    /// Is the command line of this program read already?
    pub program: &'a dyn Fn(&str) -> bool,
}

/// Something that was said and does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// The key; inside of a table that counts otherwise, the table's.
    pub key: Key,
    /// The key inside of the table.
    pub inner: Option<&'static str>,
    /// Where it stands.
    pub from: super::Source,
    /// Why, in half a sentence.
    pub why: &'static str,
    /// It would count in a trusted file.
    pub if_trusted: bool,
    /// A table that is one too many: the programs that it is about, none for any.
    pub beyond: Option<Vec<String>>,
}

/// A table that counts.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) file: Arc<File>,
    pub(super) head: Head,
    /// Keys of it that do not count.
    pub(super) without: Vec<&'static str>,
    /// It may only add to what others say.
    pub(super) adds_only: bool,
}

/// What counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    pub(super) values: BTreeMap<Key, Sourced<Value>>,
    pub(super) tables: Vec<Table>,
    pub(super) ignored: Vec<Ignored>,
}

/// What counts of these, the weakest first.
///
/// # Errors
/// An untrusted file names a foreign scope or store. That is not passed over: whoever wrote the file believes in it, and
/// without it the lock would be another than theirs.
pub(super) fn what_counts(readings: &[Reading], built_in: &BuiltIn<'_>) -> Result<Counted, ConfigError> {
    let mut counted = Counted::default();
    for reading in readings {
        checked(reading)?;
        for entry in &reading.file.entries {
            value(&mut counted, reading, entry);
        }
    }
    // What nobody vouches for is held against all that counts, also where that is said behind it.
    let (untrusted, vouched): (Vec<_>, Vec<_>) =
        readings.iter().partition(|reading| reading.standing == Standing::Untrusted);
    for reading in vouched.into_iter().chain(untrusted) {
        let below = counted.tables.len();
        for head in &reading.file.tables {
            tables::table(&mut counted, reading, head, below, built_in);
        }
    }
    Ok(counted)
}

/// Refuses a foreign scope and a foreign store.
fn checked(reading: &Reading) -> Result<(), ConfigError> {
    scope(reading)?;
    let untrusted = reading.standing == Standing::Untrusted;
    match reading.file.value(Key::Store) {
        Some(Value::Store(store)) if untrusted => foreign(store).map_or(Ok(()), |key| Err(distrusted(reading, key))),
        _ => Ok(()),
    }
}

/// The scope that the file gives its repository.
///
/// # Errors
/// It is not trusted and the scope is not origin's.
pub(super) fn scope(reading: &Reading) -> Result<Option<&str>, ConfigError> {
    match reading.file.value(Key::Scope) {
        Some(Value::Text(scope)) if reading.file.document.layer == Layer::Repository => {
            let fits = reading.standing == Standing::Trusted || reading.origin.as_ref() == Some(scope);
            if fits { Ok(Some(scope)) } else { Err(distrusted(reading, "scope")) }
        }
        _ => Ok(None),
    }
}

fn distrusted(reading: &Reading, key: &'static str) -> ConfigError {
    ConfigError::Untrusted { path: reading.file.document.path.clone(), key }
}

fn value(counted: &mut Counted, reading: &Reading, entry: &Entry) {
    let of_repository = reading.file.document.layer == Layer::Repository;
    let before = counted.values.get(&entry.key);
    let ready = entry.key.ready();
    let there = before.map(|it| &it.value).or(ready.as_ref());
    let is_more = || there.is_none_or(|there| entry.value.is_more_than(there));
    let of_another = |it: &Sourced<Value>| matches!(it.from, super::Source::File { layer: Layer::Repository, .. });
    let is_beside = reading.standing == Standing::Trusted && before.is_some_and(of_another);
    let mut why = entry.key.why();
    let counts = match (reading.standing, entry.key.untrusted()) {
        // The scope is one repository's: in a file for all of them it would make one of all.
        _ if entry.key == Key::Scope && !of_repository => {
            why = "it is for the file of one repository";
            false
        }
        (Standing::Own, _) => true,
        (_, Untrusted::Never) => false,
        // Of several repositories that one command writes to, the one that wants more is heard.
        (Standing::Trusted, Untrusted::More) => !is_beside || is_more(),
        (Standing::Trusted, _) | (Standing::Untrusted, Untrusted::Checked | Untrusted::Added) => true,
        (Standing::Untrusted, Untrusted::More) => is_more(),
        (Standing::Untrusted, Untrusted::Nothing) => false,
    };
    let from = reading.file.source(entry.line);
    if counts {
        let value = joined(there, &entry.value, reading.standing == Standing::Untrusted);
        counted.values.insert(entry.key, Sourced { value, from });
    } else if there != Some(&entry.value) && !is_beside {
        let if_trusted = of_repository && entry.key.untrusted() != Untrusted::Never;
        counted.ignored.push(Ignored { key: entry.key, inner: None, from, why, if_trusted, beyond: None });
    }
}

/// Names of hosts come together, alias by alias; a list of an untrusted file comes on top of the one that is there.
fn joined(before: Option<&Value>, value: &Value, untrusted: bool) -> Value {
    match (before, value) {
        (Some(Value::Names(before)), Value::Names(names)) => {
            let mut all = before.clone();
            all.extend(names.clone());
            Value::Names(all)
        }
        (Some(Value::Words(before)), Value::Words(words)) if untrusted => {
            let more = words.iter().filter(|word| !before.contains(word));
            Value::Words(before.iter().chain(more).cloned().collect())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests;
