//! From pieces to words: where unquoted text is split.
#![forbid(unsafe_code)]

use crate::shell::word::{Part, Word};

/// Words that are being put together.
#[derive(Default)]
pub(super) struct Fields {
    done: Vec<Word>,
    current: Word,
    /// Something was put into the current word, be it nothing in quotes.
    open: bool,
    /// What is in it by `"$@"` was no word at all: with nothing else beside it, it is none either.
    vanishes: bool,
    /// All is one word: assignments, here-documents and the like.
    pub(super) single: bool,
}

impl Fields {
    pub(super) fn single() -> Self {
        Self { single: true, ..Self::default() }
    }

    pub(super) fn push(&mut self, part: Part) {
        self.open = true;
        self.current.push(part);
    }

    pub(super) fn next_word(&mut self) {
        let vanishes = std::mem::take(&mut self.vanishes) && self.current.parts().is_empty();
        if std::mem::take(&mut self.open) && !vanishes {
            self.done.push(std::mem::take(&mut self.current));
        }
    }

    /// The text of an unquoted variable: split at blanks, and a pattern if it looks like one.
    pub(super) fn split(&mut self, text: &[u8]) {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
        let mut pieces = text.split(is_blank).peekable();
        while let Some(piece) = pieces.next() {
            if !piece.is_empty() {
                self.push(unquoted(piece));
            }
            if pieces.peek().is_some() {
                self.next_word();
            }
        }
    }

    /// A value in place of its variable.
    pub(super) fn value(&mut self, value: &Word, splits: bool) {
        if !splits {
            self.open = true;
        }
        for part in value.parts() {
            match part {
                Part::Known(text) if splits => self.split(text),
                Part::Variable { name, .. } => self.push(Part::Variable { name: name.clone(), splits }),
                Part::Unknown { .. } => self.push(Part::Unknown { splits }),
                Part::Output { commands, .. } => self.push(Part::Output { commands: *commands, splits }),
                part => self.push(part.clone()),
            }
        }
    }

    /// The value of an array's element or of a parameter in quotes. It may stand for several words by itself.
    pub(super) fn word_as_it_is(&mut self, value: &Word) {
        self.open = true;
        value.parts().iter().for_each(|part| self.push(part.clone()));
    }

    /// Words that were put together by themselves.
    pub(super) fn put(&mut self, words: &[Word]) {
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                self.next_word();
            }
            self.word_as_it_is(word);
        }
    }

    /// `"$@"` where there is nothing.
    pub(super) fn no_word(&mut self) {
        self.vanishes = true;
    }

    pub(super) fn words(mut self) -> Vec<Word> {
        self.next_word();
        self.done
    }

    /// All of it as one word.
    pub(super) fn word(self) -> Word {
        let mut words = self.words().into_iter();
        let mut word = words.next().unwrap_or_default();
        for next in words {
            word.push(Part::Known(b" ".to_vec()));
            word.append(&next);
        }
        word
    }
}

/// A text without quotes: a pattern if it looks like one.
pub(super) fn unquoted(text: &[u8]) -> Part {
    let special = text.iter().any(|byte| matches!(byte, b'*' | b'?' | b'['));
    if special { Part::Pattern(text.to_vec()) } else { Part::Known(text.to_vec()) }
}

/// How many bytes a part holds.
pub(super) fn length(part: &Part) -> usize {
    match part {
        Part::Known(text) | Part::Pattern(text) | Part::Variable { name: text, .. } => text.len(),
        Part::Unknown { .. } | Part::Output { .. } | Part::Stream(_) => 1,
    }
}
