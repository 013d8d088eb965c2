//! Assignments.
#![forbid(unsafe_code)]

use super::Walker;
use super::state::{Standing, State};
use crate::shell::script::Assignment;
use crate::shell::syntax::tree::Assign;
use crate::shell::word::Word;

impl Walker<'_> {
    /// Does them in their order; each one sees those before it.
    pub(super) fn assignments(&mut self, assigns: &[Assign], state: &mut State) -> Vec<Assignment> {
        let mut done = Vec::new();
        for Assign { name, element, appends, value } in assigns {
            let value = self.single(value, state);
            if *element {
                state.forget(name);
            } else {
                assign(state, name, &value, *appends);
            }
            done.push(Assignment { name: name.clone(), value, appends: *appends });
        }
        done
    }
}

/// Gives a variable a value.
pub(super) fn assign(state: &mut State, name: &[u8], value: &Word, appends: bool) {
    let mut whole = Word::default();
    if appends {
        match state.variable(name) {
            Standing::Assigned(before) => whole.append(&before),
            Standing::Untouched | Standing::Unknown => whole.append(&Word::unknown()),
        }
    }
    whole.append(value);
    state.set(name, whole);
}
