//! Who else has a hand in what a shim runs: whoever may write the program, its folder, or a directory on the way there.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::state::Account;

/// Something that others can change, or cannot reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loose {
    /// Which part.
    pub path: PathBuf,
    /// What is so, behind the path.
    pub why: String,
    /// What makes it so no longer: arguments of chmod; none where it takes another place.
    pub mode: Option<&'static str>,
}

/// In such a directory nobody can take away or replace what is another's (chmod(1)).
const STICKY: u32 = 0o1000;

/// What stands in the way of a program that the whole machine is to run: everybody must come there, and nobody but root may
/// change any part of the way.
#[must_use]
pub fn not_for_all(program: &Path) -> Option<Loose> {
    let root = Keepers { accounts: root(), groups: groups() };
    way(program).into_iter().find_map(|part| {
        let found = fs::metadata(&part).ok()?;
        let needs = if found.is_dir() { 0o1 } else { 0o5 };
        match found.mode() & needs == needs {
            true => root.objection(part, &found, false),
            false => Some(Loose { path: part, why: "others may not come there".to_owned(), mode: None }),
        }
    })
}

/// What others than root and the account that we serve may change of this folder of shims, or of a program that they lead to.
#[must_use]
pub fn changed_by_others(place: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Option<Loose> {
    let mut keepers = Keepers { accounts: root(), groups: groups() };
    for account in [Account::ours(), Account::served(env)] {
        let (user, group) = account.numbers();
        keepers.accounts.push(user);
        keepers.groups.push(group);
    }
    way(place).into_iter().find_map(|part| {
        let found = fs::metadata(&part).ok()?;
        let ends_there = part == place || place.canonicalize().is_ok_and(|real| part == real);
        keepers.objection(part, &found, ends_there)
    })
}

/// Whom nobody has to fear.
struct Keepers {
    accounts: Vec<u32>,
    groups: Vec<u32>,
}

impl Keepers {
    /// `adds`: a new entry is a change as well.
    fn objection(&self, path: PathBuf, found: &Metadata, adds: bool) -> Option<Loose> {
        let mode = found.mode();
        let sticky = found.is_dir() && mode & STICKY != 0 && !adds;
        let (why, mode) = if !self.accounts.contains(&found.uid()) {
            (format!("it belongs to user {}", found.uid()), None)
        } else if sticky {
            return None;
        } else if mode & 0o002 != 0 {
            (format!("everybody may write there ({:o})", mode & 0o7777), Some("o-w"))
        } else if mode & 0o020 != 0 && !self.groups.contains(&found.gid()) {
            (format!("group {} may write there ({:o})", found.gid(), mode & 0o7777), Some("g-w"))
        } else {
            return None;
        };
        Some(Loose { path, why, mode })
    }
}

/// Root, also where this user has a namespace in which root is called otherwise: `/` is root's.
fn root() -> Vec<u32> {
    std::iter::once(0).chain(fs::metadata("/").map(|found| found.uid())).collect()
}

/// Root's, and the one that a system gives its `/usr/local` to (`staff`).
fn groups() -> Vec<u32> {
    let of = |place| fs::metadata(place).map(|found: Metadata| found.gid());
    [Ok(0), of("/"), of("/usr/local")].into_iter().flatten().collect()
}

/// Every part of the way to a place, by its name and as it really is, itself the last.
fn way(place: &Path) -> Vec<PathBuf> {
    let real = place.canonicalize().unwrap_or_else(|_| place.to_owned());
    let mut parts: Vec<PathBuf> = [place, &real].into_iter().flat_map(Path::ancestors).map(Path::to_owned).collect();
    // The nearest to the root first: it is the one to close.
    parts.sort_by_key(|part| part.components().count());
    parts.dedup();
    parts
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn who_may_write_any_part_of_the_way_has_a_hand_in_it() {
        let place = tempfile::tempdir().expect("place");
        let folder = place.path().join("above/shims");
        fs::create_dir_all(&folder).expect("folder");
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
        let nobody = |_: &str| None;
        let said = || changed_by_others(&folder, &nobody).map(|it| (it.path, it.mode));
        let above = folder.parent().expect("above");
        for (mode, of_above, of_folder) in
            [(0o755, false, false), (0o777, true, true), (0o1777, false, true), (0o775, false, false)]
        {
            for (path, open) in [(above, of_above), (&folder, of_folder)] {
                set(above, 0o755);
                set(&folder, 0o755);
                set(path, mode);
                let expected = open.then(|| (path.to_owned(), Some("o-w")));
                assert_eq!(said(), expected, "{} {mode:o}", path.display());
            }
        }
        set(above, 0o750);
        let closed = not_for_all(&folder).expect("not for all");
        assert!(closed.path.starts_with(place.path()), "{closed:?}");
        assert_eq!(not_for_all(Path::new("/bin/sh")), None);
    }
}
