//! The settings: what counts, ready to be asked for.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use super::counts::{Counted, Ignored, Table};
use super::fault::fault;
use super::value::{Source, Sourced, UnknownBase, Value};
use super::{ConfigError, Key};

/// What the files set together. Variables and options are for the caller to put over it.
#[derive(Debug, Clone, Default)]
pub struct Settings(pub(super) Counted);

/// A table of a file as a type, with what is to be known about it.
#[derive(Debug, Clone)]
pub struct Located<T> {
    /// The table.
    pub value: T,
    /// Where it begins.
    pub from: Source,
    /// It came with a repository that nobody has vouched for: it may add resources to what others say, and never stand in
    /// for it or let something pass.
    pub adds_only: bool,
}

impl Settings {
    /// A value as a file sets it, with its source.
    #[must_use]
    pub fn value(&self, key: Key) -> Option<&Sourced<Value>> {
        self.0.values.get(&key)
    }

    /// A time of a file.
    #[must_use]
    pub fn length(&self, key: Key) -> Option<Duration> {
        match self.value(key)?.value {
            Value::Length(length) => Some(length),
            _ => None,
        }
    }

    /// A time of a file, else the ready one; nothing where there is none.
    #[must_use]
    pub fn length_or_ready(&self, key: Key) -> Duration {
        match self.length(key).map(Value::Length).or_else(|| key.ready()) {
            Some(Value::Length(length)) => length,
            _ => Duration::ZERO,
        }
    }

    /// A flag of a file, else the ready one.
    #[must_use]
    pub fn flag(&self, key: Key) -> bool {
        let value = self.value(key).map(|it| it.value.clone()).or_else(|| key.ready());
        value == Some(Value::Flag(true))
    }

    /// A list of a file, else the ready one.
    #[must_use]
    pub fn words(&self, key: Key) -> Vec<String> {
        match self.value(key).map(|it| it.value.clone()).or_else(|| key.ready()) {
            Some(Value::Words(words)) => words,
            _ => Vec::new(),
        }
    }

    /// What is done about a file that was changed outside of `locked`.
    #[must_use]
    pub fn unknown_base(&self) -> UnknownBase {
        match self.value(Key::UnknownBase) {
            Some(Sourced { value: Value::Base(base), .. }) => *base,
            _ => UnknownBase::Warn,
        }
    }

    /// The canonical name of a host, when the settings have another for it.
    #[must_use]
    pub fn host(&self, alias: &str) -> Option<&str> {
        match &self.value(Key::Hosts)?.value {
            Value::Names(names) => names.get(&alias.to_ascii_lowercase()).map(String::as_str),
            _ => None,
        }
    }

    /// What was said and does not count.
    #[must_use]
    pub fn ignored(&self) -> &[Ignored] {
        &self.0.ignored
    }

    /// What the tables of this kind are called.
    pub fn called(&self, key: Key) -> impl Iterator<Item = &str> {
        let heads = self.0.tables.iter().map(|table| &table.head).filter(move |head| head.key == key);
        heads.flat_map(|head| head.called.iter().map(String::as_str))
    }

    /// How many tables of this kind count.
    #[must_use]
    pub fn count(&self, key: Key) -> usize {
        self.0.tables.iter().filter(|table| table.head.key == key).count()
    }

    /// The tables of this kind (`[[rule]]`…), the weakest first, without the keys that do not count. `fault` looks at each
    /// as a whole, and names the key that is wrong with what was expected there.
    ///
    /// # Errors
    /// One of them is not what it should be: file, line, column, and what was expected.
    pub fn tables<T: DeserializeOwned>(
        &self,
        key: Key,
        fault_of: &dyn Fn(&T) -> Option<(&'static str, String)>,
    ) -> Result<Vec<Located<T>>, ConfigError> {
        let mut found = Vec::new();
        let wanted: Vec<&Table> = self.0.tables.iter().filter(|table| table.head.key == key).collect();
        // A file is parsed once for all of its tables.
        for of_file in wanted.chunk_by(|one, other| std::sync::Arc::ptr_eq(&one.file, &other.file)) {
            let document = &of_file[0].file.document;
            let wrong = |error: &toml::de::Error| document.wrong(error.span().unwrap_or(0..0), fault(error.message()));
            let whole = DeTable::parse(&document.text).map_err(|error| wrong(&error))?;
            let name = key.name().trim_matches(['[', ']']);
            let Some(DeValue::Array(list)) = whole.get_ref().get(name).map(|it| it.get_ref()) else { continue };
            for table in of_file {
                let Some(mut spanned) = list.get(table.head.index).cloned() else { continue };
                let whole = spanned.span();
                // What is wrong with the table as a whole has no place of its own.
                let wrong = |error: &toml::de::Error| {
                    document.wrong(error.span().unwrap_or(whole.clone()), fault(error.message()))
                };
                let mut places = Vec::new();
                if let DeValue::Table(keys) = spanned.get_mut() {
                    for term in &table.without {
                        keys.remove(*term);
                    }
                    places.extend(keys.iter().map(|(key, value)| (key.get_ref().to_string(), value.span())));
                }
                let reader = toml::de::ValueDeserializer::from(spanned);
                let value = T::deserialize(reader).map_err(|error| wrong(&error))?;
                if let Some((key, what)) = fault_of(&value) {
                    // A key that is not there has no place; then it is the table's name that is looked for.
                    let place = [key, "name", "secret", "program"]
                        .into_iter()
                        .find_map(|key| places.iter().find(|(own, _)| own == key).map(|(_, place)| place.clone()));
                    return Err(document.wrong(place.unwrap_or(whole), what));
                }
                let from = table.file.source(table.head.line);
                found.push(Located { value, from, adds_only: table.adds_only });
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
