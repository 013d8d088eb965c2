//! Which store wrote these bytes: by content, never by name, since names lie (`x.env.sops` may be any of three).
#![forbid(unsafe_code)]

use std::fmt;

use super::{Document, Unreadable};

/// What a file is written in. sops' fifth store, binary, writes JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `KEY=value` lines.
    Dotenv,
    /// Sections and keys.
    Ini,
    /// JSON, also of the binary store.
    Json,
    /// YAML; also whatever looks like none of the others.
    Yaml,
}

impl Format {
    /// The word that `--input-type` and `--output-type` take for it.
    #[must_use]
    pub fn as_type(self) -> &'static str {
        match self {
            Self::Dotenv => "dotenv",
            Self::Ini => "ini",
            Self::Json => "json",
            Self::Yaml => "yaml",
        }
    }

    /// The format that a word of `--input-type` or `--output-type` leads to.
    #[must_use]
    pub fn of_type(word: &str) -> Option<Self> {
        match word {
            "dotenv" => Some(Self::Dotenv),
            "ini" => Some(Self::Ini),
            "json" | "binary" => Some(Self::Json),
            "yaml" => Some(Self::Yaml),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dotenv => "dotenv",
            Self::Ini => "INI",
            Self::Json => "JSON",
            Self::Yaml => "YAML",
        })
    }
}

/// What a file is, at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It has SOPS metadata, whole or damaged.
    Sops(Format),
    /// It has content and no SOPS metadata.
    Plain,
    /// Nothing, or white space.
    Empty,
}

/// What a file is, read as far as that goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::canary) enum Opened {
    /// A SOPS file, whole or not.
    Sops(Document),
    /// Recognisably a SOPS file, but it does not follow its format.
    Damaged(Unreadable),
    /// It has content and no SOPS metadata.
    Plain,
    /// Nothing, or white space.
    Empty,
}

/// Reads a file once. Without the word `sops` in it this costs one scan.
pub(in crate::canary) fn open(content: &[u8]) -> Opened {
    if content.iter().all(u8::is_ascii_whitespace) {
        return Opened::Empty;
    }
    if !holds(content, "sops") {
        return Opened::Plain;
    }
    match super::read(content) {
        Ok(document) if document.metadata.is_some() => Opened::Sops(document),
        // A damaged file with ciphertext in it is a broken SOPS file, not plaintext.
        Err(unreadable) if holds(content, CIPHERTEXT) => Opened::Damaged(unreadable),
        Ok(_) | Err(_) => Opened::Plain,
    }
}

/// What these bytes are.
#[must_use]
pub fn sniff(content: &[u8]) -> Kind {
    kind_of(&open(content))
}

pub(in crate::canary) fn kind_of(opened: &Opened) -> Kind {
    match opened {
        Opened::Sops(document) => Kind::Sops(document.format),
        Opened::Damaged(unreadable) => Kind::Sops(unreadable.format),
        Opened::Plain => Kind::Plain,
        Opened::Empty => Kind::Empty,
    }
}

/// How every encrypted value begins.
pub(in crate::canary) const CIPHERTEXT: &str = "ENC[AES256_GCM,";

/// Whether a word is in there. The library's search over text is many times faster than one over windows of bytes.
pub(in crate::canary) fn holds(content: &[u8], word: &str) -> bool {
    content.utf8_chunks().any(|chunk| chunk.valid().contains(word))
}

/// The format by content: `{` first → JSON, a metadata line → dotenv, `[sops]` → INI, else YAML.
pub(super) fn guess(content: &[u8]) -> Format {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    if content.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') {
        return Format::Json;
    }
    let mut format = Format::Yaml;
    for line in content.split(|byte| *byte == b'\n') {
        if is_dotenv_metadata(line) {
            return Format::Dotenv;
        }
        if line.trim_ascii_end() == b"[sops]" {
            format = Format::Ini;
        }
    }
    format
}

/// A line that only the dotenv store writes, also when the lines after it were cut off.
fn is_dotenv_metadata(line: &[u8]) -> bool {
    let Some(name) = line.strip_prefix(b"sops_") else { return false };
    let Some(end) = name.iter().position(|byte| *byte == b'=') else { return false };
    let name = &name[..end];
    matches!(name, b"mac" | b"version" | b"lastmodified")
        || name.windows(LIST.len()).any(|window| window == LIST) && !name.contains(&b':')
}

/// How sops flattens a list into key names.
const LIST: &[u8] = b"__list_";
