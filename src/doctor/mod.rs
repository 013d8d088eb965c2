//! `doctor`: is everything as it must be for locks to be taken? A list of checks, each with one thought, which look at the
//! store, the tools, the keys, the ways around the shims, the repository and the settings, and say what they found: a
//! [`Finding`] with a stable name, a level, and the next step.
//!
//! It promises: it changes nothing unless it is asked to mend, and then only what cannot make anything worse; it sends
//! nothing but to the store that is set; it shows no secret; and it ends within a few seconds, whatever a program that it asks,
//! a shell's files or a repository of any size may do. What it could not look at in its time, it says.
// `deny`, not `forbid`: the platform file below makes a session for shells that are asked.
#![deny(unsafe_code)]

mod agents;
mod around;
mod checkouts;
#[cfg(unix)]
mod cron;
mod files;
mod finding;
mod folder;
mod hands;
#[cfg(unix)]
mod hash;
mod hooks;
mod keys;
mod leases;
mod links;
#[cfg(unix)]
mod listen;
mod once;
mod patient;
mod probe;
mod probes;
mod receipts;
mod repository;
mod scripts;
mod server;
mod sessions;
mod settings;
#[cfg(unix)]
mod shells;
mod shims;
mod spool;
#[cfg(unix)]
mod starts;
mod state;
mod store;
mod tools;
#[cfg(unix)]
mod unix;
mod variables;
mod ways;
#[cfg(windows)]
mod windows;
#[cfg(unix)]
mod words;

pub use finding::{Finding, Level};
pub use patient::Twin;

use crate::run::Context;

use patient::Patient;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Only these checks; empty: all.
    pub checks: Vec<&'static str>,
    /// Mend what can be mended safely.
    pub fix: bool,
    /// The variables that stand for options, as the command line defines them.
    pub twins: Vec<Twin>,
}

/// The line that takes a variable out of the environment where it is typed: in PowerShell on Windows, else in any shell.
fn unset(name: &str) -> String {
    if cfg!(windows) { format!("Remove-Item Env:{name}") } else { format!("unset {name}") }
}

/// One check.
struct Check {
    name: &'static str,
    about: &'static str,
    look: fn(&Patient<'_>) -> Vec<Finding>,
}

/// All of them, in the order in which they are told. Those that ask the store come after the one that says whether it
/// answers.
const CHECKS: [Check; 15] = [
    Check { name: "store", about: "the store answers, and this role may use it", look: store::look },
    Check { name: "checkouts", about: "all checkouts look at one store", look: checkouts::look },
    Check { name: "state", about: "the state directory is ours alone", look: state::look },
    Check { name: "spool", about: "the store has heard of everything", look: spool::look },
    Check { name: "leases", about: "no lease is stuck", look: leases::look },
    Check { name: "session", about: "who we are is nobody else", look: sessions::look },
    Check { name: "settings", about: "settings and variables mean something", look: settings::look },
    Check { name: "tools", about: "the real programs are there", look: tools::look },
    Check { name: "keys", about: "an age identity opens the files", look: keys::look },
    Check { name: "shims", about: "the shims are whole", look: shims::look },
    Check { name: "path", about: "the shims come first, wherever commands are typed", look: ways::look },
    Check { name: "around", about: "nothing names a tool past the shims", look: around::look },
    Check { name: "hooks", about: "commits are looked at", look: hooks::look },
    Check { name: "agents", about: "coding agents ask before they write", look: agents::look },
    Check { name: "files", about: "every SOPS file is sound and known", look: files::look },
];

/// The names of the checks and what each is about.
pub fn checks() -> impl Iterator<Item = (&'static str, &'static str)> {
    CHECKS.iter().map(|check| (check.name, check.about))
}

/// Looks, and mends if that was asked for.
#[must_use]
pub fn examine(context: &Context, asked: &Asked) -> Vec<Finding> {
    let patient = Patient::new(context, asked);
    let wanted = CHECKS.iter().filter(|check| patient.is_asked(check.name));
    let mut found: Vec<Finding> = wanted.flat_map(|check| (check.look)(&patient)).collect();
    if asked.fix {
        found.iter_mut().for_each(|finding| finding.mend(&patient));
    }
    found
}
