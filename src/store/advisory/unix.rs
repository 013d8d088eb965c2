//! The system calls of the steward's process, each behind a safe function. No decision is made here.
#![allow(unsafe_code, reason = "system calls; each block says why it is sound")]

use std::io;
use std::os::fd::{AsRawFd as _, RawFd};

/// Signals that end or stop whole jobs: they are for the command, and the lock must outlive it.
const NOT_FOR_US: [libc::c_int; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGPIPE,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

/// Starts `work` in a process of its own, in a session of its own, with /dev/null on 0 to 2 and only `keep` of our
/// descriptors. It ends with the work. Best done while this process has one thread.
pub(super) fn start(keep: RawFd, work: impl FnOnce()) -> io::Result<i32> {
    // SAFETY: the child uses memory that it got with the fork, and no lock that another thread may have had: glibc keeps its
    // allocator usable over a fork, and of ours none is touched (no standard streams, no environment).
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let settled = settle_in(keep);
            let worked = settled.is_ok() && std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_ok();
            // SAFETY: ends this process without running anything that belongs to the parent.
            unsafe { libc::_exit(i32::from(!worked)) }
        }
        pid => Ok(pid),
    }
}

fn settle_in(keep: RawFd) -> io::Result<()> {
    // SAFETY: no pointers. It cannot be a group's leader: it was just made.
    unsafe { libc::setsid() };
    for signal in NOT_FOR_US {
        // SAFETY: plain numbers; ignoring is a disposition without code of ours.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    // SAFETY: as above. The ssh client, where there is one, is waited for.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    for fd in 0..3 {
        // SAFETY: both are descriptor numbers; what `fd` was is given up on purpose.
        if unsafe { libc::dup2(null.as_raw_fd(), fd) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    let keep = libc::c_uint::try_from(keep).map_err(io::Error::other)?;
    std::mem::forget(null);
    for (first, last) in [(3, keep.saturating_sub(1)), (keep.saturating_add(1), libc::c_uint::MAX)] {
        if first <= last {
            // SAFETY: nothing in this process uses these descriptors any more, and none of their owners is ever dropped
            // here: the process leaves by `_exit`.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
    Ok(())
}

/// Ends a child that does not answer.
pub(super) fn kill(pid: i32) {
    // SAFETY: plain numbers. The child has not been waited for, so the number is still its own.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// Takes the end of a child: at once if it has ended, else waiting for it.
pub(super) fn reap(pid: i32, wait: bool) -> bool {
    let options = if wait { 0 } else { libc::WNOHANG };
    loop {
        // SAFETY: waits for one child of ours; the status is not wanted.
        let answer = unsafe { libc::waitpid(pid, std::ptr::null_mut(), options) };
        if answer >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return answer != 0;
        }
    }
}
