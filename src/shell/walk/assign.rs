//! Assignments.
#![forbid(unsafe_code)]

use super::Walker;
use super::state::{Standing, State};
use crate::shell::script::Assignment;
use crate::shell::syntax::tree::{Assign, Piece, Raw};
use crate::shell::word::Word;

impl Walker<'_> {
    /// Does them in their order; each one sees those before it.
    pub(super) fn assignments(&mut self, assigns: &[Assign], state: &mut State) -> Vec<Assignment> {
        let mut done = Vec::new();
        for Assign { name, element, appends, value: raw } in assigns {
            let value = match raw.as_slice() {
                [Piece::Array(words)] if !*element => {
                    self.array(name, words, *appends, state);
                    Word::unknown()
                }
                _ => {
                    let value = self.single(raw, state);
                    if *element {
                        state.forget(name);
                    } else {
                        assign(state, name, &value, *appends);
                    }
                    value
                }
            };
            done.push(Assignment { name: name.clone(), value, appends: *appends });
        }
        done
    }

    /// `NAME=(…)`, `NAME+=(…)`. Where its words are none that can be counted, they are known all the same.
    pub(super) fn array(&mut self, name: &[u8], words: &[Raw], appends: bool, state: &mut State) {
        let mut list = match (appends, state.variable(name)) {
            (false, _) => Some(Vec::new()),
            (true, Standing::List(before)) => Some(before.to_vec()),
            (true, _) => None,
        };
        for raw in words {
            // `[KEY]=VALUE` is another kind of array.
            if matches!(raw.first(), Some(Piece::Text { text, quoted: false }) if text.first() == Some(&b'['))
                || matches!(raw.first(), Some(Piece::Special(b'[') | Piece::Pattern(_)))
            {
                list = None;
            }
            let fields = self.fields(raw, state);
            list.iter_mut().for_each(|list| list.extend(fields.iter().cloned()));
        }
        match list {
            Some(list) => state.set_list(name, list),
            None => state.forget(name),
        }
    }
}

/// Gives a variable a value.
pub(super) fn assign(state: &mut State, name: &[u8], value: &Word, appends: bool) {
    let mut whole = Word::default();
    if appends {
        match state.variable(name) {
            Standing::Assigned(before) => whole.append(&before),
            Standing::List(_) | Standing::Untouched | Standing::Unknown => whole.append(&Word::unknown()),
        }
    }
    whole.append(value);
    state.set(name, whole);
}
