//! What is known at one place of a script, and what remains of it where two ways meet.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::effect::Effects;
use crate::shell::script::{Directory, Input};
use crate::shell::word::Word;

/// More variables than this are not followed.
const VARIABLES: usize = 128;

/// The longest value that is followed, in bytes.
const LONGEST_VALUE: usize = 4096;

#[derive(Debug, Clone)]
pub(super) struct State {
    /// What the script has assigned. Shared until it changes, so that a fork costs nothing.
    variables: Rc<BTreeMap<Vec<u8>, Rc<Word>>>,
    /// Any other variable may have been changed too.
    others_unknown: bool,
    /// `$1`… are those that the script was started with.
    pub(super) parameters_as_given: bool,
    pub(super) directory: Directory,
    pub(super) input: Input,
    /// False behind `exit` and its like.
    pub(super) reachable: bool,
    /// Only if a `cd` failed.
    pub(super) improbable: bool,
    /// In a quiet walk: what was changed.
    pub(super) log: Option<Rc<RefCell<Effects>>>,
}

/// What the script itself says of a variable.
pub(super) enum Standing {
    Assigned(Rc<Word>),
    /// Not touched: as it came from outside.
    Untouched,
    Unknown,
}

impl State {
    pub(super) fn start() -> Self {
        Self {
            variables: Rc::default(),
            others_unknown: false,
            parameters_as_given: true,
            directory: Directory::Start,
            input: Input::Inherited,
            reachable: true,
            improbable: false,
            log: None,
        }
    }

    /// The same where standard input is another one.
    pub(super) fn with_input(&self, input: Input) -> Self {
        Self { input, ..self.clone() }
    }

    /// The same with its changes written to a log.
    pub(super) fn logged(&self, log: &Rc<RefCell<Effects>>) -> Self {
        Self { log: Some(Rc::clone(log)), ..self.clone() }
    }

    pub(super) fn variable(&self, name: &[u8]) -> Standing {
        match self.variables.get(name) {
            Some(value) => Standing::Assigned(Rc::clone(value)),
            None if self.others_unknown => Standing::Unknown,
            None => Standing::Untouched,
        }
    }

    pub(super) fn is_assigned(&self, name: &[u8]) -> bool {
        self.variables.contains_key(name)
    }

    pub(super) fn set(&mut self, name: &[u8], value: Word) {
        self.note(|log| log.names.extend([name.to_vec()]));
        let length: usize = value.parts().iter().map(crate::shell::walk::fields::length).sum();
        let value = if length > LONGEST_VALUE { Word::unknown() } else { value };
        if self.variables.len() >= VARIABLES && !self.is_assigned(name) {
            self.others_unknown = true;
            return;
        }
        Rc::make_mut(&mut self.variables).insert(name.to_vec(), Rc::new(value));
    }

    pub(super) fn forget(&mut self, name: &[u8]) {
        self.set(name, Word::unknown());
    }

    /// Anything may have happened.
    pub(super) fn forget_all(&mut self) {
        self.note(|log| log.everything = true);
        self.variables = Rc::default();
        self.others_unknown = true;
        self.parameters_as_given = false;
        self.directory = Directory::Unknown;
    }

    pub(super) fn move_to(&mut self, directory: Directory) {
        self.note(|log| log.directory = true);
        self.directory = directory;
    }

    pub(super) fn lose_parameters(&mut self) {
        self.note(|log| log.parameters = true);
        self.parameters_as_given = false;
    }

    pub(super) fn read_from(&mut self, input: Input) {
        self.note(|log| log.input = true);
        self.input = input;
    }

    fn note(&self, change: impl FnOnce(&mut Effects)) {
        if let Some(log) = &self.log {
            change(&mut log.borrow_mut());
        }
    }

    /// What holds on both ways.
    pub(super) fn join(self, other: Self) -> Self {
        if self.reachable != other.reachable {
            return if self.reachable { self } else { other };
        }
        // Only of the directory it is presumed that a `cd` worked.
        let directory = match (self.improbable, other.improbable) {
            (true, false) => other.directory,
            (false, true) => self.directory,
            _ if self.directory == other.directory => self.directory,
            _ => Directory::Unknown,
        };
        Self {
            variables: common(self.variables, &other.variables),
            others_unknown: self.others_unknown || other.others_unknown,
            parameters_as_given: self.parameters_as_given && other.parameters_as_given,
            directory,
            input: if self.input == other.input { self.input } else { Input::Unknown },
            reachable: self.reachable,
            improbable: self.improbable && other.improbable,
            log: self.log,
        }
    }
}

type Variables = Rc<BTreeMap<Vec<u8>, Rc<Word>>>;

fn common(mut one: Variables, other: &Variables) -> Variables {
    if Rc::ptr_eq(&one, other) {
        return one;
    }
    let same = |name: &Vec<u8>, value: &Rc<Word>| {
        other.get(name).is_some_and(|theirs| Rc::ptr_eq(value, theirs) || value == theirs)
    };
    let differing = one.iter().filter(|(name, value)| !same(name, value)).map(|(name, _)| name.clone());
    let missing = other.keys().filter(|name| !one.contains_key(*name)).cloned();
    let unknown: Vec<Vec<u8>> = differing.chain(missing).collect();
    if !unknown.is_empty() {
        let variables = Rc::make_mut(&mut one);
        unknown.into_iter().for_each(|name| drop(variables.insert(name, Rc::new(Word::unknown()))));
    }
    one
}

/// The state behind a command when it succeeded, and when it failed.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    pub(super) success: State,
    pub(super) failure: State,
}

impl Flow {
    pub(super) fn both(state: State) -> Self {
        Self { success: state.clone(), failure: state }
    }

    pub(super) fn joined(self) -> State {
        self.success.join(self.failure)
    }
}
