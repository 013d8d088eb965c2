//! The shims: is the folder there, and is every link in it this very program.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{self, FileId, NotFound, SkipReason};
use crate::run::{self, Context, env_of};
use crate::shims::{self, READY, Tool};
use crate::terms::shell_quote;

use super::links::link_again;
use super::patient::Patient;
use super::{Finding, hands};

/// More entries than this are no folder of ours.
const MOST: usize = 1_000;

/// More strangers than this are no strangers there.
const FEW: usize = 10;

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

fn entries(folder: &Path, ourselves: FileId) -> Vec<(Tool, Entry)> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    let mut entries: Vec<(Tool, Entry)> = listed
        .filter_map(|entry| {
            // A link that is being made begins with a dot; our own program may lie in the same folder.
            let tool = Tool::found(&entry.file_name()).ok()?;
            let kind = match FileId::of(&entry.path()) {
                Ok(id) if id == ourselves => Entry::Ours,
                Ok(_) if is_a_copy(&entry.path(), ourselves) => Entry::Copy,
                Ok(_) => Entry::Other,
                Err(_) if was_ours(&entry.path()) => Entry::Dangling,
                Err(_) => Entry::Other,
            };
            Some((tool, kind))
        })
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

/// The tools whose shim in one of these folders leads to a `locked`.
pub(super) fn whole(context: &Context, folders: &[PathBuf]) -> Vec<String> {
    let all = folders.iter().flat_map(|folder| entries(folder, context.ourselves));
    let leads = all.filter(|(_, kind)| matches!(kind, Entry::Ours | Entry::Copy));
    let mut names: Vec<String> = leads.filter_map(|(tool, _)| tool.as_os_str().to_str().map(str::to_owned)).collect();
    names.sort();
    names.dedup();
    names
}

/// The tools that have a shim, whole or not.
pub(super) fn shimmed(patient: &Patient<'_>) -> Vec<String> {
    let folders = patient.shims();
    let all = folders.iter().flat_map(|folder| entries(folder, patient.context.ourselves));
    let ours = all.filter(|(_, kind)| *kind != Entry::Other);
    let mut names: Vec<String> = ours.filter_map(|(tool, _)| tool.as_os_str().to_str().map(str::to_owned)).collect();
    names.sort();
    names.dedup();
    names
}

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let folders = patient.shims();
    let mut found: Vec<Finding> = super::folder::wrong(patient).into_iter().collect();
    found.extend(folders.iter().flat_map(|folder| of_folder(patient, folder)));
    let shimmed = shimmed(patient);
    if shimmed.is_empty() {
        if found.is_empty() {
            found.push(
                Finding::note(
                    "shims.none",
                    "no shims are installed: a lock is taken only where locked is typed before the command",
                )
                .remedy("locked shims install"),
            );
        }
        return found;
    }
    found.extend(missing(patient, &shimmed));
    found.extend(hands::look(patient, &folders));
    if found.is_empty() {
        let names: Vec<String> = shimmed.iter().map(|name| shell_quote(name.as_bytes())).collect();
        found.push(Finding::ok("shims.whole", format!("shims stand for {}", names.join(", "))));
    }
    found
}

fn of_folder(patient: &Patient<'_>, folder: &Path) -> Vec<Finding> {
    let entries = entries(folder, patient.context.ourselves);
    let of = |kind| entries.iter().filter(|(_, it)| *it == kind).map(|(tool, _)| tool.clone()).collect::<Vec<_>>();
    let places = |tools: &[Tool]| tools.iter().map(|tool| folder.join(tool.as_os_str())).collect::<Vec<_>>();
    let env = env_of(patient.context);
    let line = |tools: &[Tool]| shims::install_line(folder, tools, &env);
    let mut found = Vec::new();
    let dangling = of(Entry::Dangling);
    if !dangling.is_empty() {
        let (remedy, within) = (line(&dangling), folder.to_owned());
        found.push(
            Finding::fault("shims.dangling", format!("these shims lead nowhere: {}", list(&places(&dangling))))
                .because("a shell passes over them, to the real program and without a lease")
                .remedy(remedy)
                .fixed_by(move |patient| link_again(patient, &within, &dangling)),
        );
    }
    let copies = of(Entry::Copy);
    if !copies.is_empty() {
        found.push(
            Finding::warn(
                "shims.copy",
                format!("these lead to another copy of locked than this one: {}", list(&places(&copies))),
            )
            .because("two versions may judge one command differently; the next line is for the one that is to stay")
            .remedy(line(&copies)),
        );
    }
    let other = of(Entry::Other);
    if !other.is_empty() {
        let places = places(&other);
        let remedy = match is_for_shims_alone(patient, &places, &other) {
            true => format!("{} && {}", shims::moved_aside(&places), line(&other)),
            false => "give the shims a folder of their own, where no programs are, and name it in LOCKED_SHIMS_DIR"
                .to_owned(),
        };
        found.push(
            Finding::warn("shims.other", format!("these are not this program: {}", list(&places)))
                .because(
                    "another file decides there whether a lock is taken; look at what it is before it is moved aside",
                )
                .remedy(remedy),
        );
    }
    found
}

/// A few strangers stand there, and none of them is the only program of its name: they can be moved.
fn is_for_shims_alone(patient: &Patient<'_>, places: &[PathBuf], tools: &[Tool]) -> bool {
    let invocation = &patient.context.invocation;
    let path = invocation.var("PATH");
    let may_go = |(place, tool): (&PathBuf, &Tool)| {
        shims::may_be_moved(place, tool, path.as_deref(), &invocation.cwd, patient.context.ourselves)
    };
    places.len() <= FEW && places.iter().zip(tools).all(may_go)
}

/// One of the usual tools is here and has no shim, while others have. Whoever left out all but sops may have meant it.
fn missing(patient: &Patient<'_>, shimmed: &[String]) -> Option<Finding> {
    let folder = patient.shims().into_iter().next()?;
    let without = |name: &&str| !shimmed.iter().any(|it| it == name) && run::real(patient.context, name).is_some();
    let missing: Vec<Tool> =
        READY.into_iter().filter(without).filter_map(|name| Tool::found(OsStr::new(name)).ok()).collect();
    let first = missing.first()?.clone();
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let what = format!("no shim stands for {}", names.join(", "));
    let remedy = shims::install_line(&folder, &missing, &env_of(patient.context));
    let finding = if first.as_os_str() == "sops" {
        Finding::warn("shims.missing", what).fixed_by(move |patient| link_again(patient, &folder, &[first]))
    } else {
        Finding::note("shims.fewer", what)
    };
    Some(finding.because("what is typed without locked before it takes no lease").remedy(remedy))
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<String> =
        paths.iter().take(5).map(|path| shell_quote(path.as_os_str().as_encoded_bytes())).collect();
    let more = if paths.len() > 5 { format!(" and {} more", paths.len() - 5) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
