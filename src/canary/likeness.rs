//! `likeness`: of which of two versions a plaintext was made, and whether it is what a SOPS file holds. Names are in the open
//! in every version; values are asked for only where names say nothing.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use super::Arbiter;
use super::document::{self, Document, Format, Kind, sniff};
use super::structure::native;

/// Of which of two versions it was made, as far as it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// Where they differ it has what the older has, and nothing of the newer.
    Older,
    /// The other way round.
    Newer,
    /// It tells nothing, or both.
    Unclear,
}

impl Likeness {
    fn of((older, newer): (usize, usize)) -> Self {
        match (older > 0, newer > 0) {
            (true, false) => Self::Older,
            (false, true) => Self::Newer,
            _ => Self::Unclear,
        }
    }
}

/// Of which of two versions of a SOPS file this was made: plaintext, or SOPS that was made of it. The real sops is asked to
/// decrypt them only where they have the same names.
#[must_use]
pub fn likeness(own: &[u8], older: &[u8], newer: &[u8], arbiter: &Arbiter) -> Likeness {
    let (Ok(before), Ok(after)) = (native(older), native(newer)) else { return Likeness::Unclear };
    let is_plain = matches!(sniff(own), Kind::Plain);
    let Some(found) = plain(own, after.format).filter(|_| is_plain).or_else(|| native(own).ok()) else {
        return Likeness::Unclear;
    };
    let by_names = found.keys.sides(&before.keys, &after.keys, false);
    if by_names != (0, 0) {
        return Likeness::of(by_names);
    }
    let opened = |content: &[u8], document: &Document| arbiter.opened(content, document.format);
    let found = if is_plain { Some(found) } else { opened(own, &found) };
    let (Some(found), Some(before), Some(after)) = (found, opened(older, &before), opened(newer, &after)) else {
        return Likeness::Unclear;
    };
    Likeness::of(found.keys.sides(&before.keys, &after.keys, true))
}

/// Whether a content is what a SOPS file holds, in the open, but for a few values that were changed since.
#[must_use]
pub fn is_bared(sops: &Document, content: &[u8]) -> bool {
    let is_plain = matches!(sniff(content), Kind::Plain);
    is_plain && plain(content, sops.format).is_some_and(|plain| sops.keys.are_bared_in(&plain.keys))
}

/// The same of a file that lies beside it, and may be one of another stage with the same names: nearly all must be as long.
#[must_use]
pub fn is_copied(sops: &Document, content: &[u8]) -> bool {
    let is_plain = matches!(sniff(content), Kind::Plain);
    is_plain && plain(content, sops.format).is_some_and(|plain| sops.keys.are_copied_in(&plain.keys))
}

/// The names at the top of a plaintext, read in each of these formats.
#[must_use]
pub fn plain_names(content: &[u8], formats: &[Format]) -> BTreeSet<String> {
    if !matches!(sniff(content), Kind::Plain) {
        return BTreeSet::new();
    }
    let read = formats.iter().filter_map(|format| plain(content, *format));
    read.flat_map(|document| document.keys.first_names().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// In the format of its SOPS file, else in the one that it looks like.
fn plain(content: &[u8], format: Format) -> Option<Document> {
    document::read_as(content, format).or_else(|_| document::read(content)).ok()
}
