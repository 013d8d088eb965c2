//! Unix: shells, and what cron and sudo make of PATH.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::Path;

use crate::doctor::patient::Patient;
use crate::doctor::probe::Answer;
use crate::doctor::shells::{between, shell};
use crate::doctor::{Finding, Level, cron, folder, hash, shims, starts, words};

use super::{passed_by, quoted};

/// What cron gives its jobs (crontab(5)).
pub(in crate::doctor) const CRON: &str = "/usr/bin:/bin";

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

/// The line that puts the folder first, where it is typed.
pub(super) fn line(folder: &Path) -> String {
    format!("export PATH={}:\"$PATH\"", quoted(folder))
}

/// Wherever else commands are typed, or given.
pub(super) fn elsewhere(patient: &Patient<'_>, tools: &[String], folder: &Path) -> Vec<Finding> {
    let mut found: Vec<Finding> = WAYS.iter().filter_map(|way| of_way(patient, way, tools, folder)).collect();
    found.extend(cron::look(patient, tools, folder));
    found.extend(hash::look(patient, folder));
    found.extend(words::look(patient, tools, folder));
    found
}

/// Ourselves in a line that root types: neither sudo nor root's PATH looks where a user installs for himself.
fn ourselves() -> String {
    quoted(&std::env::current_exe().unwrap_or_else(|_| "locked".into()))
}

/// By sudo, also as its login shell: no shell of root's has shims.
pub(super) fn lent(patient: &Patient<'_>) -> Option<Finding> {
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
        .remedy(crate::shims::system_line("")),
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
    let line = line(folder);
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
        // For this shell alone, and before what its files do, it would be without one.
        (_, "fish") => {
            let line = format!("fish_add_path --move --path {}", quoted(folder));
            return format!("put `{line}` at the end of {}", starts::fish(patient, "config.fish"));
        }
        ("path.login", "zsh") => starts::zsh(patient, ".zprofile"),
        (_, "zsh") => starts::zsh(patient, ".zshrc"),
        ("path.login", "bash") => starts::bash_login(patient),
        (_, "bash") => starts::in_home(".bashrc"),
        (_, "csh" | "tcsh") => {
            let line = format!("set path = ({} $path)", quoted(folder));
            return format!("put `{line}` at the end of ~/.cshrc");
        }
        ("path.login", _) => starts::in_home(".profile"),
        // A shell that reads no file of its own reads the one that ENV names (sh(1)).
        _ => match patient.env("ENV") {
            Some(file) => quoted(Path::new(&file)),
            None => {
                return format!("put `{line}` into ~/.shrc, and `export ENV=~/.shrc` at the end of ~/.profile");
            }
        },
    };
    format!("put `{line}` at the end of {file}")
}
