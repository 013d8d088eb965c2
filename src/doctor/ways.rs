//! Wherever commands are typed: does a shim come before the real program? Looked at in the environment at hand, and in those
//! that a login shell, another interactive shell, a script, cron and sudo would make.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::Path;

use crate::program::{self, NotFound};
use crate::run::env_of;
use crate::terms::shell_quote;

use super::patient::Patient;
use super::probe::Answer;
use super::shells::{between, shell};
use super::{Finding, Level, cron, folder, hash, shims, words};

/// What cron gives its jobs (crontab(5)).
pub(super) const CRON: &str = "/usr/bin:/bin";
/// An environment that commands are typed in.
struct Way {
    id: &'static str,
    called: &'static str,
    /// How bad it is when shims are passed by there.
    level: Level,
}

const WAYS: [Way; 5] = [
    Way { id: "path.login", called: "a login shell", level: Level::Warn },
    Way { id: "path.interactive", called: "an interactive shell that is no login shell", level: Level::Warn },
    Way { id: "path.script", called: "a shell that runs a script", level: Level::Note },
    Way { id: "path.cron", called: "cron", level: Level::Note },
    Way { id: "path.sudo", called: "sudo", level: Level::Note },
];

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let folders = folder::of_shells(patient.context);
    // Of a shim that leads nowhere is told once, where shims are looked at.
    let tools = shims::whole(patient.context, &folders);
    let Some(folder) = folders.into_iter().next().filter(|_| !tools.is_empty()) else {
        return lent(patient).into_iter().collect();
    };
    let mut found = Vec::new();
    let here = env_of(patient.context)("PATH");
    if let Some(passed) = passed_by(patient, &tools, here.as_deref()) {
        found.push(
            Finding::fault("path.here", format!("here the shims are passed by: {passed}"))
                .because("what is typed without locked before it takes no lease")
                .remedy(format!("export PATH={}:\"$PATH\"", quoted(&folder))),
        );
    }
    for way in &WAYS {
        found.extend(of_way(patient, way, &tools, &folder));
    }
    found.extend(cron::look(patient, &tools, &folder));
    found.extend(hash::look(patient, &folder));
    found.extend(words::look(patient, &tools, &folder));
    if found.iter().all(|finding| finding.level < Level::Warn) {
        found.insert(0, Finding::ok("path.first", "the shims come first here, and in your shells"));
    }
    found
}

/// Ourselves in a line that root types: neither sudo nor root's PATH looks where a user installs for himself.
fn ourselves() -> String {
    quoted(&std::env::current_exe().unwrap_or_else(|_| "locked".into()))
}

/// By sudo, also as its login shell: no shell of root's has shims.
fn lent(patient: &Patient<'_>) -> Option<Finding> {
    let user = folder::lender(patient.context)?;
    if shims::whole(patient.context, &patient.shims()).is_empty() {
        return None;
    }
    Some(
        Finding::note(
            "path.lent",
            format!("these are root's shells, by sudo of {user}, and have no shims of their own"),
        )
        .because(format!("what root types takes no lease, unless locked stands before it; {user}'s shims are {user}'s"))
        .remedy(format!("{} shims install --system", ourselves())),
    )
}

fn of_way(patient: &Patient<'_>, way: &Way, tools: &[String], folder: &Path) -> Option<Finding> {
    let path = match way.id {
        "path.cron" => CRON.to_owned(),
        id => match patient.probes.answer(id)? {
            Answer::Said(said) => match between(said.as_bytes()) {
                Some(path) => path,
                None => return Some(untold(patient, way, "did not say")),
            },
            Answer::Late => return Some(untold(patient, way, "did not say in time")),
            Answer::NotRun(_) => return Some(untold(patient, way, "could not be run")),
        },
    };
    let passed = passed_by(patient, tools, Some(OsStr::new(&path)))?;
    let what = format!("in {} the shims are passed by: {passed}", way.called);
    let finding = Finding { level: way.level, ..Finding::note(way.id, what) };
    Some(
        finding
            .because("what runs there takes no lease, unless locked stands before it")
            .remedy(remedy(patient, way, folder)),
    )
}

fn untold(patient: &Patient<'_>, way: &Way, how: &str) -> Finding {
    let finding = Finding::note(way.id, format!("{} {how} what its PATH is", way.called));
    match way.id {
        "path.sudo" => {
            finding.because("it would ask for a password, or may not be used").remedy("sudo sh -c 'command -v sops'")
        }
        _ => {
            let shell = quoted(&shell(patient.context));
            finding
                .because("its files take long, end it, or send its output elsewhere")
                .remedy(format!("{shell} -l -i -c 'command -v sops'"))
        }
    }
}

fn remedy(patient: &Patient<'_>, way: &Way, folder: &Path) -> String {
    let shell = shell(patient.context);
    let line = format!("export PATH={}:\"$PATH\"", quoted(folder));
    let file = match (way.id, shell.file_name().and_then(OsStr::to_str).unwrap_or_default()) {
        ("path.cron", _) => {
            return format!(
                "write PATH={}:{CRON} at the head of the crontab, or `locked` before the command",
                quoted(folder)
            );
        }
        ("path.sudo", _) => {
            return format!(
                "write `sudo {}` before the command, or add the folder to secure_path (`visudo`)",
                ourselves()
            );
        }
        ("path.script", _) => {
            return "write `locked` before the command in scripts, or put the folder on the PATH of the service"
                .to_owned();
        }
        (_, "fish") => return format!("fish_add_path --move --path {}", quoted(folder)),
        ("path.login", "zsh") => "~/.zprofile",
        (_, "zsh") => "~/.zshrc",
        ("path.login", _) => "~/.profile",
        (_, "bash") => "~/.bashrc",
        _ => "the shell's own file",
    };
    format!("put `{line}` at the end of {file}")
}

/// Which tools are found before their shims on this PATH, and where; none when no shim is passed by. What is not there at
/// all cannot be run past a shim.
pub(super) fn passed_by(patient: &Patient<'_>, tools: &[String], path: Option<&OsStr>) -> Option<String> {
    let cwd = &patient.context.invocation.cwd;
    let first = |tool: &String| match program::resolve(OsStr::new(tool), path, cwd, patient.context.ourselves) {
        Ok(found) if found.skipped.is_empty() => Some(quoted(&found.path)),
        Ok(_) | Err(NotFound::NotOnPath { .. } | NotFound::NoSuchFile { .. } | NotFound::NotExecutable { .. }) => None,
    };
    let passed: Vec<String> = tools.iter().filter_map(first).take(6).collect();
    (!passed.is_empty())
        .then(|| format!("{} {}", passed.join(", "), if passed.len() == 1 { "comes first" } else { "come first" }))
}

fn quoted(path: &Path) -> String {
    shell_quote(path.as_os_str().as_encoded_bytes())
}
