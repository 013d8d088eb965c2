//! Asks the docker client which project a container belongs to: `docker restart web-1` touches that project's stack.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::name;

/// Compose puts it on all that it makes (docker/compose `pkg/api/labels.go`).
const FORMAT: &str = r#"{{index .Config.Labels "com.docker.compose.project"}}"#;
/// Names are short; what is longer is none.
const LENGTH_CAP: u64 = 4096;

/// The compose project of a container, by name or id. `docker` is the real client, `global` its options before the
/// sub-command (`--context`, `-H`…), `env` its whole environment.
///
/// None if the container has no such label, there is no such container, the engine does not answer within `limit`, or
/// anything else is in the way. The client is killed at the limit; it never costs more.
#[must_use]
pub fn project_of_container(
    docker: &Path,
    global: &[&OsStr],
    container: &OsStr,
    env: impl IntoIterator<Item = (OsString, OsString)>,
    limit: Duration,
) -> Option<String> {
    let mut command = Command::new(docker);
    command.args(global).args(["container", "inspect", "--format", FORMAT, "--"]).arg(container);
    command.env_clear().envs(env).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.process_group(0).spawn().ok()?;
    let status = end(&mut child, limit)?;
    let text = if status.success() { written(child.stdout.take()?)? } else { return None };
    Some(text.trim_end()).filter(|text| name::is_name(text)).map(str::to_owned)
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
fn written(pipe: impl Read + std::os::fd::AsFd) -> Option<String> {
    ioctl_fionbio(&pipe, true).ok()?;
    let mut bytes = Vec::new();
    match pipe.take(LENGTH_CAP).read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        Err(_) => return None,
    }
    String::from_utf8(bytes).ok()
}
