//! From an order to a running child.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Child, Command};

use crate::platform::OsStrExt as _;
use crate::supervise::Order;

use super::UNESCAPABLE;

/// What came of it.
pub(super) enum Started {
    /// It runs.
    Runs(Child),
    /// The system's reason, or [`UNESCAPABLE`].
    Failed(i32),
}

/// Nothing runs a script that does not say what runs it.
#[must_use]
pub fn shell_fallback() -> &'static str {
    ""
}

/// Starts the program by its absolute path, so that nothing is looked for in the working directory or in ours. The standard
/// library writes the command line, as programs read it, and for batch files as the command processor does; what cannot be
/// said to that it refuses.
pub(super) fn start(order: &Order, variables: &[(String, String)]) -> io::Result<Started> {
    let program = std::path::absolute(&order.program)?;
    let mut command = Command::new(program);
    command.args(&order.args).env_clear();
    command.envs(order.env.iter().filter_map(|entry| parted(entry)));
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    Ok(match command.spawn() {
        Ok(child) => Started::Runs(child),
        Err(error) => Started::Failed(error.raw_os_error().unwrap_or(UNESCAPABLE)),
    })
}

/// Name and value. The names of the drives' own directories begin with `=` (`=C:`).
fn parted(entry: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = entry.as_bytes();
    let at = 1 + bytes.get(1..)?.iter().position(|&byte| byte == b'=')?;
    Some((OsStr::from_bytes(&bytes[..at]).to_owned(), OsStr::from_bytes(&bytes[at + 1..]).to_owned()))
}
