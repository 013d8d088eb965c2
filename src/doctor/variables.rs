//! `LOCKED_*` variables: misspelt ones, those that do nothing, and those that were left set.
#![forbid(unsafe_code)]

use crate::config::{Address, nearest};
use crate::platform::OsStrExt as _;
use crate::run;

use super::Finding;
use super::patient::Patient;

/// Those that stand for no option: where things are, and who one is.
const OURS: [&str; 6] =
    ["LOCKED_SESSION", "LOCKED_STATE_DIR", "LOCKED_STORE", "LOCKED_TRUST", "LOCKED_BYPASS", "LOCKED_SHIMS_DIR"];

/// What a command under a lease, a shim or a keeper finds in its environment.
const GIVEN: [&str; 11] = [
    "LOCKED_RESOURCES",
    "LOCKED_TOKENS",
    "LOCKED_LEASE",
    "LOCKED_AGENT_SESSION",
    "LOCKED_HOLDER",
    "LOCKED_ISSUES",
    "LOCKED_LOST_CAUSE",
    "LOCKED_HOOK_CHAINED",
    "LOCKED_HOOK_PROBE",
    "LOCKED_IN",
    "LOCKED_COMPLETE_WITHIN",
];

/// Options that a nested command must not inherit: their variables are not heard.
const UNHEARD: [&str; 6] =
    ["LOCKED_RESOURCE", "LOCKED_FORCE", "LOCKED_REASON", "LOCKED_ACCEPT_STALE", "LOCKED_REPORT", "LOCKED_DRY_RUN"];

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let mut names: Vec<String> = patient.context.invocation.env.iter().filter_map(|entry| name_of(entry)).collect();
    names.sort();
    names.dedup();
    let mut found: Vec<Finding> = names.iter().filter_map(|name| of_name(patient, name)).collect();
    found.extend(store_left_set(patient));
    found
}

/// The name of an entry of the environment, if it could be meant for us.
fn name_of(entry: &std::ffi::OsStr) -> Option<String> {
    let name = entry.as_bytes().split(|&byte| byte == b'=').next()?;
    let upper = name.to_ascii_uppercase();
    let ours = upper.starts_with(b"LOCKED_") || nearly_ours(&upper);
    ours.then(|| String::from_utf8_lossy(name).into_owned())
}

/// `LOCK_SESSION`, `LOCKD_STORE`: another program's variable is told from a slip by the rest of the name.
fn nearly_ours(upper: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(upper) else { return false };
    let Some((first, rest)) = text.split_once('_') else { return false };
    // BLOCKED_, FLOCK_ and the like are other words.
    first != "LOCKED"
        && first.starts_with('L')
        && nearest(first, ["LOCKED"]).is_some()
        && OURS.iter().any(|name| name.ends_with(&format!("_{rest}")))
}

fn of_name(patient: &Patient<'_>, name: &str) -> Option<Finding> {
    let twin = patient.asked.twins.iter().find(|twin| twin.name == name);
    if name == "LOCKED_BYPASS" {
        return patient.env(name).map(|_| {
            Finding::warn(
                "settings.bypass",
                "LOCKED_BYPASS is set: every shim and hook of this environment lets everything pass",
            )
            .because("nothing that is run from here takes a lease; it is for the one command that it stands before")
            .remedy(super::unset("LOCKED_BYPASS"))
        });
    }
    match twin {
        Some(twin) if twin.wrong => Some(
            Finding::fault("settings.variable-value", format!("{name} is set to what its option does not take"))
                .because("every command that locks something is refused; `locked --help` says what it takes")
                .remedy(super::unset(name)),
        ),
        Some(_) => None,
        None if UNHEARD.contains(&name) => Some(
            Finding::warn(
                "settings.variable-idle",
                format!("{name} does nothing: that option is never taken from the environment"),
            )
            .because("a nested command must not inherit it: type the option")
            .remedy(super::unset(name)),
        ),
        None if OURS.contains(&name) || GIVEN.contains(&name) || name.starts_with("LOCKED_SHIM_") => None,
        None => Some(unknown(patient, name)),
    }
}

fn unknown(patient: &Patient<'_>, name: &str) -> Finding {
    let twins = patient.asked.twins.iter().map(|twin| twin.name.as_str());
    let upper = name.to_ascii_uppercase();
    let meant = nearest(&upper, OURS.into_iter().chain(twins));
    let remedy = match meant {
        Some(meant) => format!("was {meant} meant? else `{}`", super::unset(name)),
        None => super::unset(name),
    };
    Finding::warn("settings.variable-unknown", format!("{name} is set, and nothing reads it"))
        .because("what it was to say is not heard")
        .remedy(remedy)
}

/// The variable says another store than the files: other shells, cron and services have only the files.
fn store_left_set(patient: &Patient<'_>) -> Option<Finding> {
    patient.env("LOCKED_STORE")?;
    let root = patient.repository().map(|repository| repository.worktree_root.as_path());
    let by_files = run::said_store(patient.context, root, true).ok()?;
    let by_variable = run::said_store(patient.context, root, false).ok()?;
    let named = by_files.address != Address::Embedded || !by_files.said_by.is_empty();
    let same = crate::store::place_of(&by_files) == crate::store::place_of(&by_variable)
        && by_files.address != Address::Embedded;
    if same {
        return None;
    }
    let what = match named {
        true => format!("LOCKED_STORE names another store than {}", by_files.said_by),
        false => "LOCKED_STORE alone says which store; no file of settings does".to_owned(),
    };
    let finding = if named {
        Finding::warn("settings.store-left-set", what)
    } else {
        Finding::note("settings.store-left-set", what)
    };
    Some(
        finding
            .because("who works without the variable (cron, a service, another shell) takes leases from another store")
            .remedy(format!("write store = {{ … }} into the settings, and `{}`", super::unset("LOCKED_STORE"))),
    )
}
