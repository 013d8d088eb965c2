//! Wherever commands are typed: does a shim come before the real program? Looked at in the environment at hand, and in those
//! that a login shell, another interactive shell, a script, cron and sudo would make.
//!
//! The shell is the user's own, run with a clean environment, nothing to read, no terminal and a limit; what its files
//! print does not matter, only what stands between our marks does.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::program::{self, NotFound};
use crate::run::{self, Context, env_of};
use crate::terms::shell_quote;

use super::patient::Patient;
use super::probe::{Answer, Probe};
use super::probes::Job;
use super::{Finding, Level, hash, shims};

/// So long a shell may take for its files.
const LIMIT: Duration = Duration::from_secs(2);
/// PATH before any file of the user's has a say (login(1), sshd(8)).
const BARE: &str = "/usr/local/bin:/usr/bin:/bin";
/// What cron gives its jobs (crontab(5)).
const CRON: &str = "/usr/bin:/bin";
/// Our marks, put together only when they are printed, so that an echo of the command line is not taken for them.
const SAYS_PATH: &str = r#"exec /bin/sh -c 'printf "\n<%s:%s:%s>\n" locked-path "$PATH" path-locked'"#;
const BEGIN: &str = "<locked-path:";
const END: &str = ":path-locked>";

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

/// The user's shell.
fn shell(context: &Context) -> PathBuf {
    let named = context.invocation.var("SHELL").map(PathBuf::from).filter(|path| path.is_absolute() && path.is_file());
    named.unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

pub(super) fn jobs(context: &Context) -> Vec<(&'static str, Job)> {
    if shims::folders(context).is_empty() {
        return Vec::new();
    }
    let shell = shell(context);
    let mut probes = vec![
        ("path.login", of_shell(context, &shell, Some("-l"))),
        ("path.interactive", of_shell(context, &shell, Some("-i"))),
        ("path.script", of_shell(context, &shell, None)),
    ];
    probes.extend(of_sudo(context).map(|probe| ("path.sudo", probe)));
    let job =
        |(id, probe): (&'static str, Probe)| (id, Box::new(move || probe.ask(|said| between(said).is_some())) as Job);
    probes.into_iter().map(job).collect()
}

/// What a shell makes of a clean environment.
fn of_shell(context: &Context, shell: &Path, option: Option<&str>) -> Probe {
    let name = shell.file_name().and_then(OsStr::to_str).unwrap_or_default();
    // csh takes -l alone only, and would then read commands.
    let option = option.filter(|_| !name.ends_with("csh"));
    let args = option.into_iter().map(OsString::from).chain(["-c".into(), SAYS_PATH.into()]).collect();
    let kept = ["HOME", "USER", "LOGNAME", "LANG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR", "TMPDIR"];
    let mut env: Vec<(OsString, OsString)> =
        kept.iter().filter_map(|name| Some((OsString::from(name), context.invocation.var(name)?))).collect();
    env.extend([("PATH", BARE), ("TERM", "dumb")].map(|(name, value)| (OsString::from(name), OsString::from(value))));
    env.push(("SHELL".into(), shell.into()));
    Probe { program: shell.to_owned(), args, env, cwd: context.invocation.cwd.clone(), limit: LIMIT }
}

/// What sudo makes of ours, if it lets us in without a password; it never asks for one.
fn of_sudo(context: &Context) -> Option<Probe> {
    let program = run::real(context, "sudo")?;
    let args = ["-n", "/bin/sh", "-c", SAYS_PATH].map(OsString::from).to_vec();
    let (env, cwd) = super::probes::environment(context);
    Some(Probe { program, args, env, cwd, limit: LIMIT })
}

/// What stands between the last pair of our marks.
fn between(said: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(said);
    let (_, rest) = text.rsplit_once(BEGIN)?;
    rest.split_once(END).map(|(path, _)| path.to_owned())
}

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let tools = shims::shimmed(patient);
    let Some(folder) = patient.shims().into_iter().next().filter(|_| !tools.is_empty()) else { return Vec::new() };
    let mut found = Vec::new();
    let here = env_of(patient.context)("PATH");
    if let Some(passed) = passed_by(patient, &tools, here.as_deref()) {
        found.push(
            Finding::fault("path.here", format!("here the shims are passed by: {passed}"))
                .because("what is typed without locked before it takes no lease")
                .remedy(format!("put the shims first: export PATH={}:\"$PATH\"", quoted(&folder))),
        );
    }
    for way in &WAYS {
        found.extend(of_way(patient, way, &tools, &folder));
    }
    found.extend(hash::look(patient, &folder));
    if found.iter().all(|finding| finding.level < Level::Warn) {
        found.insert(0, Finding::ok("path.first", "the shims come first here, and in your shells"));
    }
    found
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
        "path.sudo" => finding
            .because("it would ask for a password, or may not be used")
            .remedy("sudo sh -c 'command -v sops' shows it"),
        _ => {
            let shell = quoted(&shell(patient.context));
            finding
                .because("its files take long, end it, or send its output elsewhere")
                .remedy(format!("see what they do: {shell} -c 'command -v sops', with -l and with -i"))
        }
    }
}

fn remedy(patient: &Patient<'_>, way: &Way, folder: &Path) -> String {
    let shell = shell(patient.context);
    let line = format!("export PATH={}:\"$PATH\"", quoted(folder));
    let file = match (way.id, shell.file_name().and_then(OsStr::to_str).unwrap_or_default()) {
        ("path.cron", _) => {
            return format!(
                "write PATH={}:{CRON} at the head of the crontab, or locked before the command",
                folder.display()
            );
        }
        ("path.sudo", _) => return "write sudo locked sops …, or add the folder to secure_path with visudo".to_owned(),
        ("path.script", _) => {
            return "write locked before the command in scripts, or put the folder on the PATH of the service"
                .to_owned();
        }
        (_, "fish") => return format!("fish_add_path --move --path {}", quoted(folder)),
        ("path.login", "zsh") => "~/.zprofile",
        (_, "zsh") => "~/.zshrc",
        ("path.login", _) => "~/.profile",
        (_, "bash") => "~/.bashrc",
        _ => "the shell's own file",
    };
    format!("put this at the end of {file}: {line}")
}

/// Which tools are found before their shims on this PATH, and where; none when no shim is passed by. What is not there at
/// all cannot be run past a shim.
fn passed_by(patient: &Patient<'_>, tools: &[String], path: Option<&OsStr>) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_stands_between_the_last_marks() {
        for (said, path) in [
            ("\n<locked-path:/a:/b:path-locked>\n", Some("/a:/b")),
            ("welcome\n<locked-path:/old:path-locked>\n<locked-path:/new:path-locked>x", Some("/new")),
            ("<locked-path:/a", None),
            ("printf \"<%s:%s:%s>\" locked-path $PATH path-locked", None),
            ("", None),
        ] {
            assert_eq!(between(said.as_bytes()).as_deref(), path, "{said}");
        }
    }
}
