//! Which file a descriptor leads to.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;

use crate::program::FileId;
use crate::rules::{Stdin, Stdout};

/// The path of the regular file behind `descriptor`, proven by device and inode: the kernel's link names a deleted
/// file too, or one of another mount, and then the path leads elsewhere or nowhere.
pub(super) fn regular_file(descriptor: u8, append: bool) -> Option<Stdout> {
    let link = PathBuf::from(format!("/proc/self/fd/{descriptor}"));
    let open = fs::metadata(&link).ok().filter(fs::Metadata::is_file)?;
    let path = fs::read_link(&link).ok()?;
    let named = fs::metadata(&path).ok()?;
    let same = FileId::at(&path, &named).ok()? == FileId::at(&link, &open).ok()?;
    same.then_some(Stdout { path, append })
}

/// What stands at descriptor 0. A file that has no name any more can still be opened by the kernel's link, from its
/// beginning.
pub(super) fn input() -> Option<Stdin> {
    let link = PathBuf::from("/proc/self/fd/0");
    let kind = fs::metadata(&link).ok()?.file_type();
    if kind.is_fifo() || kind.is_socket() {
        return Some(Stdin::Pipe);
    }
    kind.is_file().then(|| Stdin::File(regular_file(0, false).map_or(link, |file| file.path)))
}
