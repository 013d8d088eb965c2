//! What is protected: `kind:name`, in a scope.
#![forbid(unsafe_code)]

use std::fmt;

use serde::{Deserialize, Serialize};

/// `kind:name`, canonical and printable: kind is lower-case ASCII, and every byte of the name that is not part of a printable
/// UTF-8 character is percent-encoded (a space is `%20`, a percent sign `%25`), and so is every character that means something
/// to a shell: names stand in lines that people paste, and who commits a file chooses one. Ordered by bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ResourceName(String);

/// Why a text is not a resource name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResourceNameError {
    /// There is no `:` or nothing before it.
    #[error(
        "a resource is KIND:NAME, for example sops:monitoring; {0:?} has no kind (the name of a file: locked explain -- sops edit FILE)"
    )]
    NoKind(String),
    /// The kind has other characters than `a`–`z`, `0`–`9`, `-`, `_`.
    #[error("the kind in {0:?} may have only the letters a to z, digits, '-' and '_'")]
    BadKind(String),
    /// There is nothing after the `:`.
    #[error("a resource is KIND:NAME, for example sops:monitoring; {0:?} has no name")]
    NoName(String),
    /// More than [`ResourceName::MAX`] bytes.
    #[error("a resource name has at most {max} bytes, this one has {0}", max = ResourceName::MAX)]
    TooLong(usize),
}

impl From<ResourceName> for String {
    fn from(name: ResourceName) -> Self {
        name.0
    }
}

impl TryFrom<String> for ResourceName {
    type Error = ResourceNameError;

    fn try_from(text: String) -> Result<Self, ResourceNameError> {
        Self::parse(text.as_bytes())
    }
}

impl ResourceName {
    /// The longest name in bytes, kind and encoding included.
    pub const MAX: usize = 512;

    /// A name from its parts; the name's bytes are encoded where they must be. An over-long name keeps its head and
    /// takes a digest for the rest, so that it stays one name for one thing.
    ///
    /// # Panics
    /// Never for the kinds in this crate: the kind is a constant of a rule.
    #[must_use]
    pub fn of(kind: &str, name: &[u8]) -> Self {
        let text = format!("{kind}:{}", encode(name, in_a_name));
        if text.len() <= Self::MAX {
            return Self(text);
        }
        let digest = super::Digest::of(text.as_bytes());
        let mut cut = Self::MAX - 80;
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        Self(format!("{}…{digest}", &text[..cut]))
    }

    /// Reads what a person typed (`-r sops:monitoring`), or a store says. Text that is already encoded stays as it is; what no
    /// name has raw is encoded.
    ///
    /// # Errors
    /// See [`ResourceNameError`].
    pub fn parse(text: &[u8]) -> Result<Self, ResourceNameError> {
        let shown = || String::from_utf8_lossy(&text[..text.len().min(80)]).into_owned();
        let colon = text.iter().position(|&byte| byte == b':').filter(|&at| at > 0);
        let Some(colon) = colon else { return Err(ResourceNameError::NoKind(shown())) };
        let (kind, name) = (&text[..colon], &text[colon + 1..]);
        let kind = std::str::from_utf8(kind)
            .ok()
            .filter(|kind| kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b)))
            .ok_or_else(|| ResourceNameError::BadKind(shown()))?;
        if name.is_empty() {
            return Err(ResourceNameError::NoName(shown()));
        }
        let text = format!("{kind}:{}", encode(name, |character| character == '%' || in_a_name(character)));
        if text.len() > Self::MAX {
            return Err(ResourceNameError::TooLong(text.len()));
        }
        Ok(Self(text))
    }

    /// The canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// It stands for the value of a secret, of which two must not be made at once: one would overwrite the other, and
    /// nothing would say so.
    #[must_use]
    pub fn is_rotation(&self) -> bool {
        self.kind() == "rotation"
    }

    /// The part before the first `:`.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Percent-encodes what cannot be shown on one line: controls, spaces, `%` itself, bytes that are not UTF-8, and
/// characters that reorder or hide text (bidi controls, zero-width).
#[must_use]
pub fn percent_encode(bytes: &[u8]) -> String {
    encode(bytes, |character| character != '%' && shows_as_itself(character))
}

/// Does the character stand in a name as itself? What a shell takes as it is, and letters of all scripts; not the curly quotes,
/// which are quotes to PowerShell.
fn in_a_name(character: char) -> bool {
    match u8::try_from(character).ok().filter(u8::is_ascii) {
        Some(byte) => byte != b'%' && super::quote::is_plain(byte),
        None => shows_as_itself(character) && !matches!(character, '\u{2018}'..='\u{201f}'),
    }
}

/// What [`percent_encode`] made of them.
#[must_use]
pub fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits =
            bytes.get(at + 1..at + 3).filter(|digits| bytes[at] == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        decoded.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    decoded
}

fn encode(bytes: &[u8], stands: impl Fn(char) -> bool) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if stands(character) {
                text.push(character);
            } else {
                let mut buffer = [0; 4];
                for byte in character.encode_utf8(&mut buffer).bytes() {
                    let _infallible = write!(text, "%{byte:02X}");
                }
            }
        }
        for byte in chunk.invalid() {
            let _infallible = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Does the character show as itself where it stands? Not a space, a control character (escape sequences begin with one), or
/// one that hides or reorders what is around it.
#[must_use]
pub fn shows_as_itself(character: char) -> bool {
    let hidden = matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    !character.is_control() && !character.is_whitespace() && !hidden
}

/// Where a name means something: a repository (`host/path` of its origin or `local/<uuid>`), a machine, an engine,
/// or `global`. Two scopes never block each other over a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scope(pub String);

impl Scope {
    /// The scope of kinds that mean the same everywhere (`server`, `workflow`, and what is named by hand).
    #[must_use]
    pub fn global() -> Self {
        Self("global".to_owned())
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name in its scope: the key of mutual exclusion. Ordered by the bytes of the name, then of the scope; every
/// contender takes a set in this order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// The name.
    pub name: ResourceName,
    /// Where it means something.
    pub scope: Scope,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_printable_whatever_the_bytes() {
        assert_eq!(ResourceName::of("sops", b"a b\xff\n").as_str(), "sops:a%20b%FF%0A");
        assert_eq!(ResourceName::of("sops", "é%\u{202e}".as_bytes()).as_str(), "sops:é%25%E2%80%AE");
    }

    #[test]
    fn what_is_shown_can_be_typed_back() {
        let name = ResourceName::of("sops", b"a b%");
        assert_eq!(ResourceName::parse(name.as_str().as_bytes()), Ok(name));
    }

    /// Whoever made it: a file's name, a person's hand, a row of a store.
    #[test]
    fn no_name_means_anything_to_a_shell() {
        let all: Vec<u8> = (0..=255).collect();
        let signs = [&b"$(touch${IFS}x)"[..], "a\u{2018}b\u{201d}".as_bytes(), "'\"`~*?[]{}!#&;|<>^\\".as_bytes()];
        // A name may not be longer.
        for name in all.chunks(64).chain(signs) {
            let made = ResourceName::of("sops", name);
            let typed = ResourceName::parse(&[b"sops:", name].concat()).expect("a name");
            for text in [made.as_str(), typed.as_str()] {
                let raw = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && !"/._-+=:@,%".contains(c);
                assert!(!text.contains(raw) && !text.contains(['\u{2018}', '\u{201d}']), "{text}");
            }
            assert_eq!(ResourceName::parse(made.as_str().as_bytes()), Ok(made));
        }
        assert_eq!(ResourceName::of("sops", b"$(x)"), ResourceName::parse(b"sops:$(x)").expect("a name"));
    }

    #[test]
    fn every_byte_comes_back_from_its_encoding() {
        let all: Vec<u8> = (0..=255).chain("é%41".bytes()).collect();
        assert_eq!(percent_decode(&percent_encode(&all)), all);
    }

    #[test]
    fn texts_that_are_no_resource_are_refused() {
        for text in ["monitoring", ":x", "SOPS:x", "so ps:x", "sops:"] {
            assert!(ResourceName::parse(text.as_bytes()).is_err(), "{text}");
        }
        let long = |length: usize| ResourceName::parse(format!("a:{}", "x".repeat(length - 2)).as_bytes());
        assert_eq!(long(512).map(|name| name.as_str().len()), Ok(512));
        assert_eq!(long(513), Err(ResourceNameError::TooLong(513)));
    }

    #[test]
    fn what_is_no_encoding_stands_for_itself() {
        for (text, bytes) in
            [("100%", "100%"), ("%4", "%4"), ("%zz%41", "%zzA"), ("%é", "%é"), ("%2541", "%41"), ("%+1", "%+1")]
        {
            assert_eq!(percent_decode(text), bytes.as_bytes(), "{text}");
        }
        // Spaces of all scripts are seen.
        assert_eq!(percent_encode("a\u{a0}b\u{3000}".as_bytes()), "a%C2%A0b%E3%80%80");
    }

    #[test]
    fn a_name_shows_as_it_is_and_tells_its_kind() {
        let name = ResourceName::of("rotation", b"a:KEY");
        assert_eq!((name.kind(), name.is_rotation()), ("rotation", true));
        assert!(!ResourceName::of("sops", b"rotation:x").is_rotation());
        let resource = Resource { name: name.clone(), scope: Scope::global() };
        assert_eq!(format!("{name} {resource} {}", resource.scope), "rotation:a:KEY rotation:a:KEY global");
        assert_eq!(String::from(name.clone()), "rotation:a:KEY");
        assert_eq!(ResourceName::try_from("rotation:a:KEY".to_owned()), Ok(name));
    }

    #[test]
    fn two_long_names_stay_two_names() {
        let (a, b) = ("x".repeat(600) + "a", "x".repeat(600) + "b");
        let (a, b) = (ResourceName::of("sops", a.as_bytes()), ResourceName::of("sops", b.as_bytes()));
        assert!(a.as_str().len() <= ResourceName::MAX);
        assert_ne!(a, b);
        // As long as may be stays whole; a longer one is cut between two letters.
        assert_eq!(ResourceName::of("sops", &[b'x'; 507]).as_str(), format!("sops:{}", "x".repeat(507)));
        let letters = ResourceName::of("sops", "é".repeat(300).as_bytes());
        let (head, digest) = letters.as_str().split_once('…').expect("it is cut");
        assert_eq!((head, digest.len()), (&*format!("sops:{}", "é".repeat(213)), 64));
    }
}
