//! Which files a pattern of a shell stands for (POSIX.1-2024, 2.14): a line is held for the files that there are when it is
//! read, which are those that its shell finds a moment later.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::git::path_from;
use crate::rules::book::NameAsker;

/// A pattern that stands for more is one that nobody looks at file by file.
const MOST: usize = 256;

/// So many entries of directories are looked at for one pattern.
const MOST_SEEN: usize = 8192;

/// Who answers, from the directories of this machine.
pub(super) fn asked() -> NameAsker {
    Box::new(names)
}

/// The names in their order, as the pattern begins (`secrets/*.yaml` is `secrets/app.yaml`); none where there are too many.
fn names(directory: &Path, pattern: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut found: Vec<Vec<u8>> = vec![Vec::new()];
    let mut seen = 0;
    let parts: Vec<&[u8]> = pattern.split(|&byte| byte == b'/').collect();
    for (at, part) in parts.iter().enumerate() {
        let end: &[u8] = if at + 1 < parts.len() { b"/" } else { b"" };
        if !is_pattern(part) {
            let part = unquoted(part);
            found.iter_mut().for_each(|name| name.extend(part.iter().chain(end)));
            continue;
        }
        let mut next = Vec::new();
        for start in &found {
            let place = directory.join(path_from(start));
            let Ok(entries) = std::fs::read_dir(&place) else { continue };
            for entry in entries.flatten() {
                seen += 1;
                if seen > MOST_SEEN || next.len() > MOST {
                    return None;
                }
                let file = entry.file_name();
                let name = file.as_encoded_bytes();
                let is_directory = || {
                    let kind = entry.file_type();
                    kind.is_ok_and(|kind| kind.is_dir() || (kind.is_symlink() && place.join(&file).is_dir()))
                };
                if fits(part, name) && (end.is_empty() || is_directory()) {
                    next.push([start.as_slice(), name, end].concat());
                }
            }
        }
        found = next;
    }
    // What a directory has just named is there.
    if parts.last().is_none_or(|last| !is_pattern(last)) {
        found.retain(|name| std::fs::symlink_metadata(directory.join(path_from(name))).is_ok());
    }
    found.sort();
    Some(found)
}

fn is_pattern(part: &[u8]) -> bool {
    let mut bytes = part.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'*' | b'?' | b'[' => return true,
            _ => {}
        }
    }
    false
}

fn unquoted(part: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(part.len());
    let mut bytes = part.iter();
    while let Some(byte) = bytes.next() {
        plain.extend(if *byte == b'\\' { bytes.next() } else { Some(byte) });
    }
    plain
}

/// Whether a name fits. One with a dot at its head fits only a pattern with one there.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    if name.first() == Some(&b'.') && !matches!(pattern, [b'.', ..] | [b'\\', b'.', ..]) {
        return false;
    }
    // The last star, and the place where it may take up one more.
    let (mut at, mut place, mut star) = (0, 0, None);
    while place < name.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at + 1, place));
            at += 1;
            continue;
        }
        match one(&pattern[at..], name[place]) {
            Some(length) => (at, place) = (at + length, place + 1),
            None => {
                let Some((behind, taken)) = star else { return false };
                star = Some((behind, taken + 1));
                (at, place) = (behind, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

/// How long the head of a pattern is that fits this byte.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'\\', literal, ..] => (*literal == byte).then_some(2),
        [b'[', ..] => set(pattern, byte),
        [literal, ..] => (*literal == byte).then_some(1),
        [] => None,
    }
}

/// The same for `[…]`; one that is never closed is a bracket.
fn set(pattern: &[u8], byte: u8) -> Option<usize> {
    let negated = matches!(pattern.get(1), Some(b'!' | b'^'));
    let begin = 1 + usize::from(negated);
    // A bracket at the head is one of the set.
    let close = pattern.iter().enumerate().skip(begin + 1).find(|(_, byte)| **byte == b']').map(|(at, _)| at);
    let Some(close) = close else { return (byte == b'[').then_some(1) };
    let inner = &pattern[begin..close];
    let (mut at, mut is_in) = (0, false);
    while let Some(&first) = inner.get(at) {
        match (inner.get(at + 1), inner.get(at + 2)) {
            (Some(b'-'), Some(&last)) => {
                is_in |= (first..=last).contains(&byte);
                at += 3;
            }
            _ => {
                is_in |= first == byte;
                at += 1;
            }
        }
    }
    (is_in != negated).then_some(close + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_as_a_shell_has_it() {
        for (pattern, name, expected) in [
            ("*.yaml", "app.yaml", true),
            ("*.yaml", ".yaml", false),
            (".*", ".env", true),
            (".env*", ".env", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b", "xaxab", true),
            ("*a*b", "xaxba", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]x]", "]", true),
            ("[a", "[a", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_files_are_found_where_they_lie() {
        let root = tempfile::tempdir().expect("root");
        for file in ["a/x.yaml", "b/x.yaml", "b/.x.yaml", "c.yaml", "a/d e.yml"] {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().expect("parent")).expect("directory");
            std::fs::write(path, "").expect("file");
        }
        let shown = |pattern: &str| {
            let found = names(root.path(), pattern.as_bytes()).expect(pattern);
            found.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect::<Vec<_>>().join(",")
        };
        for (pattern, expected) in [
            ("*/x.yaml", "a/x.yaml,b/x.yaml"),
            ("b/*", "b/x.yaml"),
            ("*.yaml", "c.yaml"),
            ("*/", "a/,b/"),
            ("./a/*.yml", "./a/d e.yml"),
            ("gone/*", ""),
        ] {
            assert_eq!(shown(pattern), expected, "{pattern}");
        }
        let whole = root.path().join("a/*.yaml").into_os_string().into_string().expect("text");
        assert_eq!(shown(&whole), root.path().join("a/x.yaml").to_string_lossy());
        for number in 0..=MOST + 1 {
            std::fs::write(root.path().join(format!("b/{number}")), "").expect("file");
        }
        assert_eq!(names(root.path(), b"b/*"), None);
    }
}
