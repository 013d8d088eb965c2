//! `alias NAME=VALUE`. dash and sh expand aliases in scripts, bash and `zsh -c` do not: what a command is with its alias is noted
//! beside what it is without.
#![forbid(unsafe_code)]

use super::Walker;
use super::state::State;
use crate::shell::script::Simple;
use crate::shell::syntax::tree::{Body, Piece, Raw};
use crate::shell::word::Word;

impl Walker<'_> {
    /// `alias`.
    pub(super) fn alias(&mut self, arguments: &[Word]) {
        for argument in arguments.iter().filter_map(Word::known) {
            if let Some(end) = argument.iter().position(|byte| *byte == b'=')
                && !self.quiet
                && self.charge(argument.len())
            {
                self.aliases.insert(argument[..end].to_vec(), argument[end + 1..].to_vec());
            }
        }
    }

    /// Notes a command as its alias makes it, if its first word is one.
    pub(super) fn note_with_alias(&mut self, raws: &[Raw], simple: &Simple, state: &State) {
        let Some([Piece::Text { text, quoted: false }]) = raws.first().map(Vec::as_slice) else { return };
        let Some(value) = self.aliases.get(text).filter(|_| !self.quiet).cloned() else { return };
        if !self.charge(value.len()) {
            self.complete = false;
            return;
        }
        let (tree, _) = crate::shell::syntax::read(&value, self.depth);
        let [item] = tree.0.as_slice() else { return self.complete = false };
        let ([command], []) = (item.first.commands.as_slice(), item.rest.as_slice()) else {
            return self.complete = false;
        };
        let Body::Simple { assignments, words } = &command.body else { return self.complete = false };
        let mut state = state.clone();
        state.log = None;
        let mut simple = simple.clone();
        simple.assignments.extend(self.assignments(assignments, &mut state));
        let aliased = self.words(words, &mut state);
        simple.words.splice(..1, aliased);
        self.note(simple);
    }
}
