//! One place where the program could be.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use super::{FileId, SkipReason, platform};

/// What is there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Candidate {
    /// Nothing that we could see.
    Missing,
    /// Something that cannot be executed.
    Unusable(SkipReason),
    /// Ourselves, or a copy of ourselves.
    Ours(SkipReason),
    /// An executable file.
    Usable,
}

/// Looks at `path`, which is relative to `cwd` or absolute.
pub(super) fn look(path: &Path, cwd: &Path, ourselves: FileId) -> Candidate {
    let place = cwd.join(path);
    let metadata = match fs::metadata(&place) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Candidate::Unusable(SkipReason::NotAFile);
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Candidate::Unusable(SkipReason::Unreachable);
        }
        Err(_) => return Candidate::Missing,
    };
    if metadata.is_dir() {
        Candidate::Unusable(SkipReason::Directory)
    } else if !metadata.is_file() {
        Candidate::Unusable(SkipReason::NotAFile)
    } else if !platform::may_execute(&place) {
        Candidate::Unusable(SkipReason::NoPermission)
    } else if FileId::from(&metadata) == ourselves {
        Candidate::Ours(SkipReason::Ourselves)
    } else if is_a_copy(&place) {
        Candidate::Ours(SkipReason::Copy)
    } else {
        Candidate::Usable
    }
}

/// Whether the file is some build of `locked`: its first page holds the note. What we may execute but not read is
/// taken for a stranger.
fn is_a_copy(place: &Path) -> bool {
    let mut page = Vec::with_capacity(FIRST_PAGE);
    let read = fs::File::open(place).and_then(|file| file.take(FIRST_PAGE as u64).read_to_end(&mut page));
    read.is_ok() && platform::carries_our_note(&page)
}

/// Linkers place notes right after the ELF headers.
const FIRST_PAGE: usize = 4096;
