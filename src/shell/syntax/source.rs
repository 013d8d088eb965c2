//! The place in the text, and what comes next there. A backslash before a newline is nothing, nearly everywhere.
#![forbid(unsafe_code)]

use std::ops::Range;

use super::DEEPEST;
use super::here::Pending;

pub(super) struct Parser<'a> {
    pub(super) source: &'a [u8],
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) complete: bool,
    /// Here-documents whose text starts after this line.
    pub(super) pending: Vec<Pending>,
    /// How many bytes may still be looked at in deciding what `((` is.
    pub(super) ahead_left: usize,
    /// Where it was last seen that there are only bytes of names.
    named: Range<usize>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a [u8], depth: usize) -> Self {
        // Strings that are passed to a shell hold no NUL; what a shell does with one in a file differs.
        let complete = !source.contains(&0);
        Self { source, at: 0, depth, complete, pending: Vec::new(), ahead_left: source.len() * 16, named: 0..0 }
    }

    /// Not understood: from here on there is only the end.
    pub(super) fn fail(&mut self) {
        self.complete = false;
        self.at = self.source.len();
    }

    /// One level down, unless that is too deep.
    pub(super) fn enter(&mut self) -> bool {
        if self.depth >= DEEPEST {
            self.fail();
            return false;
        }
        self.depth += 1;
        true
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The next byte.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.at = self.over_continuations(self.at);
        self.source.get(self.at).copied()
    }

    /// The place behind these bytes, if they are what comes next.
    pub(super) fn behind(&self, text: &[u8]) -> Option<usize> {
        let mut at = self.at;
        for byte in text {
            at = self.over_continuations(at);
            if self.source.get(at) != Some(byte) {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    pub(super) fn sees(&self, text: &[u8]) -> bool {
        self.behind(text).is_some()
    }

    /// Takes these bytes if they are what comes next.
    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let Some(at) = self.behind(text) else { return false };
        self.at = at;
        true
    }

    pub(super) fn expect(&mut self, text: &[u8]) {
        if !self.eat(text) {
            self.fail();
        }
    }

    pub(super) fn over_continuations(&self, mut at: usize) -> usize {
        while self.source.get(at) == Some(&b'\\') && self.source.get(at + 1) == Some(&b'\n') {
            at += 2;
        }
        at
    }

    /// Where the bytes of a name end that begin here. They are looked at once, however often they are asked for.
    pub(super) fn name_end(&mut self, at: usize) -> usize {
        if !self.named.contains(&at) {
            let rest = &self.source[at..];
            self.named = at..at + rest.iter().position(|byte| !in_name(*byte)).unwrap_or(rest.len());
        }
        self.named.end
    }

    /// The bytes from here on that mean nothing but themselves in any word: letters, digits, and what stands in paths.
    pub(super) fn plain_run(&mut self) -> &'a [u8] {
        let from = self.name_end(self.at);
        let rest = &self.source[from..];
        let end = from + rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len());
        &self.source[self.at..end]
    }

    /// The bytes from here on that are none of these.
    pub(super) fn run_to(&self, stops: &[u8; 4]) -> &'a [u8] {
        let rest = &self.source[self.at..];
        &rest[..rest.iter().position(|byte| stops.contains(byte)).unwrap_or(rest.len())]
    }

    /// Steps over blanks and a comment. Only where a word may start.
    pub(super) fn blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
        if self.peek() == Some(b'#') {
            let rest = &self.source[self.at..];
            self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        }
    }

    /// Steps over blanks, comments and ends of lines.
    pub(super) fn lines(&mut self) {
        self.blanks();
        while self.peek() == Some(b'\n') {
            self.line();
            self.blanks();
        }
    }

    /// The end of a line: the texts of its here-documents follow.
    pub(super) fn line(&mut self) {
        self.at += 1;
        self.bodies();
    }
}

/// Whether a byte means nothing but itself, in words, in patterns, and behind whatever stands before it.
pub(super) fn is_plain(byte: u8) -> bool {
    in_name(byte) || matches!(byte, b'-' | b'.' | b'/' | b'%') || !byte.is_ascii()
}

/// Whether a byte may stand in a variable's name.
pub(crate) fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether this is a variable's name.
pub(crate) fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|byte| !byte.is_ascii_digit()) && text.iter().all(|byte| in_name(*byte))
}
