//! What stands in files that a script reads in (`. FILE`).
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Read as _};
use std::path::Path;

use crate::rules::Sourced;
use crate::rules::book::SourceAsker;

/// A file of variables and a few functions is shorter (bytes: 64 KiB). A longer one is nobody's setting for one line.
const LONGEST: u64 = 64 * 1024;

/// Who answers, from the files of this machine.
pub(super) fn asked() -> SourceAsker {
    Box::new(read)
}

fn read(path: &Path) -> Sourced {
    // What is no file could hold a reader up, or be read but once.
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() <= LONGEST && !crate::rules::is_device(path) => {}
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Sourced::Missing;
        }
        _ => return Sourced::Unseen,
    }
    let mut text = Vec::new();
    match crate::platform::regular(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text)) {
        Ok(length) if length as u64 <= LONGEST => Sourced::Text(text),
        _ => Sourced::Unseen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_are_small_are_read() {
        let root = tempfile::tempdir().expect("root");
        let place = |name: &str| root.path().join(name);
        std::fs::write(place("small"), "A=1\n").expect("file");
        std::fs::write(place("large"), vec![b'#'; 64 * 1024 + 1]).expect("file");
        assert_eq!(read(&place("small")), Sourced::Text(b"A=1\n".to_vec()));
        assert_eq!(read(&place("gone")), Sourced::Missing);
        assert_eq!(read(&place("small/gone")), Sourced::Missing);
        for unseen in [place("large"), root.path().to_owned(), "/dev/null".into(), "/dev/stdin".into()] {
            assert_eq!(read(&unseen), Sourced::Unseen, "{}", unseen.display());
        }
    }
}
