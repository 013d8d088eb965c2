//! A program that is to know nothing of our terminal.
#![allow(unsafe_code, reason = "a call between fork and exec; it says why it is sound")]

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The command gets a session of its own: an interactive shell that found our terminal would take its foreground, or stop
/// because it may not.
pub(super) fn apart(command: &mut Command) {
    // SAFETY: setsid(2) is async-signal-safe and touches no memory; after a fork it cannot fail but by an old leader, which
    // a new process never is.
    unsafe {
        command.pre_exec(|| {
            let _it_is_no_leader_yet = rustix::process::setsid();
            Ok(())
        });
    }
}
