//! What one file must be by itself, whatever it was before. No key is needed, and nothing runs.
#![forbid(unsafe_code)]

use super::document::{self, CIPHERTEXT, Document, Format, Kind, Metadata, Opened, holds};
use super::{Fault, Names};

/// Reads a file's content and says what is wrong with it by itself: empty, plaintext, cut off, conflict markers, CRLF
/// in dotenv, broken metadata, nothing encrypted, or a value in the open that its own rules say is encrypted. Pre-image copies are kept only of what passes here.
///
/// # Errors
/// The first [`Fault`] found. [`Fault::Unreadable`] is a weak finding for YAML: sops may read what we do not.
pub fn native(content: &[u8]) -> Result<Document, Fault> {
    judged(content, document::open(content))
}

fn judged(content: &[u8], opened: Opened) -> Result<Document, Fault> {
    let document = of_opened(content, opened)?;
    if nothing_encrypted(&document) {
        return Err(Fault::NothingEncrypted);
    }
    let open = document::laid_open(&document, content);
    match open.len() {
        0 => Ok(document),
        count => Err(Fault::LaidOpen(Names::new(open, count))),
    }
}

/// The same, and what the content is at a glance: it is read once.
///
/// # Errors
/// As [`native`], where it is SOPS.
pub fn kind_and_native(content: &[u8]) -> (Kind, Result<Document, Fault>) {
    let opened = document::open(content);
    let kind = document::kind_of(&opened);
    (kind, judged(content, opened))
}

/// The checks of [`native`] but for the last two, which may be different if it was so before.
pub(super) fn whole(content: &[u8]) -> Result<Document, Fault> {
    of_opened(content, document::open(content))
}

fn of_opened(content: &[u8], opened: Opened) -> Result<Document, Fault> {
    if opened == Opened::Empty {
        return Err(Fault::Empty);
    }
    if let Some(line) = conflict(content) {
        return Err(Fault::Conflict { line });
    }
    if is_dotenv(&opened)
        && let Some(line) = carriage_return(content)
    {
        return Err(Fault::CarriageReturns { line });
    }
    let document = match opened {
        Opened::Sops(document) => document,
        Opened::Damaged(unreadable) => return Err(Fault::Unreadable(unreadable)),
        Opened::Plain | Opened::Empty if holds(content, CIPHERTEXT) => return Err(Fault::CutOff),
        Opened::Plain | Opened::Empty => return Err(Fault::Plaintext),
    };
    match document.metadata.as_ref().and_then(Metadata::flaw) {
        Some(flaw) => Err(Fault::Metadata(flaw)),
        None => Ok(document),
    }
}

fn is_dotenv(opened: &Opened) -> bool {
    match opened {
        Opened::Sops(document) => document.format == Format::Dotenv,
        Opened::Damaged(unreadable) => unreadable.format == Format::Dotenv,
        Opened::Plain | Opened::Empty => false,
    }
}

/// It has values, none is encrypted, and that is not because their keys say so (`_unencrypted`).
pub(super) fn nothing_encrypted(document: &Document) -> bool {
    let suffix = document.metadata.as_ref().and_then(|metadata| metadata.unencrypted_suffix.as_deref());
    let meant = suffix.is_some_and(|suffix| !suffix.is_empty() && document.keys.plain_only_below(suffix));
    document.encrypted == 0 && document.plaintext > 0 && !meant
}

/// The line of the first marker, if a conflict opens and goes on: a lone row of signs may be content.
fn conflict(content: &[u8]) -> Option<usize> {
    let mut opened = None;
    for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
        if is_marker(line, b'<') {
            opened.get_or_insert(number + 1);
        } else if opened.is_some() && (is_marker(line, b'=') || is_marker(line, b'>')) {
            return opened;
        }
    }
    None
}

fn is_marker(line: &[u8], sign: u8) -> bool {
    line.len() >= 7 && line[..7].iter().all(|byte| *byte == sign) && line.get(7).is_none_or(u8::is_ascii_whitespace)
}

/// Only in the metadata is a CR certain to be wrong; a value in the open may end in one.
fn carriage_return(content: &[u8]) -> Option<usize> {
    let mut lines = content.split(|byte| *byte == b'\n').enumerate();
    lines.find(|(_, line)| line.starts_with(b"sops_") && line.ends_with(b"\r")).map(|(number, _)| number + 1)
}

/// Whether there is any sign of SOPS in it. What has none is plaintext, however large.
#[must_use]
pub fn may_hold_sops(content: &[u8]) -> bool {
    holds(content, "sops") && holds(content, CIPHERTEXT)
}

/// Whether there is an encrypted value besides the MAC. What has none may be somebody's secrets as they are.
#[must_use]
pub fn has_encrypted_value(content: &[u8]) -> bool {
    let cipher = CIPHERTEXT.as_bytes();
    // The whole name is `mac`, or `sops_mac` in dotenv: a value of somebody's is called `hmac`.
    let is_mac = |at: usize| {
        let before = content[..at].iter().rposition(|byte| !b" \t\"':=".contains(byte)).map_or(0, |last| last + 1);
        let name = content[..before].strip_suffix(b"mac");
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        name.is_some_and(|rest| rest.ends_with(b"sops_") || !rest.last().is_some_and(is_part))
    };
    let values = content.windows(cipher.len()).enumerate().filter(|(_, window)| *window == cipher);
    let (macs, others): (Vec<usize>, Vec<usize>) = values.map(|(at, _)| at).partition(|at| is_mac(*at));
    !others.is_empty() || macs.len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canary::document::Flaw;

    const META: &str =
        "sops_age__list_0__map_recipient=age1x\nsops_lastmodified=2026\nsops_mac=ENC[]\nsops_version=3.11.0\n";
    const VALUE: &str = "ENC[AES256_GCM,data:x,type:str]";

    fn fault(content: &str) -> Option<Fault> {
        native(content.as_bytes()).err()
    }

    #[test]
    fn a_mac_alone_is_no_encrypted_value() {
        let cipher = "ENC[AES256_GCM,data:x]";
        for text in ["A=1\nsops_mac=E\n", "a: 1\nsops:\n    mac: E\n", "{\"sops\": {\"mac\": \"E\"}}", "A=1\n", ""] {
            assert!(!has_encrypted_value(text.replace('E', cipher).as_bytes()), "{text}");
        }
        let own = ["hmac: E\nsops:\n    mac: E\n", "A_mac=E\n", "wp-mac = E\n[sops]\n", "mac=E\nsops_mac=E\n"];
        for text in ["k=E\nsops_mac=E\n", "{\"data\": \"E\"}", "E"].into_iter().chain(own) {
            assert!(has_encrypted_value(text.replace('E', cipher).as_bytes()), "{text}");
        }
    }

    #[test]
    fn each_flaw_has_its_own_name() {
        let without = |name: &str| {
            META.lines()
                .filter(|line| !line.contains(name))
                .fold(format!("A={VALUE}\n"), |text, line| text + line + "\n")
        };
        for (content, expected) in [
            (format!("A={VALUE}\n{META}"), None),
            (String::new(), Some(Fault::Empty)),
            ("\n \n".into(), Some(Fault::Empty)),
            ("A=1\n".into(), Some(Fault::Plaintext)),
            (format!("A={VALUE}\nB=ENC[AES2"), Some(Fault::CutOff)),
            (format!("A={VALUE}\n{META}").replace('\n', "\r\n"), Some(Fault::CarriageReturns { line: 2 })),
            (without("recipient"), Some(Fault::Metadata(Flaw::NoRecipients))),
            (without("mac"), Some(Fault::Metadata(Flaw::NoMac))),
            (without("lastmodified"), Some(Fault::Metadata(Flaw::NoLastModified))),
            (without("version"), Some(Fault::Metadata(Flaw::NoVersion))),
            (format!("A={VALUE}\n{META}A={VALUE}\n{META}"), Some(Fault::Metadata(Flaw::Twice))),
            (format!("A=1\nB=\n{META}"), Some(Fault::NothingEncrypted)),
            (format!("A=\nB=\n{META}"), None),
            (format!("A_unencrypted=1\n{META}sops_unencrypted_suffix=_unencrypted\n"), None),
            (format!("A=1\n{META}sops_unencrypted_suffix=_unencrypted\n"), Some(Fault::NothingEncrypted)),
            (
                format!("A={VALUE}\n<<<<<<< ours\nB=1\n=======\nB=2\n>>>>>>> theirs\n{META}"),
                Some(Fault::Conflict { line: 2 }),
            ),
        ] {
            assert_eq!(fault(&content), expected, "{content}");
        }
    }

    #[test]
    fn a_row_of_signs_alone_is_no_conflict() {
        for content in ["=======\n", "<<<<<<<x\n=======\n", "<<<<<<< a\n", " <<<<<<< a\n =======\n >>>>>>> b\n"] {
            assert_eq!(conflict(content.as_bytes()), None, "{content:?}");
        }
    }
}
