//! Digests of file contents.
#![forbid(unsafe_code)]

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

/// SHA-256 of a file's content with line ends normalised (CRLF read as LF), so that a checkout that git converted
/// is still the same version. Shown as 64 lower-case hex digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of these bytes, CRLF read as LF.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        let mut hasher = sha2::Sha256::new();
        let mut rest = content;
        while let Some(at) = rest.windows(2).position(|pair| pair == b"\r\n") {
            hasher.update(&rest[..at]);
            rest = &rest[at + 1..];
        }
        hasher.update(rest);
        Self(hex(&hasher.finalize()))
    }

    /// The 64 hex digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", &self.0[..self.0.len().min(12)])
    }
}

/// A stored digest read back.
impl From<String> for Digest {
    fn from(text: String) -> Self {
        Self(text)
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_do_not_change_the_digest() {
        assert_eq!(Digest::of(b"a\r\nb\r\n"), Digest::of(b"a\nb\n"));
        assert_ne!(Digest::of(b"a\rb"), Digest::of(b"a\nb"), "a lone CR is content");
    }

    #[test]
    fn the_digest_of_nothing_is_the_well_known_one() {
        let digest = Digest::of(b"");
        assert!(digest.as_str().starts_with("e3b0c44298fc1c14"));
        assert_eq!(format!("{digest} {digest:?}"), format!("{} Digest(e3b0c44298fc)", digest.as_str()));
        // A stored one may be anything.
        assert_eq!(format!("{:?}", Digest::from("e3".to_owned())), "Digest(e3)");
    }
}
