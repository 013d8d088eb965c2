//! Quotes, and the text within them.
#![forbid(unsafe_code)]

use super::source::Parser;
use super::tree::{Piece, Raw};

impl Parser<'_> {
    pub(super) fn single(&mut self, pieces: &mut Raw) {
        let rest = &self.source[self.at + 1..];
        match rest.iter().position(|byte| *byte == b'\'') {
            Some(end) => {
                pieces.push(Piece::Text { text: rest[..end].to_vec(), quoted: true });
                self.at += end + 2;
            }
            None => self.fail(),
        }
    }

    pub(super) fn double(&mut self, pieces: &mut Raw) {
        self.at += 1;
        // Also an empty pair of quotes is a word.
        pieces.push(Piece::Text { text: Vec::new(), quoted: true });
        loop {
            match self.peek() {
                None => return self.fail(),
                Some(b'"') => {
                    self.at += 1;
                    return;
                }
                Some(byte) => self.quoted(byte, b"$`\"\\", pieces),
            }
        }
    }

    /// Text that only these bytes interrupt, as long as it goes; else one piece.
    pub(super) fn quoted(&mut self, byte: u8, quotable: &[u8; 4], pieces: &mut Raw) {
        let run = self.run_to(quotable);
        if run.is_empty() {
            return self.inside_quotes(byte, quotable, pieces);
        }
        self.at += run.len();
        push_all(pieces, run, true);
    }

    /// One piece of text in double quotes or in a here-document, where a backslash quotes only some bytes.
    pub(super) fn inside_quotes(&mut self, byte: u8, quotable: &[u8], pieces: &mut Raw) {
        match byte {
            b'$' => self.dollar(true, pieces),
            b'`' => self.backquoted(true, pieces),
            b'\\' => {
                self.at += 1;
                match self.source.get(self.at).copied().filter(|next| quotable.contains(next)) {
                    Some(next) => {
                        self.at += 1;
                        push(pieces, next, true);
                    }
                    None => push(pieces, b'\\', true),
                }
            }
            _ => {
                self.at += 1;
                push(pieces, byte, true);
            }
        }
    }
}

/// Adds a byte to the text before it, if that is quoted alike.
pub(super) fn push(pieces: &mut Raw, byte: u8, quoted: bool) {
    match pieces.last_mut() {
        Some(Piece::Text { text, quoted: before }) if *before == quoted => text.push(byte),
        _ => pieces.push(Piece::text(byte, quoted)),
    }
}

/// The same for several.
pub(super) fn push_all(pieces: &mut Raw, bytes: &[u8], quoted: bool) {
    match pieces.last_mut() {
        Some(Piece::Text { text, quoted: before }) if *before == quoted => text.extend_from_slice(bytes),
        _ => pieces.push(Piece::Text { text: bytes.to_vec(), quoted }),
    }
}
