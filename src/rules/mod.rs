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

/// What a command would write, by the rule for its program. A program that no rule knows writes nothing that is shared.
#[must_use]
pub fn classify(command: &Command<'_>) -> Classification {
    if sops::is_sops(command.name) {
        return sops::classify(command);
    }
    Classification {
        rule: None,
        writes: Vec::new(),
        operation: percent_encode(command.name.as_encoded_bytes()),
        reason: "no rule knows this program".to_owned(),
    }
}
