//! From an order to a running program: in place (pass through) or as the keeper's child.
#![forbid(unsafe_code)]

use std::ffi::{CString, OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;

use crate::terms::CHAIN;

use super::unix::{self, Launch, Side};
use super::{Entry, Order, tree};

/// Becomes the program: same process id, same everything. Comes back only when that failed.
#[must_use]
pub fn replace(order: &Order) -> io::Error {
    match launch(order, &[], None) {
        Ok(launch) => io::Error::from_raw_os_error(unix::become_program(&launch)),
        Err(error) => error,
    }
}

/// Why the program was not started, in one clause: by the errno of its exec.
#[must_use]
pub fn not_started(errno: i32) -> String {
    io::Error::from_raw_os_error(errno).to_string()
}

/// The shell that runs a script without `#!`, as `execvp` does it.
#[must_use]
pub fn shell_fallback() -> &'static str {
    "/bin/sh"
}

/// What a person's key or hang-up sends.
const OF_A_KEY: [i32; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP, libc::SIGHUP];

/// How often a child that has not come to its exec is looked at.
const STEP: std::time::Duration = std::time::Duration::from_millis(10);

/// Starts the program as a child of this process. The answer is its process id, or the errno of the failed exec.
pub(super) fn spawn(order: &Order, variables: &[(String, String)]) -> io::Result<Result<i32, i32>> {
    let mut launch = launch(order, variables, Some(unix::own_pid()))?;
    let wrapper = unix::parent();
    let (read, write) = unix::pipe()?;
    let pid = match unix::fork()? {
        Side::Child => {
            catch_up(unix::parent());
            name_us(&mut launch.envp, wrapper, unix::own_pid());
            let errno = unix::become_program(&launch);
            let mut write = std::fs::File::from(write);
            let _told = write.write_all(&errno.to_ne_bytes());
            unix::leave(127);
        }
        Side::Parent(pid) => pid,
    };
    drop(write);
    match failure(read, pid)? {
        Some(errno) => {
            unix::reap(pid);
            Ok(Err(errno))
        }
        None => Ok(Ok(pid)),
    }
}

/// The errno of the failed exec, if it failed: the pipe ends without one when it is closed on exec. A child that was
/// stopped on the way (Ctrl-Z) counts as started, so that its stop can be seen to.
fn failure(pipe: std::os::fd::OwnedFd, pid: i32) -> io::Result<Option<i32>> {
    while !unix::wait_readable(&[pipe.as_fd()], Some(STEP))?[0] {
        if tree::member(pid).is_some_and(|child| child.halted()) {
            return Ok(None);
        }
    }
    let mut errno = Vec::new();
    std::fs::File::from(pipe).read_to_end(&mut errno)?;
    Ok(errno.try_into().ok().map(i32::from_ne_bytes))
}

/// The keeper waits in the caller's group with every signal blocked. What a key sent before there was a child waits
/// there, and the wrapper takes it for known: so the child sends itself what its parent got and it did not.
fn catch_up(keeper: i32) {
    // Order: the parent's first. What comes in between is then among ours and not sent again.
    let parents = tree::pending(keeper);
    for signal in OF_A_KEY.into_iter().filter(|&signal| parents & unix::bit(signal) != 0) {
        if !unix::is_pending(signal) {
            unix::raise(signal);
        }
    }
}

fn launch(order: &Order, variables: &[(String, String)], keeper: Option<i32>) -> io::Result<Launch> {
    let Entry { closed, ignored, blocked } = order.entry;
    let program = text(order.program.as_os_str())?;
    let args = order.args.iter().map(|arg| text(arg)).collect::<io::Result<Vec<_>>>()?;
    let argv = [text(&order.arg0)?].into_iter().chain(args.iter().cloned()).collect();
    let fallback = [text(OsStr::new(shell_fallback()))?, program.clone()].into_iter().chain(args).collect();
    let envp = environment(&order.env, variables).iter().map(|entry| text(entry)).collect::<io::Result<_>>()?;
    Ok(Launch { program, argv, fallback, envp, closed, ignored, blocked, keeper })
}

/// Variables by which a supervisor says which process it means (sd_listen_fds(3), sd_watchdog_enabled(3),
/// systemd.exec(5)).
const NAMING_A_PROCESS: [&str; 3] = ["LISTEN_PID", "WATCHDOG_PID", "SYSTEMD_EXEC_PID"];

/// Where the caller named the process that it started, it meant the program. What follows a command through the shims
/// begins with its process as well ([`CHAIN`]).
fn name_us(envp: &mut [CString], wrapper: i32, program: i32) {
    let meant = format!("{CHAIN}={wrapper}:");
    for entry in envp.iter_mut() {
        let Some(rest) = entry.as_bytes().strip_prefix(meant.as_bytes()) else { continue };
        let ours = format!("{CHAIN}={program}:");
        *entry = CString::new([ours.as_bytes(), rest].concat()).unwrap_or_default();
    }
    for name in NAMING_A_PROCESS {
        let meant = format!("{name}={wrapper}");
        for entry in envp.iter_mut().filter(|entry| entry.as_bytes() == meant.as_bytes()) {
            *entry = CString::new(format!("{name}={program}")).unwrap_or_default();
        }
    }
}

fn text(bytes: &OsStr) -> io::Result<CString> {
    CString::new(bytes.as_bytes()).map_err(io::Error::from)
}

/// The inherited environment, bytes and order kept, with ours at the end instead of inherited ones of the same name.
fn environment(inherited: &[OsString], variables: &[(String, String)]) -> Vec<OsString> {
    let ours = |entry: &OsStr| {
        let name = entry.as_bytes().split(|&byte| byte == b'=').next().unwrap_or_default();
        variables.iter().any(|(ours, _)| ours.as_bytes() == name)
    };
    let kept = inherited.iter().filter(|entry| !ours(entry)).cloned();
    kept.chain(variables.iter().map(|(name, value)| OsString::from(format!("{name}={value}")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_of_ours_replace_inherited_ones() {
        let inherited = ["A=1", "LOCKED_LEASE=old", "B", "=odd", "LOCKED_LEASE_X=y"].map(OsString::from);
        let env = environment(&inherited, &[("LOCKED_LEASE".to_owned(), "new".to_owned())]);
        assert_eq!(env, ["A=1", "B", "=odd", "LOCKED_LEASE_X=y", "LOCKED_LEASE=new"].map(OsString::from));
    }
}
