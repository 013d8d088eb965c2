//! What a connection string says, word for word, before it means anything.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt;

use super::error::AddressError;
use super::keyword::{Word, word};

/// The parameters that a string, a service or the environment gave. Values are never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    values: BTreeMap<&'static str, String>,
    foreign: Vec<&'static str>,
    doubtful: bool,
}

impl Parameters {
    /// The value of a parameter, if it was given; it may be empty.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Every given parameter in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.values.iter().map(|(key, value)| (*key, value.as_str()))
    }

    /// Words of other programs that were dropped.
    pub(super) fn foreign(&self) -> &[&'static str] {
        &self.foreign
    }

    /// The string may have been read otherwise than its writer meant: nothing that was read from it is shown.
    #[must_use]
    pub fn doubtful(&self) -> bool {
        self.doubtful
    }

    pub(super) fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Like libpq: the last one wins within a string.
    pub(super) fn put(&mut self, key: &'static str, value: String) {
        self.values.insert(key, value);
    }

    /// A default: whoever spoke before wins.
    pub(super) fn put_default(&mut self, key: &'static str, value: impl FnOnce() -> Option<String>) {
        if !self.values.contains_key(key)
            && let Some(value) = value()
        {
            self.values.insert(key, value);
        }
    }

    /// A word with its value as it stands in a string. `nameable`: the word cannot be part of a password.
    pub(super) fn put_word(&mut self, name: &str, value: String, nameable: bool) -> Result<&'static str, AddressError> {
        // libpq's old spelling of a mode.
        if name == "requiressl" {
            self.put("sslmode", if value.starts_with('1') { "require" } else { "prefer" }.to_owned());
            return Ok("sslmode");
        }
        match word(name) {
            Word::Known(key) => {
                self.put(key, value);
                Ok(key)
            }
            Word::Foreign(key) => {
                if !self.foreign.contains(&key) {
                    self.foreign.push(key);
                }
                Ok(key)
            }
            Word::Unknown => {
                let plain = name.len() <= 63 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b));
                Err(AddressError::Unknown { name: (nameable && plain).then(|| name.to_owned()) })
            }
        }
    }
}

impl fmt::Debug for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}
