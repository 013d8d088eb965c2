//! The physical path of a file: the one spelling left when every link is followed.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Component, Path, PathBuf};

use super::NamingError;
use crate::platform::settled;

/// As many links as Linux follows in one path (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// Resolves links, `.`, `..` and repeated slashes as the kernel does, and goes on where the kernel would stop: what does
/// not exist yet keeps its name, and a dangling link leads to the file that writing through it would create.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, NamingError> {
    if !path.is_absolute() {
        return Err(NamingError::Relative(path.to_owned()));
    }
    let mut ahead: VecDeque<PathBuf> = parts(path).collect();
    let mut physical = PathBuf::new();
    let mut links = 0;
    while let Some(part) = ahead.pop_front() {
        match part.components().next() {
            None | Some(Component::CurDir) => {}
            // A `..` after a link means the parent of where the link led.
            Some(Component::ParentDir) => _ = physical.pop(),
            Some(Component::Prefix(_) | Component::RootDir) => physical.push(&part),
            Some(Component::Normal(name)) => {
                physical.push(name);
                if let Some(target) = link_target(&physical)? {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(NamingError::Circle(path.to_owned()));
                    }
                    physical.pop();
                    for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                        ahead.push_front(part);
                    }
                }
            }
        }
    }
    Ok(settled(physical))
}

fn parts(path: &Path) -> impl Iterator<Item = PathBuf> {
    path.components().map(|component| PathBuf::from(component.as_os_str()))
}

/// Where a link leads; none for anything else, and for what does not exist.
fn link_target(path: &Path) -> Result<Option<PathBuf>, NamingError> {
    let unreadable = |source| NamingError::Unreadable { path: path.to_owned(), source };
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => std::fs::read_link(path).map(Some).map_err(unreadable),
        Ok(_) => Ok(None),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        Err(source) => Err(unreadable(source)),
    }
}
