//! `document`: what a SOPS file tells without any key. Its key names, which values are encrypted, and the metadata are
//! in the open in every store; this reads them from any bytes, in one pass, and never needs to know a secret. It
//! judges nothing.
#![forbid(unsafe_code)]

mod choice;
mod dotenv;
mod format;
mod ini;
mod json;
mod keys;
mod metadata;
mod yaml;

pub(super) use choice::laid_open;
pub(super) use format::{CIPHERTEXT, Opened, holds, kind_of, open};
pub use format::{Format, Kind, sniff};
pub use keys::{Keys, Lost, Values};
pub(super) use metadata::seal_of;
pub use metadata::{Flaw, Metadata, Recipient};

use keys::{Leaf, NodeId, Segment};

/// A file above this is not read (bytes).
pub const SIZE_CAP: u64 = 16 * 1024 * 1024;

/// Deeper nesting is not followed. SOPS files in the wild have a dozen levels at most.
const DEPTH_CAP: usize = 128;

/// What the file holds, as far as it can be seen without a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The store that wrote it; the binary store writes JSON.
    pub format: Format,
    /// Every key and list item outside the metadata, in the order of the file.
    pub keys: Keys,
    /// How many values are encrypted.
    pub encrypted: usize,
    /// How many values are in the open; empty strings and nulls count as neither, for sops leaves these alone.
    pub plaintext: usize,
    /// The metadata; none when the file is not SOPS.
    pub metadata: Option<Metadata>,
}

impl Document {
    /// Whether this is what the binary store writes: JSON with `data` and nothing else.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.format == Format::Json && self.keys.is_only("data")
    }
}

/// The bytes do not follow the format that they look like.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not valid {format}{}: {why}", at(*.line))]
pub struct Unreadable {
    /// The format they look like.
    pub format: Format,
    /// Where, counted from one; zero when the place is not known.
    pub line: usize,
    /// What is wrong; never a piece of the content.
    pub why: &'static str,
}

fn at(line: usize) -> String {
    if line == 0 { String::new() } else { format!(" at line {line}") }
}

/// Reads a file's content as the format that it looks like.
///
/// # Errors
/// [`Unreadable`] when the content does not follow that format.
pub fn read(content: &[u8]) -> Result<Document, Unreadable> {
    read_as(content, format::guess(content))
}

/// Reads a file's content as this format; plaintext of the format is read too, then without metadata.
///
/// # Errors
/// [`Unreadable`] when the content does not follow the format.
pub fn read_as(content: &[u8], format: Format) -> Result<Document, Unreadable> {
    // sops replaces or refuses what is not UTF-8; for names and structure the replacement is as good.
    let text = String::from_utf8_lossy(content);
    let mut draft = Draft::default();
    match format {
        Format::Dotenv => dotenv::read(&text, &mut draft),
        Format::Ini => ini::read(&text, &mut draft),
        Format::Json => json::read(&text, &mut draft),
        Format::Yaml => yaml::read(&text, &mut draft),
    }
    .map_err(|(line, why)| Unreadable { format, line, why })?;
    Ok(draft.finish(format))
}

/// Where in the text, and what is wrong.
type Flawed = (usize, &'static str);

/// A document while it is read: what the four readers fill.
#[derive(Default)]
struct Draft {
    keys: Keys,
    encrypted: usize,
    plaintext: usize,
    metadata: metadata::Flat,
}

impl Draft {
    /// A map, a list, or a value's place below `parent`.
    fn node(&mut self, parent: NodeId, segment: Segment) -> NodeId {
        self.keys.child(parent, segment)
    }

    /// The value at a place: its text, or none when it is null or an alias.
    fn value(&mut self, node: NodeId, value: Option<&str>) {
        let leaf = Leaf::of(value);
        match leaf {
            Leaf::Encrypted(..) => self.encrypted += 1,
            Leaf::Plain(..) => self.plaintext += 1,
            Leaf::Empty => {}
        }
        self.keys.set_leaf(node, leaf);
    }

    fn finish(self, format: Format) -> Document {
        Document {
            format,
            keys: self.keys,
            encrypted: self.encrypted,
            plaintext: self.plaintext,
            metadata: self.metadata.finish(),
        }
    }
}

#[cfg(test)]
mod tests;
