//! `$((…))` and `((…))`.
#![forbid(unsafe_code)]

use super::quote::push;
use super::source::Parser;
use super::tree::{Piece, Raw};

impl Parser<'_> {
    /// Whether what opens here is arithmetic, that is, closes with `))`, and not a subshell within another one.
    pub(super) fn arithmetic_ahead(&mut self, opening: &[u8]) -> bool {
        let Some(start) = self.behind(opening) else { return false };
        // What follows may be looked at again from within; all looks together are bounded, and so is the time.
        if self.ahead_left == 0 {
            self.complete = false;
            return false;
        }
        let end = self.closing(start);
        self.ahead_left = self.ahead_left.saturating_sub(end.unwrap_or(self.source.len()) - start);
        let Some(end) = end else { return false };
        self.source.get(self.over_continuations(end + 1)) == Some(&b')')
    }

    /// The parenthesis that closes what was opened before `at`.
    fn closing(&self, mut at: usize) -> Option<usize> {
        let mut open = 0_usize;
        loop {
            match self.source.get(at)? {
                b'\\' => at += 1,
                quote @ (b'\'' | b'"' | b'`') => {
                    at += 1;
                    while self.source.get(at)? != quote {
                        at += 1 + usize::from(self.source[at] == b'\\' && *quote != b'\'');
                    }
                }
                b'(' => open += 1,
                b')' if open == 0 => return Some(at),
                b')' => open -= 1,
                _ => {}
            }
            at += 1;
        }
    }

    /// Arithmetic after [`Self::arithmetic_ahead`] said so.
    pub(super) fn arithmetic(&mut self, opening: &[u8]) -> Piece {
        self.expect(opening);
        let mut pieces = Raw::new();
        let mut open = 0_usize;
        if !self.enter() {
            return Piece::Opaque;
        }
        loop {
            match self.peek() {
                None => break self.fail(),
                Some(b')') if open == 0 => break self.expect(b"))"),
                Some(byte @ (b'$' | b'`' | b'\\')) => self.inside_quotes(byte, b"$`\\", &mut pieces),
                Some(byte) => {
                    open = open + usize::from(byte == b'(') - usize::from(byte == b')');
                    self.at += 1;
                    push(&mut pieces, byte, true);
                }
            }
        }
        self.leave();
        Piece::Arithmetic(pieces)
    }
}
