//! Redirections.
#![forbid(unsafe_code)]

use super::source::{Parser, in_name};
use super::tree::{Left, Redirect, Target};

/// Longer ones first.
const OPERATORS: [&[u8]; 12] = [b"<<<", b"<<-", b"<<", b"<>", b"<&", b"<", b">>", b">|", b">&", b">", b"&>>", b"&>"];

impl Parser<'_> {
    /// All redirections behind a compound command.
    pub(super) fn redirections(&mut self) -> Vec<Redirect> {
        let mut all = Vec::new();
        loop {
            self.blanks();
            match self.redirection() {
                Some(redirection) => all.push(redirection),
                None => return all,
            }
        }
    }

    pub(super) fn redirection(&mut self) -> Option<Redirect> {
        let before = self.at;
        let left = self.left();
        let process = self.sees(b"<(") || self.sees(b">(");
        let operator = OPERATORS.into_iter().find(|operator| self.sees(operator));
        let Some(operator) = operator.filter(|operator| !process && (left == Left::Ready || operator[0] != b'&'))
        else {
            self.at = before;
            return None;
        };
        self.expect(operator);
        self.blanks();
        let target = if matches!(operator, b"<<" | b"<<-") {
            Target::Here(self.here(operator == b"<<-"))
        } else {
            let start = self.at;
            let word = self.word();
            if self.at == start {
                self.fail();
            }
            Target::Word(word)
        };
        Some(Redirect { left, operator, target })
    }

    /// A number or `{NAME}`, if a redirection follows at once.
    fn left(&mut self) -> Left {
        let before = self.peek();
        if !before.is_some_and(|byte| byte.is_ascii_digit() || byte == b'{') {
            return Left::Ready;
        }
        let rest = &self.source[self.at..];
        let length =
            rest.iter().position(|byte| !in_name(*byte) && *byte != b'{' && *byte != b'}').unwrap_or(rest.len());
        let (text, next) = rest.split_at(length);
        if !matches!(next.first(), Some(b'<' | b'>')) {
            return Left::Ready;
        }
        let named = text.strip_prefix(b"{").and_then(|text| text.strip_suffix(b"}"));
        let left = if let Some(name) = named.filter(|name| super::source::is_name(name)) {
            Left::Named(name.to_vec())
        } else if let Some(number) = std::str::from_utf8(text).ok().filter(|text| is_number(text)) {
            match number.parse() {
                Ok(number) => Left::Number(number),
                Err(_) => return Left::Ready,
            }
        } else {
            return Left::Ready;
        };
        self.at += length;
        left
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
