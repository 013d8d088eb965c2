//! Identity below the names: is this one file, and does it have other names?
#![forbid(unsafe_code)]

use std::path::Path;

/// The inode number of a regular file with more than one hard link.
#[cfg(unix)]
pub(super) fn shared(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::symlink_metadata(path).ok()?;
    (found.is_file() && found.nlink() > 1).then(|| found.ino())
}

/// Do both paths lead to one entry, neither followed if it is a link?
#[cfg(unix)]
pub(super) fn same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |path| std::fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

/// std shows no link count here yet; hard links keep their separate names.
#[cfg(not(unix))]
pub(super) fn shared(_path: &Path) -> Option<u64> {
    None
}

/// Without inode numbers: the same canonical path.
#[cfg(not(unix))]
pub(super) fn same(one: &Path, other: &Path) -> bool {
    matches!((std::fs::canonicalize(one), std::fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}
