//! Who holds, under which grant, with which token.
#![forbid(unsafe_code)]

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;
use uuid::Uuid;

use super::digest::hex;

/// Names one grant: one request over one or several resources. Random, made by the client before it asks, so that a
/// lost answer can be read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GrantId(pub Uuid);

impl GrantId {
    /// A fresh random id.
    #[must_use]
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }
}

impl fmt::Display for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Names a session: the identity that many commands share. The whole UUID works like a credential (it lets its owner
/// release what the session holds), so `Display` and `Debug` give the short form only. Serialized it is whole: for files that
/// nobody else may read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionId(pub Uuid);

impl SessionId {
    /// The whole UUID, for the store and for `locked session`; never for messages.
    #[must_use]
    pub fn whole(&self) -> String {
        self.0.to_string()
    }

    /// The first eight hex digits, which every view shows.
    #[must_use]
    pub fn short(&self) -> String {
        self.0.simple().to_string()[..8].to_owned()
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({})", self.short())
    }
}

/// The fencing token: grows with every grant of its resource, also over release, pruning and restored backups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FencingToken(pub i64);

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The random key that guards renew and release. The store keeps its hash alone; nothing shows the key. Serialized it is
/// whole: for files that nobody else may read.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseKey([u8; 32]);

impl LeaseKey {
    /// A fresh key from the operating system's generator.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn random() -> Result<Self, std::io::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(bytes))
    }

    /// The key itself in hex, for a store across a wire, which hashes it there; never for messages or logs.
    #[must_use]
    pub fn reveal(&self) -> String {
        hex(&self.0)
    }

    /// SHA-256 of the key in hex: what the store keeps and compares.
    #[must_use]
    pub fn hash(&self) -> String {
        hex(&sha2::Sha256::digest(self.0))
    }
}

impl fmt::Debug for LeaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LeaseKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "01234567-89ab-4def-8123-456789abcdef";

    fn uuid() -> Uuid {
        Uuid::parse_str(TEXT).expect("a UUID")
    }

    /// Who reads the whole of it in a message may release what the session holds.
    #[test]
    fn a_session_is_whole_only_where_that_is_asked_for() {
        let session = SessionId(uuid());
        assert_eq!((session.whole(), session.short()), (TEXT.to_owned(), "01234567".to_owned()));
        assert_eq!(format!("{session} {session:?}"), "01234567 SessionId(01234567)");
    }

    #[test]
    fn a_key_shows_nothing_and_the_store_keeps_its_hash() {
        let key = LeaseKey([1; 32]);
        assert_eq!(format!("{key:?}"), "LeaseKey(…)");
        assert_eq!(key.reveal(), "01".repeat(32));
        assert_eq!(key.hash(), "72cd6e8422c407fb6d098690f1130b7ded7ec2f7f5e1d30bd9d521f015363793");
    }

    #[test]
    fn no_two_grants_and_no_two_keys_are_the_same() {
        assert_ne!(GrantId::random(), GrantId::random());
        assert!(LeaseKey::random().expect("a key") != LeaseKey::random().expect("a key"));
    }

    #[test]
    fn grants_and_tokens_show_as_the_store_has_them() {
        assert_eq!(format!("{} {}", GrantId(uuid()), FencingToken(-7)), format!("{TEXT} -7"));
    }
}
