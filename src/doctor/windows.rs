//! A foreign program is listened to, on Windows: without a console of ours, and ended alone.
#![forbid(unsafe_code)]

use std::io::Read as _;
use std::os::windows::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use windows_sys::Win32::System::Threading::CREATE_NO_WINDOW;

use super::probe::MOST;

/// The command gets no console that a person looks at.
pub(super) fn apart(command: &mut Command) {
    command.creation_flags(CREATE_NO_WINDOW);
}

/// Ends the child.
pub(super) fn end_session(child: &mut Child) {
    let _it_may_have_ended = child.kill();
}

/// Reads until the child has ended and nobody has its pipe any more, or has said enough.
pub(super) fn listen(child: &mut Child, said: &mut Vec<u8>, limit: Duration, enough: impl Fn(&[u8]) -> bool) -> bool {
    let deadline = Instant::now() + limit;
    let Some(mut out) = child.stdout.take() else { return false };
    let (parts, heard) = mpsc::sync_channel(4);
    // It ends with the pipe, at the latest when the child has been ended.
    let reads = std::thread::Builder::new().name("probe".into()).spawn(move || {
        let mut part = [0; 8192];
        while let Ok(length @ 1..) = out.read(&mut part) {
            if parts.send(part[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    if reads.is_err() {
        return false;
    }
    loop {
        match heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(part) => {
                said.extend_from_slice(&part[..part.len().min(MOST.saturating_sub(said.len()))]);
                if enough(said) {
                    return true;
                }
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return true,
            Err(mpsc::RecvTimeoutError::Timeout) => return false,
        }
    }
}
