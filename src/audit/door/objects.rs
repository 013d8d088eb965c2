//! Objects: their sizes, their contents, and what commits changed; each question in one batch.
#![forbid(unsafe_code)]

mod batch;
mod hands;

use std::io::Read as _;

use super::super::change::{Change, Kind};
use super::Door;
use super::spawn::cannot_read;
use crate::git::GitError;

impl Door {
    /// The objects and sizes (bytes) of these, in their order; none for what is no blob, or not here.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(in crate::audit) fn sizes(&self, names: &[Vec<u8>]) -> Result<Vec<Option<(String, u64)>>, GitError> {
        let mut sizes = vec![None; names.len()];
        self.each("--batch-check", names, |at, line, _| {
            sizes[at] = header(line);
            Ok(())
        })?;
        Ok(sizes)
    }

    /// Hands over the contents of these blobs, one after the other; none for what is not here.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(in crate::audit) fn contents(
        &self,
        blobs: &[&str],
        mut take: impl FnMut(&str, Option<Vec<u8>>),
    ) -> Result<(), GitError> {
        self.each("--batch", blobs, |at, line, output| {
            let Some((_, size)) = header(line) else {
                take(blobs[at], None);
                return Ok(());
            };
            let mut content = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
            output.read_exact(&mut content).map_err(cannot_read)?;
            output.read_exact(&mut [0]).map_err(cannot_read)?;
            take(blobs[at], Some(content));
            Ok(())
        })
    }

    /// Whether what is at a path now, or was there before, is content of this kind.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub fn any_content(&self, change: &Change, fits: impl Fn(&[u8]) -> bool) -> Result<bool, GitError> {
        let now = (change.kind == Kind::File).then_some(&change.blob);
        let blobs: Vec<&str> = now.into_iter().chain(&change.before).map(String::as_str).collect();
        let mut any = false;
        self.contents(&blobs, |_, content| any |= content.is_none_or(|content| fits(&content)))?;
        Ok(any)
    }
}

/// `OBJECT blob SIZE`.
fn header(line: &[u8]) -> Option<(String, u64)> {
    let mut facts = std::str::from_utf8(line).ok()?.trim_end().split(' ');
    let (object, kind, size) = (facts.next()?, facts.next()?, facts.next()?);
    (kind == "blob" && facts.next().is_none()).then_some((object.to_owned(), size.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::header;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_first_line_of_an_object_is_read_as_git_writes_it(object in "[0-9a-f]{40}", size in any::<u64>()) {
            let told = |kind: &str| format!("{object} {kind} {size}\n").into_bytes();
            prop_assert_eq!(header(&told("blob")), Some((object.clone(), size)));
            for other in ["tree", "commit", "missing"] {
                prop_assert_eq!(header(&told(other)), None);
            }
            prop_assert_eq!(header(format!("{object} missing\n").as_bytes()), None);
        }

        #[test]
        fn any_first_line_is_read_or_is_none(line in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _read = header(&line);
        }
    }
}
