//! A process that is none of ours, watched for its end.
#![allow(unsafe_code, reason = "calls of the system; each block says why it is sound")]

use std::io;
use std::time::Duration;

use windows_sys::Win32::System::Threading::{OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE};

use crate::platform::{self, Handle};

use super::job::has_ended_within;

/// The process.
#[derive(Debug)]
pub(in crate::supervise) struct Another(Handle);

impl Another {
    /// The process of this number that was made then.
    pub(in crate::supervise) fn open(pid: u32, created: u64) -> io::Result<Self> {
        let rights = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE;
        // SAFETY: the call takes no pointer, and its answer is nobody else's.
        let process = unsafe { Handle::own(OpenProcess(rights, 0, pid)) }?;
        // Order: looked at when we have a handle on it. A number that was used again meanwhile is another process.
        match platform::processes().iter().flatten().any(|it| it.pid == pid && it.created == created) {
            true => Ok(Self(process)),
            false => Err(io::Error::other("the process that it was to be kept for has ended")),
        }
    }

    /// Whether it has ended, or ends within this time.
    pub(in crate::supervise) fn has_ended_within(&self, limit: Duration) -> bool {
        has_ended_within(&self.0, limit)
    }
}
