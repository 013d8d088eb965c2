//! What a script did to its variables before a command, and with which of them a program starts there.
//!
//! Facts: POSIX.1-2024, 2.5.3 and 2.12 (a variable of the environment keeps its export attribute when it is assigned
//! again); bash(1), `export`, `declare -x`, `set -a`.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::word::Word;

/// Every variable of which the script says something. The rest is as it was when the script was started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment(pub(super) Arc<BTreeMap<Vec<u8>, Variable>>);

impl Environment {
    /// The variables, by their names.
    pub fn each(&self) -> impl Iterator<Item = (&[u8], &Variable)> {
        self.0.iter().map(|(name, variable)| (name.as_slice(), variable))
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<&Variable> {
        self.0.get(name)
    }

    /// Whether it is the very same place of the script, as far as variables go.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// One variable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variable {
    /// Its value.
    pub value: Value,
    /// Whether programs see it.
    pub exported: Exported,
}

/// A variable's value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Value {
    /// As it was when the script was started.
    #[default]
    AsFound,
    /// This.
    Text(Arc<Word>),
    /// These, of an array; no program sees it.
    List(Arc<Vec<Word>>),
    /// It is gone.
    Unset,
}

/// Whether programs see a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exported {
    /// If the script was started with it.
    #[default]
    AsFound,
    /// They do.
    Yes,
    /// They do not.
    No,
    /// Only run time knows.
    Unsure,
}
