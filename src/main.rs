//! The `locked` program: takes argv, environment and descriptors at the door, and leaves with the exit.
#![forbid(unsafe_code)]

fn main() {
    locked::supervise::leave(locked::cli::main(locked::invocation::Invocation::capture()));
}
