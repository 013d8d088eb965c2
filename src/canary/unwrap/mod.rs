//! `unwrap`: does the data key still open with an age identity that is at hand? In process, a millisecond; no key
//! material leaves this room, and the data key itself is never read.
#![forbid(unsafe_code)]

mod keyring;

use std::collections::BTreeMap;

use super::document::{Document, Metadata, Recipient};
pub(super) use keyring::{Keyring, Wanted, key_files};

/// Which kinds of age identity could open a recipient of these documents.
pub(super) fn wanted(documents: [&Document; 2]) -> Wanted {
    let age = || documents.iter().filter_map(|one| one.metadata.as_ref()).flat_map(Metadata::age);
    Wanted { native: age().any(|id| id.starts_with("age1")), ssh: age().any(|id| id.starts_with("ssh-")) }
}

/// Whether the identity that opened `before` has been locked out of `after`. `false` also when that cannot be told: no
/// identity at hand, one that cannot be used here, or another kind of key that may open the file.
pub(super) fn locked_out(before: &Document, after: &Document, keyring: &Keyring) -> bool {
    let (Some(was), Some(now)) = (&before.metadata, &after.metadata) else { return false };
    let only_age = now.recipients.iter().all(|recipient| recipient.kind == "age");
    only_age && keyring.is_complete() && !opens(now, keyring) && opens(was, keyring)
}

/// Whether enough key groups open.
pub(super) fn opens(metadata: &Metadata, keyring: &Keyring) -> bool {
    let mut groups: BTreeMap<usize, bool> = BTreeMap::new();
    for recipient in &metadata.recipients {
        let open = groups.entry(recipient.group).or_default();
        *open = *open || (recipient.kind == "age" && opens_one(recipient, keyring));
    }
    let needed = metadata.threshold.unwrap_or(groups.len());
    groups.values().filter(|open| **open).count() >= needed.max(1)
}

/// Opening the header is enough: it is authenticated, and the payload behind it need not be read.
fn opens_one(recipient: &Recipient, keyring: &Keyring) -> bool {
    let armored = age::armor::ArmoredReader::new(recipient.enc.as_bytes());
    age::Decryptor::new(armored).is_ok_and(|decryptor| decryptor.decrypt(keyring.identities()).is_ok())
}
