//! Places that cannot tell any more. That a place is not to be seen does not say that it is gone: it may belong to somebody
//! else, or not be mounted now.
#![forbid(unsafe_code)]

use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::Path;

use crate::git::{self, GitError, Repository};
use crate::lineage::Whereabouts;
use crate::store::StoredReceipt;

use super::super::super::witness;
use super::{Around, Seen};

impl Around<'_> {
    /// Its writer's place on this host is gone, or is another one now: that proves nothing, it may have been pushed before. A
    /// fetch that came after the place was taken away would have brought it.
    pub(super) fn not_there(
        &self,
        receipt: &StoredReceipt,
        repository: &Repository,
        place: &Path,
        seen: &Seen,
    ) -> Result<Whereabouts, GitError> {
        // All checkouts of a repository without a remote share its refs.
        if receipt.scope.0.starts_with("local/") {
            return Ok(Whereabouts::Nowhere);
        }
        let gone = if self.machine.wrote(receipt) { gone_at(place, receipt.at) } else { None };
        let Some(gone) = gone else { return self.out_of_sight(receipt, seen) };
        // A work tree of this very repository, whose objects would have it if it had ever been committed.
        let was_of_ours = witness::written_in_any(repository).contains(receipt.new.as_str());
        if was_of_ours && receipt.blob.is_some() && !self.has_object(repository, receipt)? {
            return Ok(Whereabouts::Nowhere);
        }
        let gone = witness::first(repository, "gone", &receipt.new).map_or(gone, |(at, _)| at.min(gone));
        // On whichever branch it was: nobody can say where it was pushed to.
        let branch = seen.branch_of(receipt);
        let looked_at = self.looked_at(repository, seen, branch)?.unwrap_or_default();
        // A clone into the same place is what has touched the directory above, in the same moment.
        if !repository.is_shallow() && looked_at >= gone && looked_at > receipt.at {
            return Ok(Whereabouts::Nowhere);
        }
        Ok(match self.unsure(receipt, None, seen)? {
            Whereabouts::OutOfSight { fetched, way, .. } => Whereabouts::OutOfSight { ours: true, fetched, way },
            other => other,
        })
    }
}

/// When the checkout that was at this place `then` was taken away, at the latest (ms since 1970); none where nobody can say
/// that it was.
fn gone_at(place: &Path, then: i64) -> Option<i64> {
    match std::fs::symlink_metadata(place.join(".git")) {
        // Another one lies there.
        Ok(_) => {
            // What is older was made elsewhere: it was moved here, or this is a linked work tree of it.
            let made = Repository::around(place).ok().flatten().and_then(|it| it.made_at()).filter(|at| *at > then);
            [made, git::modified(place.parent()?)].into_iter().flatten().min()
        }
        Err(error) if error.kind() != NotFound && error.kind() != NotADirectory => None,
        Err(_) => {
            let there = |place: &&Path| !std::fs::symlink_metadata(place).is_err_and(|error| error.kind() == NotFound);
            let above = place.ancestors().find(there)?;
            // What may not be read may hide it, and an empty directory is where something is mounted at other times.
            std::fs::read_dir(above).ok()?.next()?.ok()?;
            git::modified(above)
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_what_is_not_there_below_what_can_be_read_is_gone() {
        let root = tempfile::tempdir().expect("a directory");
        let root = root.path().canonicalize().expect("physical");
        let dir = |name: &str| {
            fs::create_dir_all(root.join(name)).expect("made");
            root.join(name)
        };
        dir("full/beside");
        let (closed, mounted) = (dir("closed/beside"), dir("mounted"));
        for (place, gone) in [
            (root.join("full/ws"), true),
            (root.join("full/ws/deep"), true),
            // Where something is mounted at other times.
            (mounted.clone(), false),
            (mounted.join("ws"), false),
            // Its git directory was removed.
            (dir("full"), true),
        ] {
            assert_eq!(gone_at(&place, 0).is_some(), gone, "{place:?}");
        }
        let closed = closed.parent().expect("above").to_owned();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("closed");
        // Who is root reads everything.
        let is_root = fs::read_dir(&closed).is_ok();
        assert!(is_root || gone_at(&closed.join("ws"), 0).is_none(), "closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("open");
    }
}
