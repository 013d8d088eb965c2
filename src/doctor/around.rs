//! Ways that name a tool by its path and so never meet a shim: git's settings, variables, scripts of the repository.
#![forbid(unsafe_code)]

use crate::git;
use crate::run::env_of;
use crate::shims::READY;

use super::patient::Patient;
use super::scripts::{self, absolute};
use super::{Finding, Level, shims};

/// Variables with a command line for ssh.
const VARIABLES: [&str; 3] = ["GIT_SSH_COMMAND", "GIT_SSH", "RSYNC_RSH"];

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let mut tools: Vec<String> = shims::shimmed(patient);
    tools.extend(READY.map(str::to_owned));
    tools.sort();
    tools.dedup();
    let mut found = of_git(patient, &tools);
    for name in VARIABLES {
        let value = patient.env(name).map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(path) = absolute(&value, &tools) {
            found.push(
                Finding::warn("around.variable", format!("{name} names {path}, past its shim"))
                    .because("what git or rsync does over it takes no lease")
                    .remedy(format!("name it without its directory in {name}")),
            );
        }
    }
    found.extend(scripts::look(patient, &tools));
    if found.is_empty() {
        found.push(Finding::ok("around.none", "nothing here names a tool past its shim"));
    }
    found
}

/// Commands in git's settings. Names of settings can hold an address with a password: only their ends are shown.
fn of_git(patient: &Patient<'_>, tools: &[String]) -> Vec<Finding> {
    let Ok(settings) = git::settings(patient.repository(), &env_of(patient.context)) else { return Vec::new() };
    let mut found: Vec<Finding> = Vec::new();
    for (name, value) in settings {
        let Some(level) = runs_a_command(&name) else { continue };
        let line = value.trim_start_matches('!');
        // Also behind the first word: `!cd x && /usr/bin/sops …`, `!env A=1 /usr/bin/sops …`.
        let within = || line.lines().find_map(|line| scripts::called(line, tools));
        let Some(path) = absolute(line, tools).or_else(within) else { continue };
        let shown = ends_of(&name);
        let what = format!("git's setting {shown} names {path}, past its shim");
        if found.iter().any(|it| it.what == what) {
            continue;
        }
        let why = match level {
            Level::Note => "it only reads, so no lock is missed",
            _ => "what git does with it takes no lease",
        };
        found.push(Finding { level, ..Finding::note("around.git", what) }.because(why).remedy(format!(
            "name it in {shown} without its directory (`git config --edit`, with --global if it stands there)"
        )));
    }
    found
}

/// How bad a way around is there; none where git runs nothing.
fn runs_a_command(name: &str) -> Option<Level> {
    let (first, last) = (name.split('.').next()?, name.rsplit('.').next()?);
    match (first, last) {
        ("credential", "helper") | ("diff", "textconv" | "command") => Some(Level::Note),
        ("core", "sshcommand" | "editor" | "fsmonitor" | "gitproxy")
        | ("alias", _)
        | ("filter", "clean" | "smudge" | "process")
        | ("merge", "driver")
        | ("mergetool" | "difftool", "cmd" | "path")
        | ("gpg", "program")
        | ("remote", "uploadpack" | "receivepack")
        | ("sequence", "editor") => Some(Level::Warn),
        _ => None,
    }
}

/// `credential.….helper`.
fn ends_of(name: &str) -> String {
    let parts: Vec<&str> = name.split('.').collect();
    match parts.as_slice() {
        [first, last] => format!("{first}.{last}"),
        [first, .., last] => format!("{first}.….{last}"),
        _ => "…".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_s_name_shows_no_address() {
        assert_eq!(ends_of("credential.https://me:hunter2@h.example.org.helper"), "credential.….helper");
        assert_eq!(ends_of("core.sshcommand"), "core.sshcommand");
        assert_eq!(runs_a_command("credential.https://h.helper"), Some(Level::Note));
        assert_eq!(runs_a_command("user.name"), None);
    }
}
