//! Simple commands: they are noted, and what the shell's own do to what follows is done.
#![forbid(unsafe_code)]

use super::redirect::input;
use super::state::{Flow, State};
use super::{Walker, builtin};
use crate::shell::script::Simple;
use crate::shell::syntax::tree::{Assign, Raw, Redirect};
use crate::shell::word::Word;

impl Walker<'_> {
    pub(super) fn simple(
        &mut self,
        assigns: &[Assign],
        raws: &[Raw],
        redirects: &[Redirect],
        mut state: State,
    ) -> Flow {
        let words = self.words(raws, &mut state);
        // Whether a target sees what the same command assigns, shells answer differently.
        let mut seen = state.clone();
        seen.log = None;
        assigns.iter().for_each(|assign| seen.forget(&assign.name));
        let redirections = self.redirections(redirects, if assigns.is_empty() { &mut state } else { &mut seen });
        let mut assigned = state.clone();
        if !words.is_empty() {
            assigned.log = None;
        }
        let assignments = self.assignments(assigns, &mut assigned);
        let input = input(&redirections, self.commands.len(), state.input);
        let directory = state.directory.clone();
        self.note(Simple { assignments, words: words.clone(), redirections, directory, input });
        if words.is_empty() {
            return Flow::both(assigned);
        }
        if builtin::keeps_assignments(&words) || self.calls_function(&words) {
            assigns.iter().for_each(|assign| state.forget(&assign.name));
        }
        self.aftermath(&words, input, state)
    }

    /// The words of a command. Those of `export` and its like are not split behind `NAME=`.
    pub(super) fn words(&mut self, raws: &[Raw], state: &mut State) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        for raw in raws {
            if builtin::declares(&words) && builtin::is_declaration(raw) {
                let word = self.single(raw, state);
                words.push(word);
            } else {
                let fields = self.fields(raw, state);
                words.extend(fields);
            }
        }
        words
    }

    pub(super) fn note(&mut self, command: Simple) {
        let is_nothing = command.words.is_empty() && command.assignments.is_empty() && command.redirections.is_empty();
        if !self.quiet && !is_nothing {
            self.latest = self.commands.len();
            self.commands.push(command);
        }
    }
}
