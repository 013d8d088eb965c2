//! Linux: inotify(7).
#![forbid(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use rustix::fs::{AtFlags, CWD, Timestamps, UTIME_NOW, utimensat};

/// A watch over the times of a file.
pub(super) struct Watch(OwnedFd);

impl Watch {
    /// Whether there are such watches.
    pub(super) const IS_THERE: bool = true;

    pub(super) fn on(path: &Path) -> io::Result<Self> {
        let watch = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        add_watch(&watch, path, WatchFlags::ATTRIB)?;
        Ok(Self(watch))
    }

    /// Until they are set, for at most so long.
    pub(super) fn wait(&self, span: Duration) {
        let seconds = i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
        let limit = Timespec { tv_sec: seconds, tv_nsec: span.subsec_nanos().into() };
        // A signal only ends it early.
        let _set_or_not = poll(&mut [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)], Some(&limit));
        let mut told = [const { MaybeUninit::uninit() }; 4096];
        while rustix::io::read(&self.0, &mut told).is_ok_and(|(told, _)| !told.is_empty()) {}
    }
}

/// Sets its times, if it is there.
pub(super) fn touch(path: &Path) -> io::Result<()> {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    Ok(utimensat(CWD, path, &Timestamps { last_access: now, last_modification: now }, AtFlags::empty())?)
}
