//! PATH as a list of places, byte for byte.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::platform::OsStrExt as _;

/// `word` in every entry of `path`, in its order, duplicates included: the first visit decides, and a second one costs
/// less than remembering. An empty entry is the working directory. No quoting: a quote is a byte like any other.
/// An empty word is in no directory.
pub(super) fn candidates(path: &OsStr, word: &OsStr) -> impl Iterator<Item = PathBuf> {
    let entries = (!word.is_empty()).then(|| path.as_bytes().split(|&byte| byte == b':'));
    entries.into_iter().flatten().map(move |entry| {
        let directory = if entry.is_empty() { Path::new(".") } else { Path::new(OsStr::from_bytes(entry)) };
        directory.join(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_taken_as_they_are() {
        let cases: [(&[u8], &[&[u8]]); 7] = [
            (b"/a:/b", &[b"/a/x", b"/b/x"]),
            (b"/a:/a/:/b//", &[b"/a/x", b"/a/x", b"/b//x"]),
            (b"", &[b"./x"]),
            (b":/a:", &[b"./x", b"/a/x", b"./x"]),
            (b"bin:../b", &[b"bin/x", b"../b/x"]),
            (b"\"/q\":/\xff", &[b"\"/q\"/x", b"/\xff/x"]),
            (b"~/bin", &[b"~/bin/x"]),
        ];
        for (path, expected) in cases {
            let found: Vec<_> = candidates(OsStr::from_bytes(path), OsStr::new("x")).collect();
            let found: Vec<_> = found.iter().map(|path| path.as_os_str().as_bytes()).collect();
            assert_eq!(found, expected, "{}", path.escape_ascii());
        }
    }

    #[test]
    fn an_empty_word_is_nowhere() {
        assert_eq!(candidates(OsStr::new("/bin"), OsStr::new("")).count(), 0);
    }
}
