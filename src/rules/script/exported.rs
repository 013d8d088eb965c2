//! With which variables a program of a script starts: what the script exports until there, on top of what is around it.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;

use super::{Reader, os};
use crate::rules::set::Set;
use crate::rules::step::UNKNOWN;
use crate::shell::{Environment, Exported, Simple, Value, Variable};

/// What is set at the place of the script that was asked for last: many commands stand at one.
#[derive(Default)]
pub(super) struct Place {
    last: RefCell<Option<(Environment, Set)>>,
    /// Whether the script was started with these variables.
    found: RefCell<BTreeMap<Vec<u8>, bool>>,
}

impl Reader<'_, '_> {
    /// The environment at a place of the script.
    pub(super) fn set(&self, place: &Environment) -> Set {
        if let Some((_, set)) = self.place.last.borrow().as_ref().filter(|(last, _)| last.is(place)) {
            return set.clone();
        }
        let said = place.each().filter_map(|(name, variable)| {
            Some((std::str::from_utf8(name).ok()?.into(), self.exported(name, variable)?))
        });
        let set = self.around.env.and_some(said.collect());
        *self.place.last.borrow_mut() = Some((place.clone(), set.clone()));
        set
    }

    /// What programs see of a variable, if the script says it: its value, or that there is none.
    fn exported(&self, name: &[u8], variable: &Variable) -> Option<Option<OsString>> {
        // POSIX: what came with the environment stays in it.
        if variable.exported == Exported::AsFound && !self.was_found(name) {
            return None;
        }
        let value = match &variable.value {
            Value::AsFound => None,
            Value::Text(word) => Some(Some(self.word(word))),
            Value::List(_) | Value::Unset => Some(None),
        };
        match variable.exported {
            Exported::Yes | Exported::AsFound => value,
            Exported::No => Some(None),
            Exported::Unsure => match value? {
                Some(value) if self.value(name).is_some_and(|found| found == value.as_encoded_bytes()) => None,
                _ => Some(Some(os(vec![UNKNOWN]))),
            },
        }
    }

    fn was_found(&self, name: &[u8]) -> bool {
        if let Some(found) = self.place.found.borrow().get(name) {
            return *found;
        }
        let found = self.value(name).is_some();
        self.place.found.borrow_mut().insert(name.to_vec(), found);
        found
    }

    /// The value that `NAME+=` adds to.
    pub(super) fn before(&self, simple: &Simple, name: &[u8]) -> OsString {
        match simple.environment.get(name).map(|variable| &variable.value) {
            Some(Value::Text(word)) => self.word(word),
            Some(Value::Unset) => OsString::new(),
            Some(Value::List(_)) => os(vec![UNKNOWN]),
            None | Some(Value::AsFound) => os(self.value(name).unwrap_or_default()),
        }
    }
}
