//! Here-documents: their delimiters on the line, and their texts behind it.
#![forbid(unsafe_code)]

use std::cell::OnceCell;
use std::rc::Rc;

use super::source::Parser;
use super::tree::{Piece, Raw};

/// A here-document whose text is not read yet.
pub(super) struct Pending {
    delimiter: Vec<u8>,
    /// `<<-`: tabs at the head of a line are dropped.
    strips: bool,
    /// The delimiter is quoted in any way: the text is taken as it is.
    literal: bool,
    text: Rc<OnceCell<Raw>>,
}

impl Parser<'_> {
    /// The delimiter behind `<<`.
    pub(super) fn here(&mut self, strips: bool) -> Rc<OnceCell<Raw>> {
        let start = self.at;
        let word = self.delimiter();
        if self.at == start {
            self.fail();
        }
        let text = Rc::new(OnceCell::new());
        let (delimiter, literal) = word;
        self.pending.push(Pending { delimiter, strips, literal, text: Rc::clone(&text) });
        text
    }

    /// A word in which only quotes mean something, and whether there are any.
    fn delimiter(&mut self) -> (Vec<u8>, bool) {
        let (mut word, mut literal) = (Vec::new(), false);
        loop {
            match self.peek() {
                None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')') => {
                    return (word, literal);
                }
                Some(b'\'' | b'"') => {
                    let mut pieces = Raw::new();
                    if self.source[self.at] == b'"' {
                        self.double(&mut pieces)
                    } else {
                        self.single(&mut pieces)
                    }
                    match super::tree::literal(&pieces) {
                        Some(text) => word.extend(text),
                        None => self.fail(),
                    }
                    literal = true;
                }
                Some(b'\\') => {
                    literal = true;
                    word.extend(self.source.get(self.at + 1));
                    self.at = (self.at + 2).min(self.source.len());
                }
                // Shells differ in what such a delimiter is.
                Some(b'$' | b'`') => self.fail(),
                Some(byte) => {
                    word.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    /// The texts of the line that has just ended.
    pub(super) fn bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.body(&pending);
            let pieces = if pending.literal { vec![Piece::Text { text, quoted: true }] } else { self.expanding(&text) };
            drop(pending.text.set(pieces));
        }
    }

    /// At the end of a text: what is pending has no lines. In a substitution shells differ in where they look for them.
    pub(super) fn no_more_bodies(&mut self) {
        if !self.pending.is_empty() {
            self.complete = false;
        }
        for pending in std::mem::take(&mut self.pending) {
            drop(pending.text.set(Raw::new()));
        }
    }

    /// The lines up to the delimiter, or to the end of the text.
    fn body(&mut self, pending: &Pending) -> Vec<u8> {
        let mut text = Vec::new();
        while self.at < self.source.len() {
            let line = self.logical_line(pending.literal);
            let tabs = if pending.strips { line.iter().take_while(|byte| **byte == b'\t').count() } else { 0 };
            let line = &line[tabs..];
            let ended = line.strip_suffix(b"\n").unwrap_or(line);
            if ended == pending.delimiter || (!pending.literal && joined(ended) == pending.delimiter) {
                break;
            }
            text.extend(line);
        }
        text
    }

    /// A line with those that a backslash joins to it.
    fn logical_line(&mut self, literal: bool) -> &[u8] {
        let start = self.at;
        loop {
            let rest = &self.source[self.at..];
            let length = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
            let line = rest[..length].strip_suffix(b"\n");
            self.at += length;
            let backslashes = line.unwrap_or_default().iter().rev().take_while(|byte| **byte == b'\\').count();
            if literal || backslashes % 2 == 0 || self.at == self.source.len() {
                return &self.source[start..self.at];
            }
        }
    }

    fn expanding(&mut self, text: &[u8]) -> Raw {
        let mut pieces = Raw::new();
        if !self.enter() {
            return pieces;
        }
        let mut inner = Parser::new(text, self.depth);
        while let Some(byte) = inner.peek() {
            // A double quote is text here, and is so by itself.
            match byte {
                b'"' => inner.inside_quotes(byte, b"$`\\", &mut pieces),
                _ => inner.quoted(byte, b"$`\"\\", &mut pieces),
            }
        }
        inner.no_more_bodies();
        self.complete &= inner.complete;
        self.leave();
        pieces
    }
}

/// A line without the continuations in it.
fn joined(line: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'\\', Some(b'\n')) => drop(bytes.next()),
            (b'\\', Some(_)) => all.extend([Some(byte), bytes.next()].into_iter().flatten()),
            _ => all.push(byte),
        }
    }
    all
}
