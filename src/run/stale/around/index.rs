//! A version that is staged and committed nowhere yet: what an index has somebody is about to commit.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::git::{GitError, Repository};
use crate::lineage::Way;
use crate::store::StoredReceipt;
use crate::terms::Digest;

use super::lies::Lies;
use super::{Around, Seen, path_of_key};

impl Around<'_> {
    /// What brings a version that is staged here, or in the work tree of its writer; none where it is staged in neither.
    pub(super) fn in_an_index(
        &self,
        ours: &Repository,
        seen: &Seen,
        receipt: &StoredReceipt,
        place: Option<&Path>,
    ) -> Result<Option<Way>, GitError> {
        if self.staged(ours, self.file(), receipt)?.is_some() {
            let aside = self.lies(ours, seen)? == Lies::Plain;
            return Ok(Some(Way::FromIndex { aside }));
        }
        let Some(place) = place.filter(|place| *place != ours.worktree_root) else { return Ok(None) };
        let file = place.join(path_of_key(&receipt.path));
        let Some(theirs) = self.theirs(place, &file) else { return Ok(None) };
        let branch = theirs.repository.branch(self.env)?;
        if !branch.is_some_and(|branch| seen.ours.has(&branch)) {
            return Ok(None);
        }
        let Some(staged) = self.staged(&theirs.repository, &file, receipt)? else { return Ok(None) };
        // What some commit has there is no question of the index.
        let is_committed = !theirs.history(self.env)?.brought(&staged).is_empty();
        Ok((!is_committed).then(|| Way::EndThere { worktree: place.display().to_string() }))
    }

    /// The object that the index of this work tree has, if it is that version and is there.
    fn staged(
        &self,
        repository: &Repository,
        file: &Path,
        receipt: &StoredReceipt,
    ) -> Result<Option<String>, GitError> {
        let Some((staged, _)) = repository.staged(file, self.env)? else { return Ok(None) };
        let content = repository.content_of(&staged, self.env)?;
        let is_it = |content: Vec<u8>| receipt.blob.as_ref() == Some(&staged) || Digest::of(&content) == receipt.new;
        Ok(content.is_some_and(is_it).then_some(staged))
    }
}
