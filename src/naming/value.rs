//! Paths that are no paths: a value that stands where the file belongs.
#![forbid(unsafe_code)]

use std::path::{Component, Path};

use crate::terms::may_hold_a_secret;

use super::bytes_of;

/// Does what is not there yet of this path look like a value rather than a name (`KEY=value`, a URL with a user part)? It
/// would go to the store as the name of a file. What is there has its name for everybody to see.
#[must_use]
pub fn is_likely_a_value(path: &Path) -> bool {
    let mut walked = std::path::PathBuf::new();
    let mut absent: Vec<u8> = Vec::new();
    for part in path.components() {
        walked.push(part);
        let Component::Normal(name) = part else { continue };
        if absent.is_empty() && walked.symlink_metadata().is_ok() {
            continue;
        }
        absent.push(b'/');
        absent.extend_from_slice(bytes_of(name));
    }
    may_hold_a_secret(&absent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_there_can_be_a_value() {
        let place = tempfile::tempdir().expect("place");
        let at = |path: &str| place.path().join(path);
        std::fs::create_dir(at("env=prod")).expect("directory");
        std::fs::write(at("a=b.yaml"), "").expect("file");
        for path in ["a=b.yaml", "env=prod/new.yaml", "new.yaml", "new/x@y.yaml"] {
            assert!(!is_likely_a_value(&at(path)), "{path}");
        }
        let long = format!("KEY={}", "x".repeat(5_000));
        for path in ["KEY=hunter2", "new/KEY=hunter2/x", "https://u:p@h/x", "https://token@h", "env=prod/K=v", &long] {
            assert!(is_likely_a_value(&at(path)), "{path}");
        }
    }
}
