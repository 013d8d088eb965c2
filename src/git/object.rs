//! How git names content.
#![forbid(unsafe_code)]

use sha1::Digest as _;

use super::{GitError, Repository};

/// The hash a repository names its objects by (`extensions.objectFormat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectFormat {
    /// 40 hex digits.
    Sha1,
    /// 64 hex digits.
    Sha256,
}

impl Repository {
    /// The hash of this repository.
    ///
    /// # Errors
    /// When its configuration is unreadable or broken.
    pub fn object_format(&self) -> Result<ObjectFormat, GitError> {
        let format = self.setting("extensions", "objectformat")?;
        let newer = format.is_some_and(|format| format.eq_ignore_ascii_case(b"sha256"));
        Ok(if newer { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 })
    }

    /// The name git would give this content as a blob, in hex. The bytes are taken as they are; where git converts line
    /// ends, pass what it would store.
    ///
    /// # Errors
    /// As [`Repository::object_format`].
    pub fn blob_id(&self, content: &[u8]) -> Result<String, GitError> {
        Ok(self.object_format()?.blob_id(content))
    }
}

impl ObjectFormat {
    /// The blob's name in hex: the hash of `blob`, the length, a NUL, and the content.
    #[must_use]
    pub fn blob_id(self, content: &[u8]) -> String {
        let header = format!("blob {}\0", content.len());
        match self {
            Self::Sha1 => hex(&sha1::Sha1::new().chain_update(header).chain_update(content).finalize()),
            Self::Sha256 => hex(&sha2::Sha256::new().chain_update(header).chain_update(content).finalize()),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_blob_has_the_name_everyone_knows() {
        assert_eq!(ObjectFormat::Sha1.blob_id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(
            ObjectFormat::Sha256.blob_id(b""),
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
        );
    }
}
