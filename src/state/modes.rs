//! Who else may look into the state directory: it holds copies of encrypted files, the ledger and lease keys' hashes, and is
//! for its owner alone.
#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::platform;

use super::{Account, open_existing};

/// So many entries are looked at, so many levels down.
const MOST: usize = 2_000;
const DEEPEST: usize = 4;

/// What we make in a state directory.
const DIRECTORIES: [&str; 9] =
    ["live", "copies", "spool", "trusted", "advisory", "notes", "keep", "agents", "installed"];
const FILES: [&str; 3] = ["locked.db", "machine", "boots"];

/// Something that others may read or write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loose {
    /// What.
    pub path: PathBuf,
    /// Its permission bits.
    pub mode: u32,
    /// Others may write there.
    pub writable: bool,
    account: Account,
}

impl Loose {
    /// Takes the rights of group and others away, as the owner of the thing, from the very file that was found.
    ///
    /// # Errors
    /// It is gone, a link now, or not ours.
    pub fn tighten(&self) -> io::Result<()> {
        let _as_owner = self.account.act();
        let file = open_existing(&self.path)?;
        let mode = platform::mode(&file.metadata()?);
        platform::set_mode(&file, mode & 0o7700)
    }
}

/// What is open to others of a directory that should be for one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Open {
    /// The directory first, if it is open itself; then what we made in it.
    pub parts: Vec<Loose>,
    /// Nothing lies in it that is not ours: only then may somebody else's rights be taken away, since a path that was named
    /// by mistake (`/tmp`, a home) has others in it.
    pub ours_alone: bool,
}

/// Looks at the directory and at what we make in it. Links are not followed, and nothing of others is looked at.
#[must_use]
pub fn loose(directory: &Path) -> Open {
    let (ours, others): (Vec<PathBuf>, Vec<PathBuf>) = below(directory).into_iter().partition(|path| is_ours(path));
    // A directory for everybody (sticky, as /tmp is) is nobody's to close, empty or not.
    let is_everybody_s = fs::symlink_metadata(directory).is_ok_and(|it| platform::mode(&it) & 0o1000 != 0);
    let ours_alone = others.is_empty() && directory.is_dir() && !is_everybody_s;
    let mut all = vec![directory.to_owned()];
    let mut level = ours;
    for _ in 0..DEEPEST {
        all.extend(level.iter().cloned());
        level = level.iter().filter(|path| path.is_dir() && !path.is_symlink()).flat_map(|path| below(path)).collect();
    }
    Open { parts: all.into_iter().take(MOST).filter_map(look).collect(), ours_alone }
}

fn below(path: &Path) -> Vec<PathBuf> {
    fs::read_dir(path).into_iter().flatten().flatten().take(MOST).map(|entry| entry.path()).collect()
}

fn is_ours(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    DIRECTORIES.contains(&&*name) || FILES.iter().any(|ours| name.starts_with(ours))
}

fn look(path: PathBuf) -> Option<Loose> {
    let found = fs::symlink_metadata(&path).ok().filter(|found| found.is_dir() || found.is_file())?;
    let mode = platform::mode(&found) & 0o777;
    let account = Account::owner(&found);
    (mode & 0o077 != 0).then_some(Loose { path, mode, writable: mode & 0o022 != 0, account })
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
    }

    #[test]
    fn ours_are_found_with_all_below_and_others_are_not_looked_at() {
        let place = tempfile::tempdir().expect("place");
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("copies/a")).expect("directories");
        fs::write(at("copies/a/x"), "").expect("file");
        fs::write(at("locked.db"), "").expect("file");
        for (name, mode) in [("copies", 0o700), ("copies/a", 0o750), ("copies/a/x", 0o604), ("locked.db", 0o600)] {
            set(&at(name), mode);
        }
        set(place.path(), 0o700);
        let names = |open: &Open| open.parts.iter().map(|it| it.path.clone()).collect::<Vec<_>>();
        let open = loose(place.path());
        assert_eq!((names(&open), open.ours_alone), (vec![at("copies/a"), at("copies/a/x")], true));
        for part in &open.parts {
            part.tighten().expect("ours");
        }
        assert_eq!(loose(place.path()), Open { parts: Vec::new(), ours_alone: true });
        fs::write(at("notes.txt"), "").expect("file");
        set(place.path(), 0o777);
        let open = loose(place.path());
        assert_eq!((names(&open), open.ours_alone), (vec![place.path().to_owned()], false));
        assert!(open.parts[0].writable);
    }

    #[test]
    fn a_directory_for_everybody_is_nobody_s() {
        let place = tempfile::tempdir().expect("place");
        assert!(loose(place.path()).ours_alone, "nobody loses anything in an empty one");
        set(place.path(), 0o1777);
        assert!(!loose(place.path()).ours_alone && !loose(Path::new("/no/such/place")).ours_alone);
    }
}
