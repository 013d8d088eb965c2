//! What else sets a repository up: other verbs, run as a person would run them. Only those that this version has.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{BufRead as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::hooks::{self, Standing, State};
use crate::run::{Context, env_of};
use crate::shims::{self, Entry, Folder};

/// One offer.
#[derive(Debug)]
pub(super) struct Offer {
    words: &'static [&'static str],
    /// What it does, for people.
    pub(super) why: &'static str,
    /// Whether it went well, once it was tried.
    pub(super) done: Option<bool>,
}

const ALL: [(&[&str], &str); 3] = [
    (&["hooks", "install"], "git refuses commits of secrets that were not written under a lease"),
    (&["shims", "install"], "sops, docker and gh take leases by themselves"),
    (&["agents", "install"], "editors' agents are told, too"),
];

impl Offer {
    /// Those whose verb is in this definition of the command line.
    pub(super) fn all(definition: &clap::Command) -> Vec<Self> {
        let has = |words: &[&str]| {
            let found = words.iter().try_fold(definition, |at, word| at.find_subcommand(word));
            found.is_some_and(|verb| !verb.is_hide_set())
        };
        ALL.into_iter().filter(|(words, _)| has(words)).map(|(words, why)| Self { words, why, done: None }).collect()
    }

    /// Whether all of it is in place already.
    pub(super) fn stands(&self, context: &Context) -> bool {
        let (cwd, env) = (&context.invocation.cwd, env_of(context));
        match self.words.first() {
            Some(&"hooks") => {
                let ourselves = std::env::current_exe().map(OsString::from).unwrap_or_default();
                let runs = |hook: &Standing| matches!(hook.state, State::Installed | State::Configured | State::Called);
                hooks::find(cwd, &env).is_ok_and(|place| hooks::standing(&place, &ourselves).iter().all(runs))
            }
            Some(&"shims") => {
                let all = Folder::choose(None, false, cwd, &env).and_then(|it| shims::all(&it, context.ourselves));
                all.is_ok_and(|all| !all.is_empty() && all.iter().all(|shim| shim.entry != Entry::Broken))
            }
            _ => !crate::cli::agents::lacks_hooks(context),
        }
    }

    /// As a person types it.
    pub(super) fn line(&self) -> String {
        format!("locked {}", self.words.join(" "))
    }

    pub(super) fn json(&self) -> Value {
        json!({"command": self.line(), "done": self.done, "why": self.why})
    }

    /// Runs it, by our own file. What it says is not for who reads JSON.
    pub(super) fn carry_out(&self, quiet: bool) -> bool {
        let Ok(ourselves) = std::env::current_exe() else { return false };
        let mut command = Command::new(ourselves);
        command.args(self.words).stdin(Stdio::null());
        if quiet {
            command.stdout(Stdio::null());
        }
        command.status().is_ok_and(|status| status.success())
    }
}

/// Asks the person at the terminal. Anything but a yes is a no.
pub(super) fn says_yes(offer: &Offer) -> bool {
    let mut stderr = std::io::stderr().lock();
    let _nobody_may_listen = write!(stderr, "{} ({})? [y/N] ", offer.line(), offer.why).and_then(|()| stderr.flush());
    drop(stderr);
    let mut said = String::new();
    let read = std::io::stdin().lock().read_line(&mut said);
    read.is_ok() && ["y", "yes"].contains(&said.trim().to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_verbs_that_there_are_are_offered() {
        let lines = |definition: &clap::Command| Offer::all(definition).iter().map(Offer::line).collect::<Vec<_>>();
        let bare = clap::Command::new("locked");
        assert!(lines(&bare).is_empty());
        let install = clap::Command::new("install");
        let some = bare.subcommand(clap::Command::new("hooks").subcommand(install.clone()));
        assert_eq!(lines(&some), ["locked hooks install"]);
        let reserved = some.subcommand(clap::Command::new("agents"));
        assert_eq!(lines(&reserved), ["locked hooks install"], "a group without the verb");
    }
}
