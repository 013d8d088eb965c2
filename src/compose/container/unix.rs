//! A client with a time limit, on Unix. It gets a process group of its own, which is killed as a whole.
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc;
use std::time::Duration;

use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// What the client writes, up to so much, if it ends well and in time.
pub(super) fn answer(command: &mut Command, limit: Duration, most: u64) -> Option<String> {
    let mut child = command.process_group(0).spawn().ok()?;
    let status = end(&mut child, limit)?;
    if status.success() { written(child.stdout.take()?, most) } else { None }
}

/// Waits for its end; none when the time was up and it was killed. Either way it is reaped.
fn end(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let pid = Pid::from_child(child);
    let (ended, end) = mpsc::channel();
    // It leaves the child unreaped: until `wait`, the pid can be nobody else's, so that the kill cannot hit a stranger.
    let watch = std::thread::Builder::new().name("docker".into()).spawn(move || {
        while matches!(waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT), Err(Errno::INTR)) {}
        // The receiver is gone when the time was up; then nobody needs to know.
        let _ = ended.send(());
    });
    let in_time = watch.is_ok() && end.recv_timeout(limit).is_ok();
    if !in_time {
        // An error says that it ended at this very moment.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let status = child.wait().ok();
    if let Ok(watch) = watch {
        // Order: reaped, so it ends. Our caller may fork next, which it may only while there is one thread.
        let _it_has_nothing_to_tell = watch.join();
    }
    status.filter(|_| in_time)
}

/// What an ended child has written. A descendant that lives on may hold the pipe open: its end is not waited for.
fn written(pipe: impl Read + std::os::fd::AsFd, most: u64) -> Option<String> {
    ioctl_fionbio(&pipe, true).ok()?;
    let mut bytes = Vec::new();
    match pipe.take(most).read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        Err(_) => return None,
    }
    String::from_utf8(bytes).ok()
}
