//! Git's hooks: are commits, merges and pushes looked at before they are made?
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::hooks::{self, Place, Standing, State};
use crate::platform;
use crate::run::env_of;
use crate::state::as_owner_of;
use crate::terms::shell_quote;

use super::Finding;
use super::patient::Patient;

/// What an unguarded commit may do.
const BECAUSE: &str = "a plaintext or unproven file can be committed";
/// The remedy for all of it.
const INSTALL: &str = "locked hooks install";

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    if patient.repository().is_none() {
        return Vec::new();
    }
    let place = match hooks::find(&patient.context.invocation.cwd, &env_of(patient.context)) {
        Ok(place) => place,
        Err(error) => return vec![Finding::warn("hooks.unknown", error.to_string()).remedy(error.remedy())],
    };
    let ourselves = std::env::current_exe().map(OsString::from).unwrap_or_default();
    let all = hooks::standing(&place, &ourselves);
    let idle: Vec<_> = all.iter().filter(|hook| is_idle(&place, hook)).collect();
    if !idle.is_empty() {
        return idle.into_iter().map(|hook| passed_over(&place, hook)).collect();
    }
    vec![whole(&place, &all)]
}

/// None of the hooks is passed over by git.
fn whole(place: &Place, all: &[Standing]) -> Finding {
    let named = |wanted: fn(&State) -> bool| {
        let names: Vec<_> = all.iter().filter(|hook| wanted(&hook.state)).map(|hook| hook.name).collect();
        names.join(", ")
    };
    let ours = named(|state| matches!(state, State::Installed | State::Outdated | State::Configured));
    let called = named(|state| matches!(state, State::Called));
    let replaced = named(|state| matches!(state, State::Replaced));
    let absent = named(|state| matches!(state, State::Missing | State::Foreign));
    let directory = shell_quote(place.directory.as_os_str().as_encoded_bytes());
    match () {
        () if !replaced.is_empty() => Finding::warn(
            "hooks.replaced",
            format!("another hook stands in the place of ours, or none any more: {replaced}"),
        )
        .because(BECAUSE)
        .remedy(format!("look at both in {directory}, keep one of them, then `{INSTALL}`")),
        () if ours.is_empty() && called.is_empty() && !place.left_behind().is_empty() => {
            let usual = shell_quote(place.usual().as_os_str().as_encoded_bytes());
            let left = place.left_behind().join(", ");
            Finding::warn(
                "hooks.elsewhere",
                format!(
                    "git looks for hooks in {directory} (core.hooksPath), and those of locked are in {usual}: {left}"
                ),
            )
            .because(BECAUSE)
            .remedy(format!(
                "`{INSTALL}` says what to add there; or, for this repository alone, `git config core.hooksPath {usual}`"
            ))
        }
        () if ours.is_empty() && called.is_empty() => {
            Finding::note("hooks.none", "no hook of locked looks at commits here").because(BECAUSE).remedy(INSTALL)
        }
        () if !ours.is_empty() && !absent.is_empty() => {
            Finding::warn("hooks.missing", format!("of the hooks of locked some are not there: {absent}"))
                .because("a merge or a push passes what a commit does not")
                .remedy(INSTALL)
        }
        () if all.iter().any(|hook| hook.state == State::Outdated) => {
            Finding::note("hooks.outdated", "the hooks are of another version of locked").remedy(INSTALL)
        }
        () => Finding::ok("hooks.works", format!("commits are looked at by the hooks in {directory}")),
    }
}

/// It calls us, and git does not run it.
fn is_idle(place: &Place, hook: &Standing) -> bool {
    match hook.state {
        State::NotRun(_) => true,
        State::Called => is_barred(&place.hook(hook.name)),
        _ => false,
    }
}

fn is_barred(hook: &Path) -> bool {
    fs::metadata(hook).is_ok_and(|found| platform::mode(&found) & 0o111 == 0)
}

fn passed_over(place: &Place, hook: &Standing) -> Finding {
    let path = place.hook(hook.name);
    let shown = shell_quote(path.as_os_str().as_encoded_bytes());
    let barred = is_barred(&path);
    let why = match &hook.state {
        _ if barred => "it is not executable".to_owned(),
        State::NotRun(why) => why.clone(),
        _ => "it does not run".to_owned(),
    };
    let finding = Finding::fault("hooks.idle", format!("git passes {shown} over: {why}"))
        .because(format!("{BECAUSE}, although the hook is there"))
        .remedy(INSTALL);
    if barred { finding.fixed_by(move |_| made_executable(&path)) } else { finding }
}

/// Whoever may read it may run it, as git itself installs hooks.
fn made_executable(hook: &PathBuf) -> Result<String, String> {
    let _as_owner = hook.parent().and_then(as_owner_of);
    let mode = platform::mode(&fs::symlink_metadata(hook).map_err(|error| error.to_string())?);
    let mode = mode | ((mode & 0o444) >> 2);
    platform::set_mode_at(hook, mode).map_err(|error| error.to_string())?;
    Ok("made the hook executable again".to_owned())
}
