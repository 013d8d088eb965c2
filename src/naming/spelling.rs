//! File systems that take several spellings for one name: upper and lower case (macOS, Windows, vfat, casefolded ext4),
//! composed and decomposed accents (macOS). The question is put to the file system itself, component by component,
//! and only where the spelling is not already the plainest one; a lower-case ASCII path costs nothing.
//!
//! Not seen: the first file ever created in a casefolded ext4 directory whose parent is not casefolded.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;

use super::{bytes_of, inode};

/// The path of `physical` below `root`, `/`-separated, each component in the plainest spelling that the file system takes
/// for the same.
pub(super) fn below(root: &Path, physical: &Path) -> Vec<u8> {
    spelled(Vec::new(), false, root, physical)
}

/// The whole path, with a leading `/`. A drive is its small letter (`/c/x`, as Git Bash has it), a share on a server
/// `//server/share`.
pub(super) fn whole(physical: &Path) -> Vec<u8> {
    let root = physical.ancestors().last().unwrap_or(physical);
    let mut before = bytes_of(root.as_os_str()).to_ascii_lowercase();
    if cfg!(windows) {
        before.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    }
    while before.last() == Some(&b'/') {
        before.pop();
    }
    if let [letter, b':'] = before[..] {
        before = vec![b'/', letter];
    }
    spelled(before, true, root, physical)
}

fn spelled(mut spelled: Vec<u8>, outside: bool, root: &Path, physical: &Path) -> Vec<u8> {
    let tail = physical.strip_prefix(root).unwrap_or(physical);
    let mut directory = root.to_owned();
    for component in tail.components() {
        let name = component.as_os_str();
        if outside || !spelled.is_empty() {
            spelled.push(b'/');
        }
        spelled.extend_from_slice(bytes_of(&plainest(&directory, name)));
        directory.push(name);
    }
    spelled
}

/// The plainest spelling of `name` that leads to the same entry of `directory`.
fn plainest(directory: &Path, name: &OsStr) -> OsString {
    let candidates = other_spellings(name);
    if candidates.is_empty() {
        return name.to_owned();
    }
    let path = directory.join(name);
    if std::fs::symlink_metadata(&path).is_ok() {
        let same = candidates.iter().find(|candidate| inode::same(&directory.join(candidate), &path));
        return same.map_or_else(|| name.to_owned(), OsString::from);
    }
    // Not there yet: the directory is asked by its own name.
    if folds_case(directory) { OsString::from(&candidates[0]) } else { name.to_owned() }
}

/// Plainer spellings, the plainest first; none when the name is as plain as can be, or no text.
fn other_spellings(name: &OsStr) -> Vec<String> {
    let Some(text) = name.to_str() else { return Vec::new() };
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Vec::new();
    }
    let composed: String = text.nfc().collect();
    let mut spellings = vec![composed.to_lowercase().nfc().collect(), text.to_lowercase(), composed];
    spellings.dedup();
    spellings.retain(|spelling| spelling != text);
    spellings
}

/// Does the nearest existing directory with letters in its name answer to the same letters in the other case? Where none has
/// letters it is as is usual there.
fn folds_case(directory: &Path) -> bool {
    directory.ancestors().find_map(asked_by_name).unwrap_or(cfg!(windows))
}

fn asked_by_name(directory: &Path) -> Option<bool> {
    let name = directory.file_name()?.to_str()?;
    let swapped: String = name
        .chars()
        .map(
            |letter| {
                if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
            },
        )
        .collect();
    if swapped == name || std::fs::symlink_metadata(directory).is_err() {
        return None;
    }
    let other: PathBuf = directory.with_file_name(swapped);
    Some(inode::same(directory, &other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_name_has_no_other_spelling() {
        assert!(other_spellings(OsStr::new("monitoring.env.sops")).is_empty());
    }

    #[test]
    fn the_plainest_spelling_is_lower_case_and_composed() {
        assert_eq!(other_spellings(OsStr::new("Prod.env")), ["prod.env"]);
        assert_eq!(other_spellings(OsStr::new("E\u{301}.env"))[0], "é.env");
    }

    #[test]
    fn where_case_matters_the_case_stays() {
        let world = tempfile::tempdir().expect("directory");
        for name in ["Prod.env", "prod.env"] {
            std::fs::write(world.path().join(name), name).expect("file");
        }
        if std::fs::read(world.path().join("Prod.env")).expect("file") == b"Prod.env" {
            assert_eq!(below(world.path(), &world.path().join("Prod.env")), b"Prod.env");
            assert_eq!(below(world.path(), &world.path().join("New.env")), b"New.env");
        } else {
            assert_eq!(below(world.path(), &world.path().join("Prod.env")), b"prod.env");
            assert_eq!(below(world.path(), &world.path().join("New.env")), b"new.env");
        }
    }

    /// A hard link stands in for a file system that folds case: both spellings lead to one inode.
    #[test]
    fn where_both_cases_are_one_file_the_lower_one_names_it() {
        let world = tempfile::tempdir().expect("directory");
        std::fs::write(world.path().join("Prod.env"), "").expect("file");
        if std::fs::hard_link(world.path().join("Prod.env"), world.path().join("prod.env")).is_ok() {
            assert_eq!(below(world.path(), &world.path().join("Prod.env")), b"prod.env");
        }
    }
}
