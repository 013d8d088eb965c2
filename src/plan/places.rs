//! Where a written file is, seen from every side from which a glob may name it.
#![forbid(unsafe_code)]

use std::path::{Component, Path, PathBuf};

use crate::naming::{self, Place};
use crate::rules::Book;

/// The places of one path: the file itself, and, where the path is a link, the link.
pub(super) fn of(path: &Path) -> Vec<Place> {
    let mut places: Vec<Place> = naming::place(path).into_iter().collect();
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return places };
    // Only the last part may be a link here: who removes or replaces it does nothing to the file behind it.
    if let Ok(above) = naming::place(&parent.join(".locked-places-a-name")) {
        let link = Place {
            path: above.path.with_file_name(name),
            inside: above.inside.map(|inside| inside.with_file_name(name)),
        };
        if !places.contains(&link) {
            places.push(link);
        }
    }
    places
}

/// The path by its letters, without `.` and `..`: on a system whose `/etc` is a link, people write `/etc` all the same.
pub(super) fn by_its_letters(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(cleaned.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => cleaned.push(part),
        }
    }
    cleaned
}

/// Whether writing it wants nothing. A link is as safe as what it leads to, and no safer than where it lies. What
/// cannot be found is not safe.
#[must_use]
pub fn is_safe(path: &Path, book: &Book) -> bool {
    if !book.has_safe() {
        return false;
    }
    let found = naming::place(path).is_ok();
    found && of(path).iter().all(|place| book.is_safe(&place.path, place.inside.as_deref()))
}
