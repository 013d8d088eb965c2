//! The `locked` program: takes argv, environment and descriptors at the door, and leaves with the exit.
#![cfg_attr(all(target_os = "linux", target_env = "gnu"), no_main)]
#![deny(unsafe_code)]

use locked::invocation::{self, Invocation};

/// Where glibc starts a program. Rust's own start in front of it would look up the end of the stack in `/proc/self/maps`, to
/// tell an overflow from another crash: a twentieth of all that a shim may take. What we need of it, [`invocation::begin`]
/// does.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the name is the one that libc's start code calls, and nothing else here has it")]
#[unsafe(no_mangle)]
extern "C" fn main() -> std::ffi::c_int {
    invocation::begin();
    run()
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() {
    run()
}

fn run() -> ! {
    let invocation = Invocation::capture();
    invocation::heed_children();
    locked::supervise::leave(locked::cli::main(invocation));
}
