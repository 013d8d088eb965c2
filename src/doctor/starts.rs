//! The files that shells read when they start, as a person would name them: each shell's own choice among them, so that what is
//! put there is read.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use crate::terms::shell_quote;

use super::patient::Patient;

/// A file in the home.
pub(super) fn in_home(name: &str) -> String {
    format!("~/{name}")
}

/// What bash reads when it logs in: the first of these that is there (bash(1), INVOCATION).
pub(super) fn bash_login(patient: &Patient<'_>) -> String {
    let home = home(patient);
    let there = |name: &&str| home.as_ref().is_some_and(|home| home.join(name).is_file());
    in_home([".bash_profile", ".bash_login", ".profile"].into_iter().find(there).unwrap_or(".profile"))
}

/// zsh looks for all of its files in one directory.
pub(super) fn zsh(patient: &Patient<'_>, name: &str) -> String {
    named(patient, patient.env("ZDOTDIR").map(PathBuf::from), "", name)
}

/// A file below fish's settings.
pub(super) fn fish(patient: &Patient<'_>, name: &str) -> String {
    let settings = patient.env("XDG_CONFIG_HOME").map(|base| PathBuf::from(base).join("fish"));
    named(patient, settings, ".config/fish", name)
}

/// Whether it is there, below fish's settings.
pub(super) fn has_fish(patient: &Patient<'_>, name: &str) -> bool {
    let base = patient.env("XDG_CONFIG_HOME").map(PathBuf::from);
    let base = base.or_else(|| home(patient).map(|home| home.join(".config")));
    base.is_some_and(|base| base.join("fish").join(name).is_file())
}

fn named(patient: &Patient<'_>, directory: Option<PathBuf>, below_home: &str, name: &str) -> String {
    let usual = home(patient).map(|home| home.join(below_home));
    match directory.filter(|directory| directory.is_absolute() && Some(directory) != usual.as_ref()) {
        Some(directory) => quoted(&directory.join(name)),
        None => in_home(&Path::new(below_home).join(name).to_string_lossy()),
    }
}

fn home(patient: &Patient<'_>) -> Option<PathBuf> {
    patient.env("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

fn quoted(path: &Path) -> String {
    shell_quote(path.as_os_str().as_encoded_bytes())
}
