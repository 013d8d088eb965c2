//! A child with a time limit, on Windows. No key of the console's reaches it; at the limit it alone is ended, and not what it
//! may have started.
#![forbid(unsafe_code)]

use std::io;
use std::os::windows::process::CommandExt as _;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP;

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
    let mut child = command.creation_flags(CREATE_NEW_PROCESS_GROUP).spawn()?;
    if !crate::platform::ends_within(&child, timeout) {
        let _it_may_have_ended_now = child.kill();
        child.wait()?;
        return Ok(None);
    }
    child.wait().map(Some)
}
