//! The shims: is the folder there, and is every link in it this very program.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{self, FileId, NotFound, SkipReason};
use crate::run::{self, Context, env_of};
use crate::shims::{READY, SYSTEM};
use crate::state::Account;
use crate::terms::shell_quote;

use super::Finding;
use super::links::link_again;
use super::patient::Patient;

/// More entries than this are no folder of ours.
const MOST: usize = 1_000;

/// The folder that the variable names; else the user's, and the machine's where it is there.
pub(super) fn folders(context: &Context) -> Vec<PathBuf> {
    let env = env_of(context);
    let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let there = |folders: Vec<PathBuf>| folders.into_iter().filter(|path| path.is_dir()).collect();
    if let Some(named) = absolute("LOCKED_SHIMS_DIR") {
        return there(vec![named]);
    }
    let home = || Account::served(&env).home().map(|home| home.join(".local/share"));
    let own = absolute("XDG_DATA_HOME").or_else(home).map(|data| data.join("locked/shims"));
    there(own.into_iter().chain([PathBuf::from(SYSTEM)]).collect())
}

/// What an entry of the folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// This very program.
    Ours,
    /// Another copy or build of `locked`.
    Copy,
    /// It was to lead to `locked`, and leads nowhere.
    Dangling,
    /// Some other file, or a link to one.
    Other,
}

fn entries(folder: &Path, ourselves: FileId) -> Vec<(OsString, Entry)> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    let mut entries: Vec<(OsString, Entry)> = listed
        .map(|entry| {
            let kind = match FileId::of(&entry.path()) {
                Ok(id) if id == ourselves => Entry::Ours,
                Ok(_) if is_a_copy(&entry.path(), ourselves) => Entry::Copy,
                Ok(_) => Entry::Other,
                Err(_) if was_ours(&entry.path()) => Entry::Dangling,
                Err(_) => Entry::Other,
            };
            (entry.file_name(), kind)
        })
        // A link that is being made begins with a dot; our own program may lie in the same folder.
        .filter(|(name, _)| !name.as_encoded_bytes().starts_with(b".") && name != "locked")
        .collect();
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    entries
}

/// Where the link leads there would be `locked`, or a build of it (`locked-0.2`).
fn was_ours(link: &Path) -> bool {
    let target = fs::read_link(link).unwrap_or_default();
    let name = target.file_name().unwrap_or_default().as_encoded_bytes();
    name.strip_prefix(b"locked").is_some_and(|rest| rest.first().is_none_or(|byte| b"-._".contains(byte)))
}

/// Who looks for the program behind it says what it stepped over.
fn is_a_copy(place: &Path, ourselves: FileId) -> bool {
    let nowhere = Some(OsStr::new("/nowhere"));
    let found = program::resolve(place.as_os_str(), nowhere, Path::new("/"), ourselves);
    matches!(found, Err(NotFound::NotOnPath { skipped, .. }) if skipped.iter().any(|it| it.why == SkipReason::Copy))
}

/// The tools that have a shim, whole or not.
pub(super) fn shimmed(patient: &Patient<'_>) -> Vec<String> {
    let folders = patient.shims();
    let all = folders.iter().flat_map(|folder| entries(folder, patient.context.ourselves));
    let ours = all.filter(|(_, kind)| *kind != Entry::Other);
    let mut names: Vec<String> = ours.filter_map(|(name, _)| name.into_string().ok()).collect();
    names.sort();
    names.dedup();
    names
}

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let folders = patient.shims();
    let mut found: Vec<Finding> = folders.iter().flat_map(|folder| of_folder(patient, folder)).collect();
    let shimmed = shimmed(patient);
    if shimmed.is_empty() {
        found.push(
            Finding::note(
                "shims.none",
                "no shims are installed: a lock is taken only where locked is typed before the command",
            )
            .remedy("locked shims install"),
        );
        return found;
    }
    found.extend(missing(patient, &shimmed));
    if found.is_empty() {
        found.push(Finding::ok("shims.whole", format!("shims stand for {}", shimmed.join(", "))));
    }
    found
}

fn of_folder(patient: &Patient<'_>, folder: &Path) -> Vec<Finding> {
    let entries = entries(folder, patient.context.ourselves);
    let of = |kind| entries.iter().filter(|(_, it)| *it == kind).map(|(name, _)| folder.join(name)).collect::<Vec<_>>();
    let mut found = Vec::new();
    let dangling = of(Entry::Dangling);
    if !dangling.is_empty() {
        found.push(
            Finding::fault("shims.dangling", format!("these shims lead nowhere: {}", list(&dangling)))
                .because("a shell passes over them, to the real program and without a lease")
                .remedy("locked shims install")
                .fixed_by(move |patient| link_again(patient, &dangling)),
        );
    }
    let copies = of(Entry::Copy);
    if !copies.is_empty() {
        found.push(
            Finding::warn(
                "shims.copy",
                format!("these lead to another copy of locked than this one: {}", list(&copies)),
            )
            .because("two versions may judge one command differently")
            .remedy("locked shims install, with the one that is to stay"),
        );
    }
    let other = of(Entry::Other);
    if !other.is_empty() {
        found.push(
            Finding::warn("shims.other", format!("these are not this program: {}", list(&other)))
                .because("another file decides there whether a lock is taken")
                .remedy("locked shims install, after a look at what they are"),
        );
    }
    found
}

/// One of the usual tools is here and has no shim, while others have. Whoever left out all but sops may have meant it.
fn missing(patient: &Patient<'_>, shimmed: &[String]) -> Option<Finding> {
    let folder = patient.shims().into_iter().next()?;
    let without = |name: &&str| !shimmed.iter().any(|it| it == name) && run::real(patient.context, name).is_some();
    let missing: Vec<&str> = READY.into_iter().filter(|name| without(name)).collect();
    let what = format!("no shim stands for {}", missing.join(", "));
    let finding = match missing.as_slice() {
        [] => return None,
        ["sops", ..] => {
            Finding::warn("shims.missing", what).fixed_by(move |patient| link_again(patient, &[folder.join("sops")]))
        }
        _ => Finding::note("shims.fewer", what),
    };
    Some(
        finding
            .because("what is typed without locked before it takes no lease")
            .remedy(format!("locked shims install {}", missing.join(" "))),
    )
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<String> =
        paths.iter().take(5).map(|path| shell_quote(path.as_os_str().as_encoded_bytes())).collect();
    let more = if paths.len() > 5 { format!(" and {} more", paths.len() - 5) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
