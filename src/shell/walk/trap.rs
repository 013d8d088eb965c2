//! `trap`: what runs at a signal, or at the end.
#![forbid(unsafe_code)]

use super::function::lose;
use super::state::State;
use super::{Walker, effect};
use crate::shell::script::Input;
use crate::shell::syntax::tree::List;
use crate::shell::word::Word;

/// What a trap runs, with what held where it was set.
pub(super) struct Trap {
    action: List,
    state: State,
    /// It was set in a subshell, whose end is not looked for.
    lost: bool,
}

impl Walker<'_> {
    /// `trap`: its first word is a script that may run at any time later.
    pub(super) fn trap(&mut self, arguments: &[Word], state: &mut State) {
        let mut words = arguments.iter().skip_while(|word| word.known() == Some(b"--"));
        let action = words.next();
        if action.is_none_or(|action| matches!(action.known(), Some(b"" | b"-" | b"-l" | b"-p"))) {
            return;
        }
        let Some((tree, complete)) = self.script_of(action.map_or(&[], std::slice::from_ref)) else { return };
        self.complete &= complete;
        self.learn_functions(&tree);
        // At the end nothing comes behind it that it could change.
        let at_the_end = words.all(|word| matches!(word.known(), Some(b"EXIT" | b"0" | b"exit")));
        if self.quiet {
            if !at_the_end {
                self.list(&tree, state.clone());
            }
            return;
        }
        let set_in = state.clone();
        if !at_the_end && self.effects(&[&tree], state, &[]) != effect::Effects::default() {
            state.forget_all();
        }
        self.traps.push(Trap { action: tree, state: set_in, lost: self.subshells > 0 });
    }

    /// Walks the actions of traps, each with what no command of the script changes.
    pub(super) fn sprung_traps(&mut self, script: &List) {
        if self.traps.is_empty() {
            return;
        }
        let start = State::start();
        let effects = self.effects(&[script], &start, &[]);
        // An action may set another trap.
        while !self.traps.is_empty() {
            for Trap { action, mut state, lost } in std::mem::take(&mut self.traps) {
                effects.apply(&mut state);
                if lost {
                    lose(&self.names_touched(), &mut state);
                }
                state.input = Input::Unknown;
                state.reachable = true;
                self.list(&action, state);
            }
        }
    }
}
