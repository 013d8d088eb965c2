//! The versions of one file, as far as they are here.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap};

use crate::audit::door::Door;
use crate::audit::written::Written;
use crate::canary::{self, Document};
use crate::git::GitError;
use crate::terms::Digest;

/// Those of one path: what receipts and history tell of it.
pub(super) struct Versions {
    by_digest: HashMap<String, Document>,
    digests: HashMap<String, Digest>,
}

impl Versions {
    pub(super) fn read(
        door: &Door,
        tip: &str,
        path: &[u8],
        chain: &[Written],
        since: &[String],
    ) -> Result<Self, GitError> {
        let mut blobs: BTreeSet<String> = chain.iter().filter_map(|it| it.blob.clone()).collect();
        blobs.extend(door.line_of(tip, path)?);
        blobs.extend(since.iter().cloned());
        let mut versions = Self { by_digest: HashMap::new(), digests: HashMap::new() };
        door.contents(&blobs.iter().map(String::as_str).collect::<Vec<_>>(), |blob, content| {
            let Some((content, document)) = content.and_then(|it| canary::native(&it).ok().map(|found| (it, found)))
            else {
                return;
            };
            let digest = Digest::of(&content);
            versions.by_digest.insert(digest.as_str().to_owned(), document);
            versions.digests.insert(blob.to_owned(), digest);
        })?;
        Ok(versions)
    }

    /// The version that is this object.
    pub(super) fn at(&self, blob: &str) -> Option<(&Document, &Digest)> {
        let digest = self.digests.get(blob)?;
        Some((self.of(digest.as_str())?, digest))
    }

    pub(super) fn of(&self, digest: &str) -> Option<&Document> {
        self.by_digest.get(digest)
    }
}
