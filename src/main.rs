//! The `locked` program: takes argv, environment and descriptors at the door, and leaves with the exit.
#![forbid(unsafe_code)]

use locked::invocation::{self, Invocation};

fn main() {
    let invocation = Invocation::capture();
    invocation::heed_children();
    locked::supervise::leave(locked::cli::main(invocation));
}
