//! Paths as Go reads them: cleaned by their letters, links not followed (`filepath.Abs`, `filepath.Clean`).
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// `path` from `base`, without `.`, `..` and doubled slashes. `base` is absolute.
pub(super) fn absolute(base: &Path, path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            // Above the root is the root.
            Component::ParentDir => drop(cleaned.pop()),
            other => cleaned.push(other),
        }
    }
    cleaned
}

/// The last part of a directory's path; empty for the root.
pub(super) fn base(directory: &Path) -> &OsStr {
    directory.file_name().unwrap_or_default()
}

/// The directory that a file lies in; of the root, the root.
pub(super) fn parent(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

/// A path that can be shown on one line.
pub(super) fn shown(path: &Path) -> String {
    crate::terms::percent_encode(path.as_os_str().as_encoded_bytes())
}

/// The texts between `separator`s; bytes that are no UTF-8 stay as they are.
pub(super) fn split<'a>(text: &'a OsStr, separator: &str) -> Vec<std::borrow::Cow<'a, OsStr>> {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let (mut rest, separator) = (text.as_bytes(), separator.as_bytes());
    let mut parts = Vec::new();
    while let Some(at) = rest.windows(separator.len().max(1)).position(|window| window == separator) {
        parts.push(std::ffi::OsString::from_vec(rest[..at].to_vec()).into());
        rest = &rest[at + separator.len()..];
    }
    parts.push(OsStr::from_bytes(rest).into());
    parts
}
