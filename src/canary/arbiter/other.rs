//! A child with a time limit where there are no process groups: the child alone is killed, not what it started.
#![forbid(unsafe_code)]

use std::io;
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// How often the child is looked at.
const TICK: Duration = Duration::from_millis(5);

/// An empty configuration file; it goes when it is dropped. (sops on Windows cannot open a null device.)
pub(super) fn empty_file() -> io::Result<tempfile::TempPath> {
    tempfile::Builder::new()
        .prefix("locked-canary-")
        .suffix(".yaml")
        .tempfile()
        .map(tempfile::NamedTempFile::into_temp_path)
}

/// Runs it to its end; none when the time was up.
pub(crate) fn run(command: &mut Command, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let mut waited = Duration::ZERO;
    while waited < timeout {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(TICK);
        waited += TICK;
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}
