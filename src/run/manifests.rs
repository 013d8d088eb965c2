//! What stands in manifests of Kubernetes (`kubectl apply -f FILE`).
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Read as _};
use std::path::Path;

use crate::rules::book::ManifestAsker;

/// A file of people is shorter (bytes: 1 MiB).
const LONGEST: u64 = 1 << 20;

/// So many files are read for one name, and no more than so many bytes (4 MiB).
const MOST: usize = 128;
const MOST_BYTES: usize = 4 << 20;

/// So many entries of directories are looked at.
const MOST_SEEN: usize = 4096;

/// Directories below each other that are looked at.
const DEEPEST: usize = 16;

/// Who answers, from the files of this machine.
pub(super) fn asked() -> ManifestAsker {
    Box::new(|path, recursive| {
        let mut texts = Vec::new();
        let found = std::fs::metadata(path);
        match found {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Some(texts),
            Ok(found) if found.is_dir() => {
                within(path, recursive, 0, &mut 0, &mut texts)?;
                Some(texts)
            }
            Ok(found) if found.is_file() => {
                texts.push(read(path)?);
                Some(texts)
            }
            _ => None,
        }
    })
}

fn within(directory: &Path, recursive: bool, depth: usize, seen: &mut usize, texts: &mut Vec<Vec<u8>>) -> Option<()> {
    let mut entries: Vec<_> = std::fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        *seen += 1;
        if *seen > MOST_SEEN || texts.len() >= MOST || texts.iter().map(Vec::len).sum::<usize>() > MOST_BYTES {
            return None;
        }
        let is_manifest = entry.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|own| end == *own));
        if entry.is_dir() {
            if recursive && !entry.is_symlink() {
                (depth < DEEPEST).then_some(())?;
                within(&entry, recursive, depth + 1, seen, texts)?;
            }
        } else if is_manifest && entry.is_file() {
            texts.push(read(&entry)?);
        }
    }
    Some(())
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let length = crate::platform::regular(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text)).ok()?;
    (length as u64 <= LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_those_of_a_directory_and_no_other_files() {
        let root = tempfile::tempdir().expect("root");
        let place = |name: &str| root.path().join(name);
        std::fs::create_dir(place("below")).expect("directory");
        for (name, text) in [("a.yaml", "a"), ("b.json", "b"), ("c.txt", "c"), ("below/d.yml", "d")] {
            std::fs::write(place(name), text).expect("file");
        }
        let ask = asked();
        let texts = |path: &Path, recursive| {
            ask(path, recursive).map(|texts| texts.concat().into_iter().map(char::from).collect::<String>())
        };
        assert_eq!(texts(root.path(), false).as_deref(), Some("ab"));
        assert_eq!(texts(root.path(), true).as_deref(), Some("abd"));
        assert_eq!(texts(&place("c.txt"), false).as_deref(), Some("c"));
        assert_eq!(texts(&place("gone"), false).as_deref(), Some(""));
        std::fs::write(place("large.yaml"), vec![b'#'; (1 << 20) + 1]).expect("file");
        assert_eq!(texts(&place("large.yaml"), false), None);
        assert_eq!(texts(Path::new("/dev/null"), false), None);
    }
}
