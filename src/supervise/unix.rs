//! The system calls of supervision, each behind a safe function. No decision is made here.
#![allow(unsafe_code, reason = "system calls; each block says why it is sound")]

mod descriptors;
mod exec;
mod processes;
mod signals;

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};

pub(super) use descriptors::*;
pub(super) use exec::*;
pub(super) use processes::*;
pub(super) use signals::*;

/// Own descriptors sit here and above, so that scripts which use 3 to 9 find them as they left them.
const FIRST_OWN_DESCRIPTOR: RawFd = 10;

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn own(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the caller has just received `fd` from the kernel and hands it over.
    let low = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: F_DUPFD_CLOEXEC takes a descriptor and a number; `low` is open.
    let high = check(unsafe { libc::fcntl(low.as_raw_fd(), libc::F_DUPFD_CLOEXEC, FIRST_OWN_DESCRIPTOR) })?;
    // SAFETY: as above; nothing else knows this number.
    Ok(unsafe { OwnedFd::from_raw_fd(high) })
}
