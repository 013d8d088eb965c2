//! `rules`: what a command line would change. Pure: argv, environment and a look at descriptor 1 go in, a
//! [`Classification`] comes out; no file is read and nothing runs.
#![forbid(unsafe_code)]

mod argument;
mod change;
mod golang;
mod sops;
mod urfave;

pub use change::{Asked, Change, Classification, Command, Stdout, Via, Write};
pub use sops::{LineEnds, hint};

use crate::terms::percent_encode;

/// Whether this exit status of the rule's program means that the work was done. sops' 200 means that the editor changed
/// nothing, so nothing was to be done.
#[must_use]
pub fn succeeded(rule: Option<&str>, status: i32) -> bool {
    status == 0 || (status == 200 && rule.is_some_and(|rule| rule.starts_with("sops.")))
}

/// What a command would write, by the rule for its program. A program that no rule knows writes nothing that is shared.
#[must_use]
pub fn classify(command: &Command<'_>) -> Classification {
    if sops::is_sops(command.name) {
        return sops::classify(command);
    }
    Classification {
        rule: None,
        writes: Vec::new(),
        remote: false,
        operation: percent_encode(command.name.as_encoded_bytes()),
        reason: "no rule knows this program".to_owned(),
    }
}

/// Is there a built-in rule of this name? All of a program's begin with its name and a dot.
#[must_use]
pub fn is_built_in(rule: &str) -> bool {
    rule.split('.').next().is_some_and(knows)
}

/// Does a built-in rule know this program?
#[must_use]
pub fn knows(program: &str) -> bool {
    sops::is_sops(program.as_ref())
}
