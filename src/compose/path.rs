//! Paths as Go reads them: cleaned by their letters, links not followed (`filepath.Abs`, `filepath.Clean`).
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use crate::platform::OsStrExt as _;

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
pub(super) fn split(text: &OsStr, separator: &str) -> Vec<OsString> {
    let (mut rest, separator) = (text.as_bytes(), separator.as_bytes());
    let mut parts = Vec::new();
    while let Some(at) = rest.windows(separator.len().max(1)).position(|window| window == separator) {
        parts.push(OsStr::from_bytes(&rest[..at]).to_owned());
        rest = &rest[at + separator.len()..];
    }
    parts.push(OsStr::from_bytes(rest).to_owned());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_by_their_letters() {
        for (given, expected) in [
            ("x", "/a/b/x"),
            ("", "/a/b"),
            (".", "/a/b"),
            ("..", "/a"),
            ("../../../x", "/x"),
            ("./x//y/./z/", "/a/b/x/y/z"),
            ("/c/../d", "/d"),
        ] {
            assert_eq!(absolute(Path::new("/a/b"), Path::new(given)), Path::new(expected), "{given}");
        }
        assert_eq!(base(Path::new("/")), "");
        assert_eq!(parent(Path::new("/")), Path::new("/"));
    }

    #[test]
    fn lists_are_split_at_whole_separators() {
        for (text, separator, expected) in [
            ("a:b", ":", vec!["a", "b"]),
            ("a", ":", vec!["a"]),
            ("", ":", vec![""]),
            (":a:", ":", vec!["", "a", ""]),
            ("a--b-c", "--", vec!["a", "b-c"]),
            ("ab", "", vec!["ab"]),
        ] {
            assert_eq!(split(OsStr::new(text), separator), expected, "{text} {separator}");
        }
    }
}
