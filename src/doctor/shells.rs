//! Shells are asked for their PATH, and sudo and cron for what they would make of it. The shell is the user's own, run with a
//! clean environment, nothing to read, no terminal and a limit; what its files print does not matter, only what stands
//! between our marks does.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::run::{self, Context, env_of};
use crate::state::Account;

use super::probe::Probe;
use super::probes::{Job, environment};
use super::{folder, words};

/// So long a shell may take for its files.
const LIMIT: Duration = Duration::from_secs(2);
/// PATH before any file of the user's has a say (login(1), sshd(8)).
const BARE: &str = "/usr/local/bin:/usr/bin:/bin";
/// Our marks, put together only when they are printed, so that an echo of the command line is not taken for them.
const SAYS_PATH: &str = r#"exec /bin/sh -c 'printf "\n<%s:%s:%s>\n" locked-path "$PATH" path-locked'"#;
const BEGIN: &str = "<locked-path:";
const END: &str = ":path-locked>";

/// The user's shell.
pub(super) fn shell(context: &Context) -> PathBuf {
    let named = context.invocation.var("SHELL").map(PathBuf::from).filter(|path| path.is_absolute() && path.is_file());
    // Where nobody says it, as in a container or a job, it is the one that a login would start.
    let is_shell =
        |path: &PathBuf| path.is_absolute() && path.is_file() && !path.ends_with("nologin") && !path.ends_with("false");
    let of_account = || Account::served(&env_of(context)).shell().filter(is_shell);
    named.or_else(of_account).unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

pub(super) fn jobs(context: &Context) -> Vec<(&'static str, Job)> {
    if folder::of_shells(context).is_empty() {
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
    let words = words::asked(context).map(|(shell, question)| {
        let probe = Probe { args: vec!["-i".into(), "-c".into(), question.into()], ..of_shell(context, &shell, None) };
        (words::ID, Box::new(move || probe.ask(|_| false)) as Job)
    });
    let jobs = of_crontab(context).map(|probe| ("path.crontab", Box::new(move || probe.ask(|_| false)) as Job));
    probes.into_iter().map(job).chain(jobs).chain(words).collect()
}

/// What a shell makes of a clean environment.
fn of_shell(context: &Context, shell: &Path, option: Option<&str>) -> Probe {
    let name = shell.file_name().and_then(OsStr::to_str).unwrap_or_default();
    // csh takes -l alone only, and would then read commands.
    let option = option.filter(|_| !name.ends_with("csh"));
    let args = option.into_iter().map(OsString::from).chain(["-c".into(), SAYS_PATH.into()]).collect();
    let kept = ["HOME", "USER", "LOGNAME", "LANG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR", "ENV", "TMPDIR"];
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
    let (env, cwd) = environment(context);
    Some(Probe { program, args, env, cwd, limit: LIMIT })
}

/// What stands between the last pair of our marks.
pub(super) fn between(said: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(said);
    let (_, rest) = text.rsplit_once(BEGIN)?;
    rest.split_once(END).map(|(path, _)| path.to_owned())
}

/// The user's crontab, if there is one.
fn of_crontab(context: &Context) -> Option<Probe> {
    let program = run::real(context, "crontab")?;
    let (env, cwd) = environment(context);
    Some(Probe { program, args: vec!["-l".into()], env, cwd, limit: LIMIT })
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
