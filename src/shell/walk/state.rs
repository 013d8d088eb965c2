//! What is known at one place of a script.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::effect::Effects;
use crate::shell::environment::{Environment, Exported, Value, Variable};
use crate::shell::script::{Directory, Input};
use crate::shell::word::Word;

/// More variables than this are not followed.
const VARIABLES: usize = 128;

/// The longest value that is followed, in bytes.
const LONGEST_VALUE: usize = 4096;

#[derive(Debug, Clone)]
pub(super) struct State {
    /// What the script has done to variables. Shared until it changes, so that a fork costs nothing.
    pub(super) variables: Variables,
    /// Any other variable may have been changed too.
    pub(super) others_unknown: bool,
    /// Whether what is assigned is exported (`set -a`).
    pub(super) exports_all: Exported,
    pub(super) parameters: Parameters,
    /// Functions that are surely defined.
    pub(super) defined: Arc<BTreeSet<Vec<u8>>>,
    pub(super) directory: Directory,
    /// The one before it (`cd -`), if the script has moved.
    pub(super) previous: Option<Directory>,
    /// Those that `pushd` has put aside, as far as they are known, the last one last.
    pub(super) stack: Arc<Vec<Directory>>,
    pub(super) input: Input,
    /// False behind `exit` and its like.
    pub(super) reachable: bool,
    /// Only if a `cd` failed.
    pub(super) improbable: bool,
    /// In a quiet walk: what was changed.
    pub(super) log: Option<Rc<RefCell<Effects>>>,
}

pub(super) type Variables = Arc<BTreeMap<Vec<u8>, Variable>>;

/// `$1`, `$2`…
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parameters {
    /// Those that the script was started with.
    AsGiven,
    /// These.
    These(Arc<Vec<Word>>),
    Unknown,
}

/// What the script itself says of a variable.
pub(super) enum Standing {
    Assigned(Arc<Word>),
    /// An array.
    List(Arc<Vec<Word>>),
    /// Not touched: as it came from outside.
    Untouched,
    Unknown,
}

impl State {
    pub(super) fn start() -> Self {
        Self {
            variables: Arc::default(),
            others_unknown: false,
            exports_all: Exported::No,
            parameters: Parameters::AsGiven,
            defined: Arc::default(),
            directory: Directory::Start,
            previous: None,
            stack: Arc::default(),
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

    pub(super) fn environment(&self) -> Environment {
        Environment(Arc::clone(&self.variables))
    }

    pub(super) fn variable(&self, name: &[u8]) -> Standing {
        match self.variables.get(name).map(|variable| &variable.value) {
            Some(Value::Text(value)) => Standing::Assigned(Arc::clone(value)),
            Some(Value::List(words)) => Standing::List(Arc::clone(words)),
            Some(Value::Unset) => Standing::Unknown,
            None | Some(Value::AsFound) if self.others_unknown => Standing::Unknown,
            None | Some(Value::AsFound) => Standing::Untouched,
        }
    }

    pub(super) fn is_assigned(&self, name: &[u8]) -> bool {
        self.variables.get(name).is_some_and(|variable| variable.value != Value::AsFound)
    }

    pub(super) fn set(&mut self, name: &[u8], value: Word) {
        let length: usize = value.parts().iter().map(super::fields::length).sum();
        let value = if length > LONGEST_VALUE { Word::unknown() } else { value };
        self.put(name, Value::Text(Arc::new(value)));
    }

    /// Gives an array its words.
    pub(super) fn set_list(&mut self, name: &[u8], words: Vec<Word>) {
        let length: usize = words.iter().flat_map(Word::parts).map(super::fields::length).sum();
        let fits = length + words.len() <= LONGEST_VALUE;
        self.put(name, if fits { Value::List(Arc::new(words)) } else { Value::Text(Arc::new(Word::unknown())) });
    }

    fn put(&mut self, name: &[u8], value: Value) {
        self.note(|log| log.names.extend([name.to_vec()]));
        let exports_all = self.exports_all;
        self.change(name, |variable| {
            variable.value = value;
            match exports_all {
                Exported::Yes => variable.exported = Exported::Yes,
                Exported::Unsure if variable.exported != Exported::Yes => variable.exported = Exported::Unsure,
                _ => {}
            }
        });
    }

    pub(super) fn forget(&mut self, name: &[u8]) {
        self.set(name, Word::unknown());
    }

    /// `export`, or what takes it back.
    pub(super) fn export(&mut self, name: &[u8], exported: Exported) {
        self.note(|log| log.exports.extend([name.to_vec()]));
        self.change(name, |variable| variable.exported = exported);
    }

    /// `unset`.
    pub(super) fn unset(&mut self, name: &[u8]) {
        self.forget(name);
        self.export(name, Exported::No);
        self.change(name, |variable| variable.value = Value::Unset);
    }

    /// `set -a`, `set +a`.
    pub(super) fn export_all(&mut self, exported: Exported) {
        self.note(|log| log.exports_all = true);
        self.exports_all = exported;
    }

    fn change(&mut self, name: &[u8], change: impl FnOnce(&mut Variable)) {
        if self.variables.len() >= VARIABLES && !self.variables.contains_key(name) {
            self.others_unknown = true;
            return;
        }
        change(Arc::make_mut(&mut self.variables).entry(name.to_vec()).or_default());
    }

    /// A variable is again as it was.
    pub(super) fn restore(&mut self, name: &[u8], before: &Self) {
        let variables = Arc::make_mut(&mut self.variables);
        match before.variables.get(name) {
            Some(variable) => drop(variables.insert(name.to_vec(), variable.clone())),
            None => drop(variables.remove(name)),
        }
    }

    /// Anything may have happened.
    pub(super) fn forget_all(&mut self) {
        self.forget_variables();
        self.note(|log| log.everything = true);
        self.parameters = Parameters::Unknown;
        self.lose_the_way();
    }

    /// Any variable may be another.
    pub(super) fn forget_variables(&mut self) {
        self.note(|log| log.variables = true);
        for variable in Arc::make_mut(&mut self.variables).values_mut() {
            variable.value = Value::Text(Arc::new(Word::unknown()));
        }
        self.others_unknown = true;
    }

    pub(super) fn move_to(&mut self, directory: Directory) {
        self.note(|log| log.directory = true);
        self.previous = Some(std::mem::replace(&mut self.directory, directory));
    }

    /// It may be anywhere, and so may the way back lead anywhere.
    pub(super) fn lose_the_way(&mut self) {
        self.note(|log| log.directory = true);
        self.directory = Directory::Unknown;
        self.previous = Some(Directory::Unknown);
        self.stack = Arc::default();
    }

    pub(super) fn set_parameters(&mut self, parameters: Parameters) {
        self.note(|log| log.parameters = true);
        self.parameters = parameters;
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

    /// This, or the other.
    pub(super) fn or(self, other: Self) -> Self {
        Self { success: self.success.join(other.success), failure: self.failure.join(other.failure) }
    }

    pub(super) fn joined(self) -> State {
        self.success.join(self.failure)
    }
}
