//! What a content is by itself. Pure.
#![forbid(unsafe_code)]

use crate::canary::document::SIZE_CAP;
use crate::canary::{self, Document, Fault, Format, Kind};
use crate::terms::Digest;

/// One content, looked at.
#[derive(Debug, Clone)]
pub(super) enum Seen {
    /// It is not in this clone.
    Absent,
    /// It was not looked at: too small or too large to be SOPS, or of another kind.
    Passed,
    /// So large that nobody looks into it, and not surely plaintext.
    TooLarge,
    /// Nothing, or white space.
    Empty,
    /// Content without a sign of SOPS.
    Plain,
    /// The rest of a SOPS file.
    CutOff,
    /// Encrypted by another program.
    Ciphertext,
    /// It stands for a file that git does not keep: the digest is that of the file.
    Pointer(String),
    /// SOPS, whole.
    Whole(Box<Document>, Digest),
    /// SOPS, but we cannot follow its form, as sops may: what we stumble at.
    Odd(Digest, Fault),
    /// SOPS, and something is wrong with it.
    Broken(Fault),
}

/// How the files of other programs begin.
const OTHERS: &[&[u8]] =
    &[b"\0GITCRYPT\0", b"age-encryption.org/", b"-----BEGIN AGE ENCRYPTED FILE-----", b"$ANSIBLE_VAULT;"];
/// How the stand-in of a large file begins (git-lfs, `docs/spec.md`).
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

impl Seen {
    pub(super) fn of(content: &[u8]) -> Self {
        if content.len() as u64 > SIZE_CAP {
            return if canary::may_hold_sops(content) { Self::TooLarge } else { plain(content) };
        }
        let (kind, native) = canary::kind_and_native(content);
        match kind {
            Kind::Empty => Self::Empty,
            Kind::Plain => plain(content),
            Kind::Sops(_) => match native {
                Ok(document) => Self::Whole(Box::new(document), Digest::of(content)),
                Err(Fault::Unreadable(unreadable)) if unreadable.format == Format::Yaml => {
                    Self::Odd(Digest::of(content), Fault::Unreadable(unreadable))
                }
                Err(fault) => Self::Broken(fault),
            },
        }
    }

    /// It is SOPS by its content, whole or not.
    pub(super) fn is_sops(&self) -> bool {
        matches!(self, Self::Whole(..) | Self::Odd(..) | Self::Broken(_))
    }

    /// The document of a whole file.
    pub(super) fn document(&self) -> Option<&Document> {
        if let Self::Whole(document, _) = self { Some(document) } else { None }
    }

    /// The digest by which receipts know it.
    pub(super) fn digest(&self) -> Option<&str> {
        match self {
            Self::Whole(_, digest) | Self::Odd(digest, _) => Some(digest.as_str()),
            Self::Pointer(digest) => Some(digest),
            _ => None,
        }
    }
}

fn plain(content: &[u8]) -> Seen {
    if content.starts_with(POINTER) {
        let lines = content.split(|&byte| byte == b'\n');
        let digest = lines.filter_map(|line| line.strip_prefix(b"oid sha256:")).next().unwrap_or_default();
        return Seen::Pointer(String::from_utf8_lossy(digest).trim().to_owned());
    }
    if OTHERS.iter().any(|other| content.starts_with(other)) {
        return Seen::Ciphertext;
    }
    if canary::has_encrypted_value(content) { Seen::CutOff } else { Seen::Plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_content_is_told() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 3\n";
        let meta =
            "sops_age__list_0__map_recipient=age1x\nsops_lastmodified=2026\nsops_mac=ENC[]\nsops_version=3.11.0\n";
        let value = "A=ENC[AES256_GCM,data:x,type:str]\n";
        let conflict = format!("<<<<<<< a\n{value}=======\nB=1\n>>>>>>> b\n{meta}");
        for (content, expected) in [
            ("", "Empty"),
            (" \n", "Empty"),
            ("A=1\n", "Plain"),
            (value, "CutOff"),
            ("age-encryption.org/v1\n-> X25519", "Ciphertext"),
            ("\0GITCRYPT\0\x01", "Ciphertext"),
            (pointer, "Pointer(\"abc\")"),
            (&format!("{value}{meta}"), "Whole"),
            (&conflict, "Broken(Conflict"),
            (&format!("A=1\n{meta}"), "Broken(NothingEncrypted"),
            ("\0\x01\x02\u{fffd}", "Plain"),
        ] {
            let seen = format!("{:?}", Seen::of(content.as_bytes()));
            assert!(seen.starts_with(expected), "{content:?}: {seen}");
        }
        assert_eq!(Seen::of(pointer.as_bytes()).digest(), Some("abc"));
    }
}
