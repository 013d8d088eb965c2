//! `$'…'`: the escapes of C, as bash, zsh and POSIX.1-2024 have them.
#![forbid(unsafe_code)]

use super::source::Parser;
use super::tree::{Piece, Raw};

impl Parser<'_> {
    /// At the quote behind the dollar.
    pub(super) fn ansi(&mut self, pieces: &mut Raw) {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let Some(byte) = self.take() else { return self.fail() };
            match byte {
                b'\'' => break,
                b'\\' => self.escape(&mut text),
                _ => text.push(byte),
            }
        }
        // A NUL ends the text in bash and not in zsh.
        let piece = if text.contains(&0) { Piece::Opaque } else { Piece::Text { text, quoted: true } };
        pieces.push(piece);
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.source.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.take() else { return };
        match byte {
            b'a' => text.push(0x07),
            b'b' => text.push(0x08),
            b'e' | b'E' => text.push(0x1b),
            b'f' => text.push(0x0c),
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'v' => text.push(0x0b),
            b'\\' | b'\'' | b'"' | b'?' => text.push(byte),
            b'c' => text.extend(self.take().map(|control| control & 0x1f)),
            b'0'..=b'7' => {
                self.at -= 1;
                text.push(self.number(8, 3).unwrap_or_default() as u8);
            }
            b'x' => match self.number(16, 2) {
                Some(number) => text.push(number as u8),
                None => text.extend(b"\\x"),
            },
            b'u' | b'U' => match self.number(16, if byte == b'u' { 4 } else { 8 }) {
                Some(number) => {
                    let character = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
                    text.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                None => text.extend([b'\\', byte]),
            },
            _ => text.extend([b'\\', byte]),
        }
    }

    fn number(&mut self, base: u32, digits: usize) -> Option<u32> {
        let mut number = None;
        for _ in 0..digits {
            let digit = self.source.get(self.at).and_then(|byte| char::from(*byte).to_digit(base));
            let Some(digit) = digit else { break };
            number = Some(number.unwrap_or(0_u32).wrapping_mul(base).wrapping_add(digit));
            self.at += 1;
        }
        number
    }
}
