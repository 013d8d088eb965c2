//! What remains of what is known where two ways meet.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::state::{Parameters, State, Variables};
use crate::shell::environment::{Exported, Value, Variable};
use crate::shell::script::{Directory, Input};
use crate::shell::word::Word;

impl State {
    /// What holds on both ways.
    pub(super) fn join(self, other: Self) -> Self {
        if self.reachable != other.reachable {
            return if self.reachable { self } else { other };
        }
        // Only of the directory, and the way back, it is presumed that a `cd` worked.
        let (directory, previous, stack) = match (self.improbable, other.improbable) {
            (true, false) => (other.directory, other.previous, other.stack),
            (false, true) => (self.directory, self.previous, self.stack),
            _ => {
                let previous = if self.previous == other.previous { self.previous } else { Some(Directory::Unknown) };
                let stack = if self.stack == other.stack { self.stack } else { Arc::default() };
                let same = self.directory == other.directory;
                let directory = if same { self.directory } else { one_of(&[self.directory, other.directory]) };
                (directory, previous, stack)
            }
        };
        Self {
            variables: common(self.variables, &other.variables),
            others_unknown: self.others_unknown || other.others_unknown,
            exports_all: either(self.exports_all, other.exports_all),
            parameters: if self.parameters == other.parameters { self.parameters } else { Parameters::Unknown },
            defined: match Arc::ptr_eq(&self.defined, &other.defined) {
                true => self.defined,
                false => Arc::new(self.defined.intersection(&other.defined).cloned().collect()),
            },
            directory,
            previous,
            stack,
            input: if self.input == other.input { self.input } else { Input::Unknown },
            reachable: self.reachable,
            improbable: self.improbable && other.improbable,
            log: self.log,
        }
    }
}

/// More places than these are any.
const MOST_PLACES: usize = 4;

/// One of these directories.
pub(super) fn one_of(places: &[Directory]) -> Directory {
    let mut all: Vec<Directory> = Vec::new();
    for place in places {
        let each = match place {
            Directory::Either(each) => each,
            Directory::Unknown => return Directory::Unknown,
            place => std::slice::from_ref(place),
        };
        let new = each.iter().filter(|place| !all.contains(place)).cloned().collect::<Vec<_>>();
        all.extend(new);
    }
    match all.len() {
        1 => all.remove(0),
        2..=MOST_PLACES => Directory::Either(all.into()),
        _ => Directory::Unknown,
    }
}

fn either(one: Exported, other: Exported) -> Exported {
    if one == other { one } else { Exported::Unsure }
}

fn common(mut one: Variables, other: &Variables) -> Variables {
    if Arc::ptr_eq(&one, other) {
        return one;
    }
    let untouched = Variable::default();
    let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
    let pairs = names.map(|name| (name, one.get(name).unwrap_or(&untouched), other.get(name).unwrap_or(&untouched)));
    let differing = pairs.filter(|(_, mine, theirs)| mine != theirs).map(|(name, mine, theirs)| {
        let value = if mine.value == theirs.value { mine.value.clone() } else { unknown() };
        (name.clone(), Variable { value, exported: either(mine.exported, theirs.exported) })
    });
    let differing: Vec<_> = differing.collect();
    if !differing.is_empty() {
        Arc::make_mut(&mut one).extend(differing);
    }
    one
}

fn unknown() -> Value {
    Value::Text(Arc::new(Word::unknown()))
}
