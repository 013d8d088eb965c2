//! What a file must be after this command, seen against what it was before: the same format, the keys that the command
//! does not remove, nothing laid open, the recipients that were asked for. Pure.
#![forbid(unsafe_code)]

use std::path::Path;

use super::document::{self, Document, Flaw, Format, Lost, Opened};
use super::names::Names;
use super::structure::nothing_encrypted;
use super::{Expect, Fault, recipients};
use crate::rules::{Change, Via};

/// What there was before. No `Debug`: it may be plaintext.
pub(super) enum Before<'a> {
    /// No file, or an empty one.
    Nothing,
    /// A SOPS file.
    Sops(Box<Document>),
    /// A SOPS file that could not be read.
    Broken(Format),
    /// Anything else. It may be secret: its names are not shown.
    Plain(&'a [u8]),
}

impl<'a> Before<'a> {
    pub(super) fn of(content: Option<&'a [u8]>) -> Self {
        let Some(content) = content else { return Self::Nothing };
        match document::open(content) {
            Opened::Sops(document) => Self::Sops(Box::new(document)),
            Opened::Damaged(unreadable) => Self::Broken(unreadable.format),
            Opened::Plain => Self::Plain(content),
            Opened::Empty => Self::Nothing,
        }
    }

    /// The SOPS document of before, if it was one.
    pub(super) fn document(&self) -> Option<&Document> {
        match self {
            Self::Sops(document) => Some(document),
            Self::Nothing | Self::Broken(_) | Self::Plain(_) => None,
        }
    }
}

/// Judges `after` by what was before and what the command may do.
pub(super) fn check(before: &Before<'_>, after: &Document, path: &Path, expect: &Expect) -> Result<(), Fault> {
    if matches!(expect.change, Some(Change::DecryptInPlace | Change::DecryptTo)) {
        // What came out is a SOPS file itself: it was encrypted twice, and nothing of before can be compared.
        return Ok(());
    }
    double_encryption(before, expect)?;
    format_flip(before, after, path, expect)?;
    version(before.document(), after)?;
    rules(before.document(), after, expect)?;
    keys(before, after, expect)?;
    laid_open(before.document(), after)?;
    recipients::check(before.document(), after, expect)
}

/// sops refuses to encrypt what it recognises (203); what it does not recognise, such as a dotenv file in the binary
/// store, it wraps once more.
fn double_encryption(before: &Before<'_>, expect: &Expect) -> Result<(), Fault> {
    let was_sops = matches!(before, Before::Sops(_) | Before::Broken(_));
    match expect.change == Some(Change::Encrypt) && expect.via == Via::InPlace && was_sops {
        true => Err(Fault::DoubleEncryption),
        false => Ok(()),
    }
}

fn format_flip(before: &Before<'_>, after: &Document, path: &Path, expect: &Expect) -> Result<(), Fault> {
    let asked = |word: &Option<String>| word.as_deref().and_then(Format::of_type);
    if asked(&expect.asked.output_type) == Some(after.format) {
        return Ok(());
    }
    let was = match before {
        Before::Sops(document) => document.format,
        Before::Broken(format) => *format,
        // The type of the input says what a plaintext was; a name that asks for JSON says that JSON is meant.
        Before::Plain(_) if expect.via == Via::InPlace && !ends_in(path, &["json"]) => {
            asked(&expect.asked.input_type).unwrap_or(after.format)
        }
        Before::Plain(_) | Before::Nothing => after.format,
    };
    let is_yaml = ends_in(path, &["yaml", "yml"]) || asked(&expect.asked.input_type) == Some(Format::Yaml);
    // JSON is YAML too: the YAML store reads it and writes YAML.
    let widened = was == Format::Json && after.format == Format::Yaml && is_yaml;
    match was == after.format || widened {
        true => Ok(()),
        false => Err(Fault::FormatFlip { before: was, after: after.format }),
    }
}

fn ends_in(path: &Path, endings: &[&str]) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
}

/// Every sops that we stand before writes three numbers; fewer are the end of a cut file.
fn version(before: Option<&Document>, after: &Document) -> Result<(), Fault> {
    let of = |document: &Document| document.metadata.as_ref().map(|metadata| metadata.version.clone());
    let now = of(after).unwrap_or_default();
    let whole = now.splitn(3, '.').filter(|part| part.starts_with(|c: char| c.is_ascii_digit())).count() == 3;
    match whole || before.and_then(of) == Some(now) {
        true => Ok(()),
        false => Err(Fault::Metadata(Flaw::VersionCut)),
    }
}

/// sops writes the rules of a file that exists as they were; it may add the ready one where there was none.
fn rules(before: Option<&Document>, after: &Document, expect: &Expect) -> Result<(), Fault> {
    let (Some(before), false) = (before, expect.change == Some(Change::Encrypt)) else { return Ok(()) };
    let of =
        |document: &Document| document.metadata.as_ref().map(|metadata| metadata.rules.clone()).unwrap_or_default();
    let now = of(after);
    let other = of(before).into_iter().find(|rule| !now.contains(rule));
    other.map_or(Ok(()), |(name, _)| Err(Fault::RuleChanged(Names::new([name], 1))))
}

fn keys(before: &Before<'_>, after: &Document, expect: &Expect) -> Result<(), Fault> {
    match before {
        Before::Sops(document) => {
            let lost = document.keys.lost_in(&after.keys);
            if removes(document, after, &lost, expect.change) {
                return Ok(());
            }
            let names = Names::new(document.keys.names(&lost), lost.tops());
            Err(if lost.is_all() { Fault::AllKeysLost(names) } else { Fault::KeysLost(names) })
        }
        Before::Plain(content) if expect.change == Some(Change::Encrypt) && expect.via == Via::InPlace => {
            plain_keys(content, after)
        }
        Before::Plain(_) | Before::Nothing | Before::Broken(_) => Ok(()),
    }
}

/// Whether the command may be what removed these keys.
fn removes(before: &Document, after: &Document, lost: &Lost, change: Option<Change>) -> bool {
    if lost.is_empty() {
        return true;
    }
    match change {
        Some(Change::Set) => before.keys.within_one_list(lost) || before.keys.within_one_replaced(lost, &after.keys),
        Some(Change::Unset) => lost.tops() == 1 || before.keys.within_one_list(lost),
        Some(Change::Rotate | Change::UpdateKeys | Change::Groups) => false,
        Some(Change::Edit | Change::Encrypt | Change::Other) | None => !lost.is_all(),
        Some(Change::DecryptInPlace | Change::DecryptTo) => true,
    }
}

/// The keys of a plaintext that was encrypted in place. Only their number is told.
fn plain_keys(content: &[u8], after: &Document) -> Result<(), Fault> {
    if after.is_binary() {
        return Ok(());
    }
    let Ok(plain) = document::read_as(content, after.format) else { return Ok(()) };
    let lost = plain.keys.lost_in(&after.keys);
    // INI has more quirks than we follow in a text that a person wrote; there, only a total loss is certain.
    let certain = after.format != Format::Ini || lost.is_all();
    match lost.is_empty() || !certain {
        true => Ok(()),
        false => Err(Fault::KeysLost(Names::new([], lost.count()))),
    }
}

/// Nothing is encrypted: bad, unless it was so before, or all that was encrypted has been removed.
fn laid_open(before: Option<&Document>, after: &Document) -> Result<(), Fault> {
    let so_before = before.is_some_and(|before| !before.keys.exposed_in(&after.keys));
    match nothing_encrypted(after) && !so_before {
        true => Err(Fault::NothingEncrypted),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests;
