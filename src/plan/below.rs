//! What lies below a directory, as far as a look that somebody waits for goes.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// So many entries are looked at: a look takes a few milliseconds where the system has them at hand.
const MOST: usize = 20_000;

/// No further below than this: links may lead in circles.
const DEEPEST: usize = 40;

/// How a look ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    /// What was looked for is there.
    Found,
    /// Everything was looked at, and it is not.
    Nothing,
    /// There is more than was looked at, or a part of it cannot be read.
    Unfinished,
}

/// How a directory is looked through.
pub(super) struct Look<'a> {
    /// Links to directories are followed.
    pub(super) follow: bool,
    /// What is passed over, with all that is in it; by its path from the directory on.
    pub(super) skip: &'a dyn Fn(&Path) -> bool,
    /// The time is up.
    pub(super) is_late: &'a dyn Fn() -> bool,
}

/// Looks at everything below a directory, the nearest first, until one is what is looked for. `found` sees the path, and the
/// same from the directory on; of what is no directory.
pub(super) fn below(root: &Path, look: &Look<'_>, found: &mut dyn FnMut(&Path, &Path) -> bool) -> Looked {
    let mut ahead: VecDeque<(PathBuf, usize)> = VecDeque::from([(PathBuf::new(), 0)]);
    let (mut seen, mut unfinished) = (0, false);
    while let Some((directory, depth)) = ahead.pop_front() {
        let Ok(entries) = std::fs::read_dir(root.join(&directory)) else {
            unfinished = true;
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST || (seen % 64 == 0 && (look.is_late)()) {
                return Looked::Unfinished;
            }
            let relative = directory.join(entry.file_name());
            if (look.skip)(&relative) {
                continue;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let leads_on = || look.follow && kind.is_symlink() && entry.path().is_dir();
            if kind.is_dir() || leads_on() {
                unfinished |= depth >= DEEPEST;
                ahead.extend((depth < DEEPEST).then(|| (relative, depth + 1)));
            } else if found(&entry.path(), &relative) {
                return Looked::Found;
            }
        }
    }
    if unfinished { Looked::Unfinished } else { Looked::Nothing }
}
