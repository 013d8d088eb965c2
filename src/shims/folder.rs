//! Where the shims are.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::platform::OsStrExt as _;
use crate::state::{Account, Acting, as_owner_of};
use crate::terms::shell_quote;

use super::ShimError;
use super::platform::{IN_HOME, SEPARATOR, SYSTEM};

/// The variable that names it.
const VARIABLE: &str = "LOCKED_SHIMS_DIR";

/// Why a path with the separator of PATH is no place for shims.
const TWO: &str = if cfg!(windows) {
    "PATH would take it for two, since a `;` parts its entries"
} else {
    "PATH would take it for two, since a `:` parts its entries"
};

/// The folder of the shims, and whose it is to be when it is made.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    account: Account,
}

impl Folder {
    /// The folder: `directory` (from `--dir`, seen from `cwd`), the system's, `LOCKED_SHIMS_DIR`, else
    /// `XDG_DATA_HOME/locked/shims` (only when absolute), else below the home of the account that we serve. `HOME` is not
    /// asked, as for the state directory: under sudo and in agents it is often someone else's.
    ///
    /// # Errors
    /// The account has no home, or the variable is relative.
    pub fn choose(
        directory: Option<&Path>,
        system: bool,
        cwd: &Path,
        env: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ShimError> {
        let given = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let (ours, served) = (Account::ours(), Account::served(env));
        if let Some(directory) = directory {
            return Ok(Self { path: lexically(&cwd.join(directory)), account: ours });
        }
        if system {
            return Ok(Self { path: SYSTEM.into(), account: ours });
        }
        if let Some(path) = given(VARIABLE) {
            if path.is_absolute() {
                return Ok(Self { path, account: ours });
            }
            let quoted = |path: &Path| shell_quote(path.as_os_str().as_encoded_bytes());
            return Err(ShimError::NoFolder {
                why: format!("{VARIABLE} is relative ({})", quoted(&path)),
                remedy: format!("export {VARIABLE}={}", quoted(&lexically(&cwd.join(path)))),
            });
        }
        let base = given("XDG_DATA_HOME").filter(|base| base.is_absolute());
        let base = base.or_else(|| Some(served.data_home(env).filter(|home| home.is_absolute())?.join(IN_HOME)));
        match base {
            Some(base) => Ok(Self { path: base.join("locked").join("shims"), account: served }),
            None => Err(ShimError::NoFolder {
                why: format!("{served} has no home in the user database"),
                remedy: "name one: --dir DIR, or LOCKED_SHIMS_DIR".to_owned(),
            }),
        }
    }

    /// Where it is. Absolute.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whose it is, where we are root by that user's sudo: none of root's own shells is to look for programs there.
    #[must_use]
    pub fn lent_by(&self) -> Option<String> {
        let user = || self.account.name().unwrap_or_else(|| self.account.to_string());
        self.account.is_foreign().then(user)
    }

    /// Whether shims in it can be found by anybody: it must be something that PATH can name, and a directory if it is there.
    ///
    /// # Errors
    /// [`ShimError::Unfit`].
    pub fn serves(&self) -> Result<(), ShimError> {
        let unfit = |why| Err(ShimError::Unfit { path: self.path.clone(), why });
        if self.path.as_os_str().as_bytes().contains(&SEPARATOR) {
            return Err(ShimError::Unfit { path: self.path.clone(), why: TWO });
        }
        if self.path.to_string_lossy().chars().any(char::is_control) {
            return unfit("it has control characters, which start-up files and lists cannot carry");
        }
        let leads = std::fs::symlink_metadata(&self.path).is_ok();
        match std::fs::metadata(&self.path) {
            Ok(there) if !there.is_dir() => unfit("it is no directory"),
            Err(error) if error.kind() == ErrorKind::NotADirectory => unfit("a file stands in its way"),
            Err(error) if error.kind() == ErrorKind::NotFound && leads => unfit("it is a link that leads nowhere"),
            // What cannot be looked at is told by whoever wants to change it.
            _ => Ok(()),
        }
    }

    /// Makes it if need be. Others may look into it and follow its links: it is on their PATH if they like.
    pub(super) fn make(&self) -> Result<(), ShimError> {
        let _as_owner = self.account.act();
        let made = super::platform::make_directories(&self.path);
        made.map_err(|source| ShimError::Failed { path: self.path.clone(), what: "cannot be made", source })
    }

    /// Until the guard falls, what is made in it belongs to its owner.
    pub(super) fn as_owner(&self) -> Option<Acting> {
        as_owner_of(&self.path)
    }
}

/// Without `.` and doubled slashes, as people would write it; `..` stays, since it may stand behind a link.
fn lexically(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn chosen(directory: Option<&str>, system: bool, variables: &[(&str, &str)]) -> Option<String> {
        let env = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        let folder = Folder::choose(directory.map(Path::new), system, Path::new("/here"), &env).ok()?;
        Some(folder.path().to_str().expect("UTF-8").to_owned())
    }

    #[test]
    fn the_first_that_says_it_counts() {
        let all = [("LOCKED_SHIMS_DIR", "/v"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(chosen(Some("a/./b//"), false, &all).as_deref(), Some("/here/a/b"));
        assert_eq!(chosen(Some("/d"), false, &all).as_deref(), Some("/d"));
        assert_eq!(chosen(None, true, &all).as_deref(), Some(SYSTEM));
        assert_eq!(chosen(None, false, &all).as_deref(), Some("/v"));
        assert_eq!(chosen(None, false, &all[1..]).as_deref(), Some("/x/locked/shims"));
        let home = chosen(None, false, &[]);
        assert_eq!(chosen(None, false, &[("XDG_DATA_HOME", "rel"), ("HOME", "/h"), ("LOCKED_SHIMS_DIR", "")]), home);
        assert_eq!(chosen(None, false, &[("LOCKED_SHIMS_DIR", "rel")]), None);
    }

    #[test]
    fn a_folder_that_path_cannot_name_or_that_is_none_serves_nobody() {
        let place = tempfile::tempdir().expect("place");
        std::fs::write(place.path().join("file"), "").expect("file");
        std::os::unix::fs::symlink("nowhere", place.path().join("link")).expect("link");
        let nobody = |_: &str| None;
        for (name, why) in [
            ("a:b", Some("two")),
            ("a\nb", Some("control")),
            ("file", Some("no directory")),
            ("file/x", Some("in its way")),
            ("link", Some("leads nowhere")),
            ("new", None),
            ("new/with space; and $", None),
            ("", None),
        ] {
            let folder = Folder::choose(Some(Path::new(name)), false, place.path(), &nobody).expect("a folder");
            let said = folder.serves().err().map(|error| error.to_string());
            assert_eq!(said.is_some(), why.is_some(), "{name:?}: {said:?}");
            assert!(said.unwrap_or_default().contains(why.unwrap_or_default()), "{name:?}");
        }
    }
}
