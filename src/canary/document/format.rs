//! Which store wrote these bytes: by content, never by name, since names lie (`x.env.sops` may be any of three).
#![forbid(unsafe_code)]

use std::fmt;

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

/// What these bytes are. Without the word `sops` in them this costs one scan; else they are read once.
#[must_use]
pub fn sniff(content: &[u8]) -> Kind {
    if content.iter().all(u8::is_ascii_whitespace) {
        return Kind::Empty;
    }
    if !mentions_sops(content) {
        return Kind::Plain;
    }
    let format = guess(content);
    match super::read_as(content, format) {
        Ok(document) if document.metadata.is_some() => Kind::Sops(format),
        Ok(_) => Kind::Plain,
        // A damaged file whose metadata can still be recognised is a broken SOPS file, not plaintext.
        Err(_) if content.windows(ENC.len()).any(|window| window == ENC) => Kind::Sops(format),
        Err(_) => Kind::Plain,
    }
}

/// How every encrypted value begins.
const ENC: &[u8] = b"ENC[AES256_GCM,";

fn mentions_sops(content: &[u8]) -> bool {
    content.windows(4).any(|window| window == b"sops")
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
