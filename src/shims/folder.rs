//! Where the shims are.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::state::{Account, Acting, as_owner_of};

use super::ShimError;

/// Where a system's shims are (`--system`).
pub const SYSTEM: &str = "/usr/local/lib/locked/shims";

/// The variable that names it.
const VARIABLE: &str = "LOCKED_SHIMS_DIR";

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
            return Err(ShimError::NoFolder { why: format!("{VARIABLE} is relative ({path:?})") });
        }
        let base = given("XDG_DATA_HOME").filter(|base| base.is_absolute());
        let base = base.or_else(|| Some(served.home().filter(|home| home.is_absolute())?.join(".local/share")));
        match base {
            Some(base) => Ok(Self { path: base.join("locked/shims"), account: served }),
            None => Err(ShimError::NoFolder { why: format!("{served} has no home in the user database") }),
        }
    }

    /// Where it is. Absolute.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
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

#[cfg(test)]
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
}
