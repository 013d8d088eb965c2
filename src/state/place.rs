//! Which directory is it? Decided from the environment and the user database.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::store::StoreError;

use super::Account;
use super::platform::IN_HOME;

/// The name of the variable that every remedy offers.
const VARIABLE: &str = "LOCKED_STATE_DIR";

/// The state directory's path: `LOCKED_STATE_DIR`, else `XDG_STATE_HOME/locked` (which counts only when absolute, as the
/// XDG base directory specification has it), else below the account's home. `HOME` is not asked: under sudo, in cron and
/// in agents it often is someone else's.
///
/// # Errors
/// The account has no home, or `LOCKED_STATE_DIR` is relative.
pub(super) fn choose(
    env: &dyn Fn(&str) -> Option<OsString>,
    home: impl FnOnce() -> Option<PathBuf>,
    account: Account,
) -> Result<PathBuf, StoreError> {
    let given = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = given(VARIABLE) {
        return absolute(path);
    }
    if let Some(base) = given("XDG_STATE_HOME").filter(|base| base.is_absolute()) {
        return Ok(base.join("locked"));
    }
    match home().filter(|home| home.is_absolute()) {
        Some(home) => Ok(home.join(IN_HOME)),
        None => Err(refuse(Path::new("~/.local/state/locked"), format!("{account} has no home in the user database"))),
    }
}

/// Only an absolute path names one place: with a relative one every directory that one works in would have a store of its
/// own, and two writers would not see each other.
fn absolute(path: PathBuf) -> Result<PathBuf, StoreError> {
    match path.is_absolute() {
        true => Ok(path),
        false => Err(refuse(&path, "it is relative, so that every working directory would have a store of its own")),
    }
}

/// The directory of a store's file that is named in the settings.
///
/// # Errors
/// The path is relative, or names no file.
pub(super) fn directory_of(file: &Path) -> Result<PathBuf, StoreError> {
    let file = absolute(file.to_owned())?;
    let directory = file.parent().ok_or_else(|| refuse(&file, "it names no file in a directory"))?;
    Ok(directory.to_owned())
}

/// Where the settings name the file, the variable of the state directory is no help.
pub(super) fn of_a_named_file(error: StoreError) -> StoreError {
    match error {
        StoreError::Place { path, why, remedy } if remedy.contains(VARIABLE) => StoreError::Place {
            path,
            why,
            remedy: "name the store's file in a directory of your own on a local, writable disk: sqlite:/PATH/FILE"
                .to_owned(),
        },
        error => error,
    }
}

/// A place that cannot serve, with the one remedy that always helps: another place.
pub(super) fn refuse(path: &Path, why: impl Into<String>) -> StoreError {
    StoreError::Place {
        path: path.to_owned(),
        why: why.into(),
        remedy: format!("set {VARIABLE} to a directory of your own on a local, writable disk"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(variables: &[(&str, &str)], home: Option<&str>) -> Result<PathBuf, StoreError> {
        let env = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        choose(&env, || home.map(PathBuf::from), Account::ours())
    }

    #[cfg(unix)]
    #[test]
    fn the_first_of_variable_xdg_and_home_wins() {
        let all = [("LOCKED_STATE_DIR", "/a"), ("XDG_STATE_HOME", "/x")];
        assert_eq!(chosen(&all, Some("/h")).expect("a"), Path::new("/a"));
        assert_eq!(chosen(&all[1..], Some("/h")).expect("x"), Path::new("/x/locked"));
        assert_eq!(chosen(&[], Some("/h")).expect("h"), Path::new("/h/.local/state/locked"));
    }

    #[cfg(unix)]
    #[test]
    fn an_empty_value_counts_as_none_and_a_relative_one_names_no_place() {
        let home = Path::new("/h/.local/state/locked");
        assert_eq!(chosen(&[("LOCKED_STATE_DIR", "")], Some("/h")).expect("home"), home);
        assert_eq!(chosen(&[("XDG_STATE_HOME", "rel")], Some("/h")).expect("home"), home, "XDG: absolute or ignored");
        let error = chosen(&[("LOCKED_STATE_DIR", "rel")], Some("/h")).expect_err("another place in every directory");
        assert!(error.to_string().contains("relative"), "{error}");
    }

    #[test]
    fn home_variable_is_not_asked_and_no_home_names_the_remedy() {
        let error = chosen(&[("HOME", "/h")], None).expect_err("no home");
        assert!(error.to_string().contains("no home"), "{error}");
        assert!(error.remedy().contains("LOCKED_STATE_DIR"));
    }
}
