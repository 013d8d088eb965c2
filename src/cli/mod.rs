//! `cli`: the command line. All definitions are here; each verb's work is in a file of its own.
//!
//! `locked [OPTIONS] PROGRAM [ARGS…]`: the first word that is not an option of ours is a verb of ours or a program, and
//! after it every byte belongs to the program.
#![forbid(unsafe_code)]

mod acquire;
mod adopt;
mod agents;
mod alive;
mod audit;
mod check;
mod completions;
mod config;
mod doctor;
mod duty;
mod explain;
mod find;
mod findings;
mod forced;
mod front;
mod held;
mod history;
mod hooks;
mod init;
mod keep_alive;
mod ledger;
mod mistyped;
mod options;
mod out;
mod overruled;
mod prove;
mod restore;
mod rotation;
mod session;
mod shims;
mod status;
mod steal;
mod store;
mod table;
mod verbs;
mod wanted;
mod watch;
mod world;
mod zoned;

pub use find::Front;
pub use front::main;
pub use options::RunOptions;
pub use verbs::{Line, Verb};

/// The whole definition, for help, completions, the man page and the tests that compare them.
#[must_use]
pub fn definition() -> clap::Command {
    <Line as clap::CommandFactory>::command()
}
