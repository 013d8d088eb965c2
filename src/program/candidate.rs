//! One place where the program could be.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use crate::platform::{about, executable};

use super::{FileId, OUR_NAME, SkipReason, platform};

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
    Usable(Facts),
}

/// What was seen of a file that can be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts {
    /// Which file it is.
    pub(super) id: FileId,
    /// It has one name, and is a program of its own (ELF), no script: it is not a launcher that stands under many names.
    pub(super) plain: bool,
    /// It is a script that speaks of us.
    pub(super) speaks_of_us: bool,
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
    } else if !executable(&place) {
        Candidate::Unusable(SkipReason::NoPermission)
    } else {
        let Ok(id) = FileId::at(&place, &metadata) else { return Candidate::Unusable(SkipReason::Unreachable) };
        if id == ourselves {
            return Candidate::Ours(SkipReason::Ourselves);
        }
        let page = first_page(&place);
        if platform::carries_our_note(&page) {
            return Candidate::Ours(SkipReason::Copy);
        }
        let is_program = platform::is_program(&page);
        Candidate::Usable(Facts {
            id,
            plain: is_program && about(&place, &metadata).is_ok_and(|it| it.links == 1),
            speaks_of_us: !is_program && page.windows(OUR_NAME.len()).any(|part| part == OUR_NAME.as_bytes()),
        })
    }
}

/// Looks whether we are at `path`, of whatever build.
pub(super) fn is_ours(path: &Path, ourselves: FileId) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    let is_us = || FileId::at(path, &metadata).is_ok_and(|id| id == ourselves);
    metadata.is_file() && (is_us() || platform::carries_our_note(&first_page(path)))
}

/// The first page of a file: it holds the note if this is some build of `locked`. What we may execute but not read is
/// taken for a stranger.
fn first_page(place: &Path) -> Vec<u8> {
    let mut page = Vec::with_capacity(FIRST_PAGE);
    let read = crate::platform::regular(place).and_then(|file| file.take(FIRST_PAGE as u64).read_to_end(&mut page));
    if read.is_ok() { page } else { Vec::new() }
}

/// Linkers place notes right after the ELF headers.
const FIRST_PAGE: usize = 4096;
