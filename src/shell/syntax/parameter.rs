//! `${…}`.
#![forbid(unsafe_code)]

use super::pattern;
use super::quote::push;
use super::reserved::End;
use super::source::{Parser, in_name};
use super::tree::{Operation, Parameter, Piece, Raw};

impl Parser<'_> {
    /// At the brace behind a dollar.
    pub(super) fn braced(&mut self, quoted: bool, pieces: &mut Raw) {
        self.at += 1;
        if !self.enter() {
            return;
        }
        let piece = match self.peek() {
            // ksh, bash 5.3: commands that run in this very shell.
            Some(b' ' | b'\t' | b'\n' | b'|') => self.in_this_shell(quoted),
            _ => Piece::Parameter(Box::new(self.parameter(quoted))),
        };
        pieces.push(piece);
        self.leave();
    }

    fn in_this_shell(&mut self, quoted: bool) -> Piece {
        if self.peek() == Some(b'|') {
            self.at += 1;
        }
        let around = std::mem::take(&mut self.pending);
        let list = self.list(End::Words(&[b"}"]));
        self.expect(b"}");
        self.no_more_bodies();
        self.pending = around;
        // Only some shells know it, and others stop.
        self.complete = false;
        Piece::Substitution { list, quoted }
    }

    fn parameter(&mut self, quoted: bool) -> Parameter {
        let name = self.subject();
        let all = [(b"[@]}", false), (b"[*]}", true)];
        if !name.is_empty()
            && let Some((_, star)) = all.into_iter().find(|(text, _)| self.eat(*text))
        {
            return Parameter { name, quoted, operation: Operation::All { star } };
        }
        let colon = self.peek() == Some(b':');
        let sign_at = self.over_continuations(self.at + usize::from(colon));
        let operation = match (name.is_empty(), self.source.get(sign_at).copied()) {
            (false, Some(b'}')) if !colon => {
                self.at += 1;
                Operation::Plain
            }
            (false, Some(sign @ (b'-' | b'=' | b'?' | b'+'))) => {
                self.at = sign_at + 1;
                Operation::Otherwise { sign, colon, word: self.inside_braces(quoted, false) }
            }
            (false, Some(sign @ (b'#' | b'%'))) if !colon => {
                self.at = sign_at + 1;
                if self.peek() == Some(sign) {
                    self.at += 1;
                }
                Operation::Strip { suffix: sign == b'%', word: self.inside_braces(quoted, true) }
            }
            _ => Operation::Other(self.inside_braces(quoted, true)),
        };
        Parameter { name, quoted, operation }
    }

    /// What is expanded: a name, digits, or a special parameter; nothing for anything stranger (`${#x}`, `${!x}`, `${(f)x}`).
    fn subject(&mut self) -> Vec<u8> {
        let mut name = Vec::new();
        while let Some(byte) = self.peek().filter(|byte| in_name(*byte)) {
            self.at += 1;
            name.push(byte);
        }
        if name.is_empty()
            && let Some(byte @ (b'@' | b'*' | b'?' | b'-' | b'$' | b'!' | b'#')) = self.peek()
            && self.source.get(self.at + 1) == Some(&b'}')
        {
            self.at += 1;
            name.push(byte);
        }
        name
    }

    /// Up to the closing brace, which is taken.
    fn inside_braces(&mut self, quoted: bool, pattern: bool) -> Raw {
        // In double quotes a single quote is text, but in a pattern it quotes; bash alone lets it hide a brace.
        let (mut pieces, mut apostrophes, literal) = (Raw::new(), 0_usize, quoted && !pattern);
        loop {
            match self.peek() {
                None => break self.fail(),
                Some(b'}') => break self.at += 1,
                Some(b'\'') if literal => {
                    apostrophes += 1;
                    self.at += 1;
                    push(&mut pieces, b'\'', true);
                }
                Some(b'"') => self.double(&mut pieces),
                Some(byte) if literal => self.inside_quotes(byte, b"$`\"\\}", &mut pieces),
                Some(byte @ (b'<' | b'>')) if !quoted && self.sees(&[byte, b'(']) => drop(self.piece(&mut pieces)),
                Some(byte @ (b'*' | b'?' | b'[')) => {
                    self.at += 1;
                    pieces.push(Piece::Special(byte));
                }
                Some(byte) => self.common(byte, &mut pieces),
            }
        }
        if apostrophes % 2 == 1 {
            self.complete = false;
        }
        if literal { pattern::plain(pieces) } else { pattern::fold(pieces) }
    }
}
