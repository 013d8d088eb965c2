//! Expansion of words. What they substitute is walked on the way.
#![forbid(unsafe_code)]

use super::fields::Fields;
use super::state::State;
use super::{Walker, braces};
use crate::shell::script::{Input, Span};
use crate::shell::syntax::tree::{List, Piece, Raw};
use crate::shell::word::{Part, Word};

/// So many patterns of one script are looked up.
const MOST_ASKED: usize = 64;

impl Walker<'_> {
    /// The words that a word becomes.
    pub(super) fn fields(&mut self, raw: &Raw, state: &mut State) -> Vec<Word> {
        let mut fields = Fields::default();
        match braces::expanded(raw) {
            Some(words) => self.each_of(&words, state, &mut fields),
            None => self.pieces(raw, state, &mut fields),
        }
        self.named(fields.words(), state)
    }

    /// Words with the names of files in place of the patterns that stand for them. A pattern that fits none stands for
    /// itself, and stays one: the script may make such a file.
    pub(super) fn named(&mut self, words: Vec<Word>, state: &State) -> Vec<Word> {
        let is_pattern = |word: &Word| word.parts().iter().any(|part| matches!(part, Part::Pattern(_)));
        if self.quiet || !words.iter().any(is_pattern) {
            return words;
        }
        let mut all = Vec::with_capacity(words.len());
        for word in words {
            let asks = is_pattern(&word) && self.asked < MOST_ASKED;
            self.asked += usize::from(asks);
            let found = if asks { (self.names)(&state.directory, &word) } else { None };
            match found.filter(|names| !names.is_empty() && self.charge(names.iter().map(Vec::len).sum())) {
                Some(names) => all.extend(names.iter().map(|name| Word::literal(name))),
                None => all.push(word),
            }
        }
        all
    }

    /// A word where nothing is split and nothing is a file name.
    pub(super) fn single(&mut self, raw: &Raw, state: &mut State) -> Word {
        let mut fields = Fields::single();
        self.pieces(raw, state, &mut fields);
        fields.word()
    }

    /// A word that stays one, and may be a pattern: the target of a redirection.
    pub(super) fn target(&mut self, raw: &Raw, state: &mut State) -> Word {
        let words = self.fields(raw, state);
        match <[Word; 1]>::try_from(words) {
            Ok([word]) => word,
            Err(words) if words.is_empty() => Word::default(),
            // A variable of several words: bash refuses it, dash takes it as one.
            Err(_) => self.single(raw, state),
        }
    }

    pub(super) fn pieces(&mut self, pieces: &[Piece], state: &mut State, into: &mut Fields) {
        pieces.iter().for_each(|piece| self.piece(piece, state, into));
    }

    pub(super) fn piece(&mut self, piece: &Piece, state: &mut State, into: &mut Fields) {
        match piece {
            Piece::Text { text, .. } if self.surroundings.knows(text) => into.push(Part::Known(text.clone())),
            Piece::Text { text, .. } => {
                // Somebody has put a word into this text that only run time knows (`find -exec sh -c 'cd {}'`).
                into.value(&self.surroundings.word(text), false);
            }
            Piece::Special(byte) => into.push(Part::Known(vec![*byte])),
            Piece::Pattern(inner) | Piece::Braces(inner) => {
                let word = self.single(inner, state);
                match word.known() {
                    Some(text) if into.single => into.push(Part::Known(text.to_vec())),
                    Some(text) => into.push(Part::Pattern(text.to_vec())),
                    None => into.push(Part::Unknown { splits: !into.single }),
                }
            }
            Piece::Home(name) if name.is_empty() => {
                let mut fields = Fields::single();
                self.variable(b"HOME", true, state, &mut fields);
                fields.word().parts().iter().for_each(|part| into.push(part.clone()));
            }
            Piece::Home(_) | Piece::Opaque => into.push(Part::Unknown { splits: false }),
            Piece::Parameter(parameter) => self.parameter(parameter, state, into),
            Piece::Substitution { list, quoted } => {
                let commands = self.span(list, state);
                let splits = !quoted && !into.single;
                into.push(match commands {
                    Some(commands) => Part::Output { commands, splits },
                    None => Part::Unknown { splits },
                });
            }
            Piece::Process { list, reads } => {
                let input = if *reads { state.input } else { Input::Pipe(None) };
                let commands = self.span(list, &state.with_input(input)).filter(|_| *reads);
                into.push(commands.map_or(Part::Unknown { splits: false }, Part::Stream));
            }
            Piece::Arithmetic(inner) => {
                self.single(inner, state);
                assigned_in(inner).for_each(|name| state.forget(&name));
                into.push(Part::Unknown { splits: false });
            }
            Piece::Array(words) => {
                words.iter().for_each(|word| drop(self.fields(word, state)));
                into.push(Part::Unknown { splits: false });
            }
        }
    }

    /// Walks commands in a subshell. Answers where they stand; nothing in a quiet walk.
    fn span(&mut self, list: &List, state: &State) -> Option<Span> {
        let from = self.commands.len();
        self.subshell(list, state);
        (!self.quiet).then_some(Span { from, to: self.commands.len() })
    }

    /// Whether so many more bytes may be put into words.
    pub(super) fn charge(&mut self, bytes: usize) -> bool {
        let total = if self.quiet { &mut self.substituted_quietly } else { &mut self.substituted };
        *total = total.saturating_add(bytes);
        *total <= super::SUBSTITUTED
    }
}

/// The variables that arithmetic may assign: all in it, if anything is assigned.
fn assigned_in(pieces: &[Piece]) -> impl Iterator<Item = Vec<u8>> {
    let texts =
        || pieces.iter().filter_map(|piece| if let Piece::Text { text, .. } = piece { Some(text) } else { None });
    let assigns = texts().any(|text| {
        text.windows(2).any(|two| matches!(two, b"++" | b"--"))
            || text.iter().enumerate().any(|(at, byte)| {
                let before = at.checked_sub(1).map(|before| text[before]);
                let shifts = at >= 2 && before == Some(text[at - 2]);
                let compares = matches!(before, Some(b'=' | b'!')) || (matches!(before, Some(b'<' | b'>')) && !shifts);
                *byte == b'=' && text.get(at + 1) != Some(&b'=') && !compares
            })
    });
    let names: Vec<Vec<u8>> = texts()
        .flat_map(|text| text.split(|byte| !crate::shell::syntax::in_name(*byte)))
        .filter(|name| assigns && crate::shell::syntax::is_name(name))
        .map(<[u8]>::to_vec)
        .collect();
    names.into_iter()
}
