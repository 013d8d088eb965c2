//! Simple commands: they are noted, and what the shell's own do to what follows is done.
#![forbid(unsafe_code)]

use super::redirect::input;
use super::state::{Flow, State};
use super::{Walker, builtin};
use crate::shell::script::Simple;
use crate::shell::syntax::is_name;
use crate::shell::syntax::tree::{Assign, Piece, Raw, Redirect};
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
        self.runs_unknown_line(&words);
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
        let function = self.function_called(&words);
        let simple = Simple {
            assignments,
            words: words.clone(),
            redirections,
            directory: state.directory.clone(),
            input,
            environment: state.environment(),
            is_call: function.is_some(),
        };
        let at = self.commands.len();
        if self.aliases.is_empty() {
            self.note(simple);
        } else {
            self.note(simple.clone());
            self.note_with_alias(raws, &simple, &state);
        }
        let mut flow = if words.is_empty() {
            Flow::both(assigned)
        } else if let Some((name, place)) = function {
            let state = if self.quiet { state } else { assigned };
            self.call(&name, &words[place + 1..], assigns, input, state)
        } else {
            if builtin::keeps_assignments(&words) {
                assigns.iter().for_each(|assign| state.forget(&assign.name));
            }
            self.aftermath(&words, input, state)
        };
        if builtin::declares(&words) {
            self.declared_arrays(raws, &mut flow);
        }
        self.begun = at;
        flow
    }

    /// `declare -a NAME=(…)`, whose words were walked already.
    fn declared_arrays(&mut self, raws: &[Raw], flow: &mut Flow) {
        let quiet = std::mem::replace(&mut self.quiet, true);
        for raw in raws {
            let [Piece::Text { text, quoted: false }, Piece::Array(words)] = raw.as_slice() else { continue };
            let name = text.strip_suffix(b"=").unwrap_or_default();
            let (name, appends) = name.strip_suffix(b"+").map_or((name, false), |name| (name, true));
            if is_name(name) {
                self.array(name, words, appends, &mut flow.success);
                self.array(name, words, appends, &mut flow.failure);
            }
        }
        self.quiet = quiet;
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
            self.commands.push(command);
        }
    }
}
