//! What starts with `$`, and backquotes.
#![forbid(unsafe_code)]

use super::quote::push;
use super::reserved::End;
use super::source::{Parser, in_name};
use super::tree::{Operation, Parameter, Piece, Raw};

impl Parser<'_> {
    /// At a `$`.
    pub(super) fn dollar(&mut self, quoted: bool, pieces: &mut Raw) {
        if self.sees(b"$((") && self.arithmetic_ahead(b"$((") {
            return pieces.push(self.arithmetic(b"$(("));
        }
        if self.eat(b"$(") {
            let list = self.apart();
            return pieces.push(Piece::Substitution { list, quoted });
        }
        self.at += 1;
        match self.peek() {
            Some(b'{') => self.braced(quoted, pieces),
            Some(b'\'') if !quoted => self.ansi(pieces),
            // A text to be translated.
            Some(b'"') if !quoted => self.double(pieces),
            // bash: arithmetic. Elsewhere a dollar and the start of a pattern.
            Some(b'[') => pieces.push(Piece::Opaque),
            Some(byte) if in_name(byte) => {
                let name = self.name();
                pieces.push(parameter(name, quoted));
            }
            Some(byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                self.at += 1;
                pieces.push(parameter(vec![byte], quoted));
            }
            _ => push(pieces, b'$', quoted),
        }
    }

    /// A variable's name, or one digit.
    pub(super) fn name(&mut self) -> Vec<u8> {
        let mut name = Vec::new();
        while let Some(byte) = self.peek().filter(|byte| in_name(*byte)) {
            self.at += 1;
            name.push(byte);
            if name[0].is_ascii_digit() {
                break;
            }
        }
        name
    }

    /// Commands in backquotes: a text of its own, after one level of backslashes is taken off.
    pub(super) fn backquoted(&mut self, quoted: bool, pieces: &mut Raw) {
        let (mut text, mut at) = (Vec::new(), self.at + 1);
        loop {
            match self.source.get(at).copied() {
                None => return self.fail(),
                Some(b'`') => break,
                Some(b'\\') => {
                    let next = self.source.get(at + 1).copied();
                    let taken_off = matches!(next, Some(b'`' | b'\\' | b'$')) || (quoted && next == Some(b'"'));
                    if !taken_off {
                        text.push(b'\\');
                    }
                    text.extend(next);
                    at += 2;
                }
                Some(byte) => {
                    text.push(byte);
                    at += 1;
                }
            }
        }
        self.at = at + 1;
        let mut inner = Parser::new(&text, self.depth);
        let list = inner.list(End::Nothing);
        inner.no_more_bodies();
        self.complete &= inner.complete;
        pieces.push(Piece::Substitution { list, quoted });
    }
}

pub(super) fn parameter(name: Vec<u8>, quoted: bool) -> Piece {
    Piece::Parameter(Box::new(Parameter { name, quoted, operation: Operation::Plain }))
}
