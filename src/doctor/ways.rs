//! Wherever commands are typed: does a shim come before the real program? Looked at in the environment at hand, and in those
//! that others would make: a login shell, another interactive shell, a script, cron and sudo, or a new console of Windows.
#![forbid(unsafe_code)]

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::ffi::OsStr;
use std::path::Path;

use crate::program;
use crate::run::env_of;
use crate::terms::shell_quote;

use super::patient::Patient;
use super::{Finding, Level, folder, shims};

#[cfg(unix)]
use unix as system;
#[cfg(unix)]
pub(super) use unix::CRON;
#[cfg(windows)]
use windows as system;

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let folders = folder::of_shells(patient.context);
    // Of a shim that leads nowhere is told once, where shims are looked at.
    let tools = shims::whole(patient.context, &folders);
    let Some(folder) = folders.into_iter().next().filter(|_| !tools.is_empty()) else {
        return system::lent(patient).into_iter().collect();
    };
    let mut found = Vec::new();
    let here = env_of(patient.context)("PATH");
    if let Some(passed) = passed_by(patient, &tools, here.as_deref()) {
        found.push(
            Finding::fault("path.here", format!("here the shims are passed by: {passed}"))
                .because("what is typed without locked before it takes no lease")
                .remedy(system::line(&folder)),
        );
    }
    found.extend(system::elsewhere(patient, &tools, &folder));
    if found.iter().all(|finding| finding.level < Level::Warn) {
        found.insert(0, Finding::ok("path.first", "the shims come first here, and in your shells"));
    }
    found
}

/// Which tools are found before their shims on this PATH, and where; none when no shim is passed by. What is not there at
/// all cannot be run past a shim.
pub(super) fn passed_by(patient: &Patient<'_>, tools: &[String], path: Option<&OsStr>) -> Option<String> {
    let cwd = &patient.context.invocation.cwd;
    let first = |tool: &String| match program::resolve(OsStr::new(tool), path, cwd, patient.context.ourselves) {
        Ok(found) if found.skipped.is_empty() => Some(quoted(&found.path)),
        Ok(_) | Err(_) => None,
    };
    let passed: Vec<String> = tools.iter().filter_map(first).take(6).collect();
    (!passed.is_empty())
        .then(|| format!("{} {}", passed.join(", "), if passed.len() == 1 { "comes first" } else { "come first" }))
}

fn quoted(path: &Path) -> String {
    shell_quote(path.as_os_str().as_encoded_bytes())
}
