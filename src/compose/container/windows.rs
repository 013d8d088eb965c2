//! A client with a time limit, on Windows.
#![forbid(unsafe_code)]

use std::io::Read as _;
use std::process::Command;
use std::time::Duration;

use crate::platform::ends_within;

/// What the client writes, up to so much, if it ends well and in time. A name is short, so that it fits into the pipe: it is
/// read when the client has ended.
pub(super) fn answer(command: &mut Command, limit: Duration, most: u64) -> Option<String> {
    let mut child = command.spawn().ok()?;
    let in_time = ends_within(&child, limit);
    if !in_time {
        let _it_may_have_ended_now = child.kill();
    }
    let status = child.wait().ok().filter(|_| in_time)?;
    let mut bytes = Vec::new();
    child.stdout.take().filter(|_| status.success())?.take(most).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}
