//! A child with a time limit, on Unix. It gets a process group of its own, which is killed as a whole.
#![forbid(unsafe_code)]

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// An empty configuration, so that neither the command's directory nor `SOPS_CONFIG` has a say.
pub(super) fn empty_file() -> io::Result<PathBuf> {
    Ok(Path::new("/dev/null").to_owned())
}

/// Runs it to its end; none when the time was up.
pub(crate) fn run(command: &mut Command, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let mut child = command.process_group(0).spawn()?;
    let watch = watch(&child);
    let in_time = watch.as_ref().is_ok_and(|(ended, _)| ended.recv_timeout(timeout).is_ok());
    if !in_time {
        kill_group(&child);
    }
    let status = child.wait();
    if let Ok((_, thread)) = watch {
        // Order: reaped, so it ends. Our caller may fork next, which it may only while there is one thread.
        let _it_has_nothing_to_tell = thread.join();
    }
    Ok(in_time.then_some(status?))
}

/// A thread that says when the child has ended, and leaves it unreaped: until `wait`, its pid can be nobody else's, so
/// that a kill that comes at the same moment cannot hit a stranger.
fn watch(child: &Child) -> io::Result<(mpsc::Receiver<()>, JoinHandle<()>)> {
    let pid = Pid::from_child(child);
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::Builder::new().name("arbiter".into()).spawn(move || {
        wait_unreaped(pid);
        // The receiver is gone when the time was up; then nobody needs to know.
        let _ = sender.send(());
    })?;
    Ok((receiver, thread))
}

fn wait_unreaped(pid: Pid) {
    while matches!(waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT), Err(Errno::INTR)) {}
}

/// The group is that of our child, which has not been reaped yet.
fn kill_group(child: &Child) {
    // An error says that it ended at this very moment.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}
