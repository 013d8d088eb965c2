//! Exec: what must be as it was at entry when the program takes over.
#![allow(unsafe_code, reason = "system calls; each block says why it is sound")]

use std::ffi::CString;
use std::io;

use super::{bit, set_blocked};

/// What the child's side of a fork needs, made before the fork.
pub(in crate::supervise) struct Launch {
    pub(in crate::supervise) program: CString,
    pub(in crate::supervise) argv: Vec<CString>,
    pub(in crate::supervise) fallback: Vec<CString>,
    pub(in crate::supervise) envp: Vec<CString>,
    pub(in crate::supervise) closed: [bool; 3],
    pub(in crate::supervise) ignored: u64,
    pub(in crate::supervise) blocked: u64,
    /// The keeper; none for an exec in place.
    pub(in crate::supervise) keeper: Option<i32>,
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Puts descriptors, dispositions and mask back as they were at entry and becomes the program. Comes back only when
/// that failed, with the errno.
pub(in crate::supervise) fn become_program(launch: &Launch) -> i32 {
    if let Some(keeper) = launch.keeper {
        // SAFETY: no pointers. The child is killed when the keeper dies, and not started when it is dead already.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
            if libc::getppid() != keeper {
                libc::_exit(127);
            }
        }
    }
    let (argv, envp) = (pointers(&launch.argv), pointers(&launch.envp));
    let fallback = pointers(&launch.fallback);
    for signal in [libc::SIGPIPE, libc::SIGCHLD] {
        let how = if launch.ignored & bit(signal) != 0 { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: both are valid dispositions; these two are all that our runtime and we have touched.
        unsafe { libc::signal(signal, how) };
    }
    for (fd, closed) in (0..).zip(launch.closed) {
        if closed {
            // SAFETY: our runtime opened this one on /dev/null because it was closed at entry.
            unsafe { libc::close(fd) };
        }
    }
    set_blocked(launch.blocked);
    // SAFETY: all three are null-terminated arrays of null-terminated strings that live until exec.
    unsafe { libc::execve(launch.program.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
    let mut errno = last_errno();
    if errno == libc::ENOEXEC {
        // A script without `#!` runs as from a shell.
        // SAFETY: as above.
        unsafe { libc::execve(launch.fallback[0].as_ptr(), fallback.as_ptr(), envp.as_ptr()) };
        errno = last_errno();
    }
    errno
}

fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or_default()
}
