//! Git's hooks: is a commit looked at before it is made?
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::run::env_of;
use crate::state::as_owner_of;
use crate::terms::shell_quote;

use super::Finding;
use super::patient::Patient;

/// No hook is read further (bytes).
const MOST: u64 = 256 * 1024;

/// What is known of the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// There is none, or one that does not call us.
    Absent,
    /// It calls us, and git would run it.
    Works,
    /// It calls us, and git passes it over: it is not executable.
    Idle,
}

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let Some(repository) = patient.repository() else { return Vec::new() };
    let hooks = match repository.hooks(&env_of(patient.context)) {
        Ok(hooks) => hooks,
        Err(error) => {
            return vec![Finding::warn("hooks.unknown", error.to_string()).remedy("git rev-parse --git-path hooks")];
        }
    };
    let hook = hooks.join("pre-commit");
    let shown = shell_quote(hook.as_os_str().as_encoded_bytes());
    vec![match status(&hook) {
        Status::Works => Finding::ok("hooks.works", format!("commits are looked at by {shown}")),
        Status::Absent => Finding::note("hooks.none", "no hook of locked looks at commits here")
            .because("a plaintext or unproven file can be committed")
            .remedy("locked hooks install"),
        Status::Idle => Finding::fault("hooks.idle", format!("{shown} is not executable, so git passes it over"))
            .because("a plaintext or unproven file can be committed, although the hook is there")
            .remedy("locked hooks install")
            .fixed_by(move |_| {
                let _as_owner = hook.parent().and_then(as_owner_of);
                let mode = fs::symlink_metadata(&hook).map_err(|error| error.to_string())?.permissions().mode();
                // Whoever may read it may run it, as git itself installs hooks.
                let mode = mode | ((mode & 0o444) >> 2);
                fs::set_permissions(&hook, fs::Permissions::from_mode(mode)).map_err(|error| error.to_string())?;
                Ok("made the hook executable again".to_owned())
            }),
    }]
}

fn status(hook: &Path) -> Status {
    let Ok(found) = fs::metadata(hook) else { return Status::Absent };
    let calls_us = found.is_file()
        && found.len() <= MOST
        && fs::read(hook).is_ok_and(|text| text.windows(6).any(|word| word == b"locked"));
    match (calls_us, found.permissions().mode() & 0o111 != 0) {
        (false, _) => Status::Absent,
        (true, true) => Status::Works,
        (true, false) => Status::Idle,
    }
}
