//! Identity below the names: is this one file, and does it have other names?
#![forbid(unsafe_code)]

use std::path::Path;

use crate::platform::about;

/// The number of a regular file with more than one name (hard links).
pub(super) fn shared(path: &Path) -> Option<u64> {
    let found = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    about(path, &found).ok().filter(|about| about.links > 1).map(|about| about.inode)
}

/// Do both paths lead to one entry, neither followed if it is a link?
pub(super) fn same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| {
        let about = std::fs::symlink_metadata(path).and_then(|found| about(path, &found)).ok()?;
        Some((about.device, about.inode))
    };
    matches!((identity(one), identity(other)), (Some(one), Some(other)) if one == other)
}
