//! `[[ … ]]`: no program; its words are read for what they substitute.
#![forbid(unsafe_code)]

use super::source::Parser;
use super::tree::{Body, literal};

impl Parser<'_> {
    /// Behind `[[`.
    pub(super) fn test(&mut self) -> Body {
        let mut words = Vec::new();
        loop {
            while let Some(b' ' | b'\t' | b'\n' | b'(' | b')' | b'|' | b'&' | b';') = self.peek() {
                if self.peek() == Some(b'\n') { self.line() } else { self.at += 1 }
            }
            if self.peek().is_none() {
                self.fail();
                break;
            }
            let before = self.at;
            let word = self.word();
            if self.at == before {
                // `<` and `>` compare.
                self.at += 1;
            } else if literal(&word).is_some_and(|text| text == b"]]") {
                break;
            } else {
                words.push(word);
            }
        }
        Body::Test(words)
    }
}
