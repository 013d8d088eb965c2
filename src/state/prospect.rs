//! Could a directory be made that is not there? Judged without making anything.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::store::StoreError;

use super::place::{choose, directory_of, of_a_named_file, refuse};
use super::{Account, StateDir, platform};

impl StateDir {
    /// The same as [`StateDir::existing`] for who wants to know beforehand: where it is not there, it is an error that it
    /// could not be made. Nothing is made to find out.
    ///
    /// # Errors
    /// As [`StateDir::open`].
    pub fn foreseen(env: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<Self>, StoreError> {
        Self::foreseen_at(Self::place(env)?, Account::served(env))
    }

    /// Where it is or will be.
    ///
    /// # Errors
    /// [`StoreError::Place`] when nothing says so.
    pub fn place(env: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, StoreError> {
        let served = Account::served(env);
        choose(env, || served.data_home(env), served)
    }

    /// The same for the directory of a store's file that is named otherwise.
    ///
    /// # Errors
    /// As [`StateDir::open`].
    pub fn foreseen_beside(file: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<Self>, StoreError> {
        directory_of(file).and_then(|path| Self::foreseen_at(path, Account::served(env))).map_err(of_a_named_file)
    }

    fn foreseen_at(path: PathBuf, served: Account) -> Result<Option<Self>, StoreError> {
        match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => match obstacle(&path, served) {
                Some(why) => Err(refuse(&path, why)),
                None => Ok(None),
            },
            _ => Self::open_at(path, served).map(Some),
        }
    }
}

/// What stands in the way of making this directory for this account; none: nothing that can be seen.
fn obstacle(path: &Path, served: Account) -> Option<String> {
    let _as_served = served.act();
    let above = path.ancestors().skip(1).find(|above| std::fs::symlink_metadata(above).is_ok())?;
    let cannot = |why: &dyn std::fmt::Display| Some(format!("it cannot be made: {}: {why}", shown(above)));
    let real = match std::fs::canonicalize(above) {
        Ok(real) => real,
        Err(error) if error.kind() == ErrorKind::NotFound => return cannot(&"a link that leads nowhere"),
        Err(error) => return cannot(&error),
    };
    if !real.is_dir() {
        return cannot(&"a file, not a directory");
    }
    if let Err(error) = platform::may_make_in(&real) {
        return cannot(&error);
    }
    // Who may write and not look there learns the rest when the directory is made.
    let seen = platform::look(&real).ok()?;
    if let Some(network) = seen.network {
        return Some(format!("it would lie on {network}, where locks do not hold"));
    }
    if seen.made_up { cannot(&"the kernel's own files, where nothing can be made") } else { None }
}

fn shown(path: &Path) -> String {
    crate::terms::shell_quote(path.as_os_str().as_encoded_bytes())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_made_is_known_beforehand() {
        let place = tempfile::tempdir().expect("place");
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("file"), "").expect("file");
        std::os::unix::fs::symlink("nowhere", at("dangling")).expect("link");
        std::os::unix::fs::symlink(place.path(), at("link")).expect("link");
        for (path, why) in [
            (at("new"), None),
            (at("new/and/newer"), None),
            (at("link/new"), None),
            (at("file/new"), Some("a file")),
            (at("dangling/new"), Some("leads nowhere")),
            ("/proc/locked/new".into(), Some("/proc: ")),
            ("/sys/locked".into(), Some("/sys: ")),
        ] {
            let said = obstacle(&path, Account::ours());
            assert_eq!(said.is_some(), why.is_some(), "{}: {said:?}", path.display());
            assert!(said.unwrap_or_default().contains(why.unwrap_or_default()), "{}", path.display());
        }
    }
}
