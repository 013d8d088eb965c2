//! Reserved words, and where a list ends.
#![forbid(unsafe_code)]

use std::ops::Deref;

use super::source::Parser;

/// What ends a list.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// The end of the text.
    Nothing,
    /// `)`
    Parenthesis,
    /// One of these reserved words.
    Words(&'static [&'static [u8]]),
    /// The end of a `case` arm.
    Arm,
}

/// The longest word that could be reserved, and some more.
const LONGEST_RESERVED: usize = 16;

/// A word that may be reserved. It is looked for before every command.
#[derive(Default)]
pub(super) struct Short {
    bytes: [u8; LONGEST_RESERVED],
    length: usize,
}

impl Short {
    /// Adds a byte, if it is still short.
    fn push(&mut self, byte: u8) -> Option<()> {
        *self.bytes.get_mut(self.length)? = byte;
        self.length += 1;
        Some(())
    }
}

impl Deref for Short {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Parser<'_> {
    /// The next word, if it has only plain characters and is short: what may be a reserved word, with the place behind it.
    fn plain(&self) -> Option<(Short, usize)> {
        let (mut word, mut at) = (Short::default(), self.at);
        loop {
            at = self.over_continuations(at);
            match self.source.get(at) {
                None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')') => break,
                Some(b'\'' | b'"' | b'`' | b'$' | b'\\') => return None,
                Some(byte) => word.push(*byte)?,
            }
            at += 1;
        }
        Some((word, at))
    }

    /// The next word, if it may be a reserved one.
    pub(super) fn reserved(&mut self) -> Short {
        self.plain().map(|(word, _)| word).unwrap_or_default()
    }

    pub(super) fn eat_word(&mut self, wanted: &[u8]) -> bool {
        match self.plain() {
            Some((word, at)) if *word == *wanted => {
                self.at = at;
                true
            }
            _ => false,
        }
    }

    pub(super) fn expect_word(&mut self, wanted: &[u8]) {
        self.lines();
        if !self.eat_word(wanted) {
            self.fail();
        }
    }

    /// Whether a list ends here.
    pub(super) fn ends(&mut self, end: End) -> bool {
        match (self.peek(), end) {
            (None, _) => true,
            (_, End::Nothing) => false,
            (Some(next), End::Parenthesis) => next == b')',
            (_, End::Words(words)) => words.contains(&&*self.reserved()),
            (_, End::Arm) => self.sees(b";;") || self.sees(b";&") || self.sees(b";|") || *self.reserved() == *b"esac",
        }
    }
}
