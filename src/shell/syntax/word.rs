//! Words: quotes, and what stands between them.
#![forbid(unsafe_code)]

use super::pattern;
use super::quote::{push, push_all};
use super::reserved::End;
use super::source::{Parser, in_name, is_plain};
use super::tree::{Piece, Raw};

impl Parser<'_> {
    /// A word. Empty, with the place unchanged, if there is none.
    pub(super) fn word(&mut self) -> Raw {
        let mut pieces = Raw::new();
        self.home(&mut pieces, b"/");
        let start = self.at;
        loop {
            if self.peek() == Some(b'=') && self.at == start && self.sees(b"=(") {
                // zsh: a file with what the commands print.
                self.at += 1;
                self.process(true, &mut pieces);
            } else if !self.piece(&mut pieces) {
                break;
            }
            if is_assignment_so_far(&pieces) && self.peek() == Some(b'~') {
                // bash takes `NAME=~` for a home directory in every word, other shells only in assignments.
                pieces.push(Piece::Opaque);
                self.at += 1;
            }
        }
        pattern::fold(pieces)
    }

    /// What an assignment gives: `~` may stand behind every colon, and nothing in it is a pattern.
    pub(super) fn value(&mut self) -> Raw {
        let mut pieces = Raw::new();
        self.home(&mut pieces, b"/:");
        while self.piece(&mut pieces) {
            if matches!(pieces.last(), Some(Piece::Text { text, quoted: false }) if text.ends_with(b":")) {
                self.home(&mut pieces, b"/:");
            }
        }
        pattern::plain(pieces)
    }

    fn home(&mut self, pieces: &mut Raw, ends: &[u8]) {
        if self.peek() != Some(b'~') {
            return;
        }
        let rest = &self.source[self.at + 1..];
        let plain = |byte: &u8| in_name(*byte) || matches!(byte, b'-' | b'+' | b'.');
        let length = rest.iter().position(|byte| !plain(byte)).unwrap_or(rest.len());
        let stops = |byte: &u8| ends.contains(byte) || b" \t\n;&|<>()".contains(byte);
        // With a process substitution the word goes on.
        let goes_on = matches!(rest.get(length..length + 2), Some(b"<(" | b">("));
        if rest.get(length).is_none_or(stops) && !goes_on {
            pieces.push(Piece::Home(rest[..length].to_vec()));
            self.at += 1 + length;
        }
    }

    /// One piece of a word; false at its end.
    pub(super) fn piece(&mut self, pieces: &mut Raw) -> bool {
        let Some(byte) = self.peek() else { return false };
        match byte {
            b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => return false,
            b'<' | b'>' => {
                if !self.sees(&[byte, b'(']) {
                    return false;
                }
                self.at += 1;
                self.process(byte == b'<', pieces);
            }
            b'?' | b'*' | b'+' | b'@' | b'!' if self.sees(&[byte, b'(']) => self.extended(pieces),
            b'*' | b'?' | b'[' | b']' | b'{' | b'}' | b',' => {
                self.at += 1;
                pieces.push(Piece::Special(byte));
            }
            _ if is_plain(byte) => {
                let run = self.plain_run();
                self.at += run.len();
                push_all(pieces, run, false);
            }
            _ => self.common(byte, pieces),
        }
        true
    }

    /// What is the same in words, in `${…}` and in patterns.
    pub(super) fn common(&mut self, byte: u8, pieces: &mut Raw) {
        match byte {
            b'\'' => self.single(pieces),
            b'"' => self.double(pieces),
            b'\\' => {
                self.at += 1;
                // At the very end it stands for itself.
                let next = self.source.get(self.at).copied();
                self.at += usize::from(next.is_some());
                push(pieces, next.unwrap_or(b'\\'), true);
            }
            b'$' => self.dollar(false, pieces),
            b'`' => self.backquoted(false, pieces),
            _ => {
                self.at += 1;
                push(pieces, byte, false);
            }
        }
    }

    /// `(…)` of a process substitution.
    fn process(&mut self, reads: bool, pieces: &mut Raw) {
        self.at = self.over_continuations(self.at) + 1;
        let list = self.apart();
        pieces.push(Piece::Process { list, reads });
    }

    /// Commands up to `)`, as a text of their own: here-documents of the line around them start only after that line.
    pub(super) fn apart(&mut self) -> super::tree::List {
        let around = std::mem::take(&mut self.pending);
        let list = self.list(End::Parenthesis);
        self.expect(b")");
        self.no_more_bodies();
        self.pending = around;
        list
    }

    /// `@(a|b)` and its like.
    fn extended(&mut self, pieces: &mut Raw) {
        let mut inner = vec![Piece::text(self.source[self.at], false), Piece::text(b'(', false)];
        self.at = self.over_continuations(self.at + 1) + 1;
        if !self.enter() {
            return;
        }
        loop {
            match self.peek() {
                None => break self.fail(),
                Some(b')') => break self.at += 1,
                Some(byte @ (b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b'<' | b'>')) => {
                    self.at += 1;
                    push(&mut inner, byte, false);
                }
                Some(_) => drop(self.piece(&mut inner)),
            }
        }
        self.leave();
        push(&mut inner, b')', false);
        pieces.push(Piece::Pattern(pattern::plain(inner)));
    }
}

/// `NAME=` with nothing behind it yet.
fn is_assignment_so_far(pieces: &[Piece]) -> bool {
    let [Piece::Text { text, quoted: false }] = pieces else { return false };
    text.ends_with(b"=") && text.len() > 1 && super::source::is_name(&text[..text.len() - 1])
}
