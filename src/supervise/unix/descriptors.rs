//! Descriptors: packets, pipes, a timer, and waiting for any of them.
#![allow(unsafe_code, reason = "system calls; each block says why it is sound")]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::clock::Moment;

use super::{check, own};

/// Two connected ends that keep packet bounds, closed on exec.
pub(in crate::supervise) fn packet_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors that the call writes.
    check(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr()) })?;
    Ok((own(ends[0])?, own(ends[1])?))
}

/// Continues this process when something can be read from the descriptor, or its other end is closed: a process that is stopped
/// reads nothing, and hears of no end by itself. Until it is dropped.
pub(in crate::supervise) struct Rouser<'a>(BorrowedFd<'a>, libc::c_int);

impl<'a> Rouser<'a> {
    pub(in crate::supervise) fn over(fd: BorrowedFd<'a>) -> io::Result<Self> {
        let raw = fd.as_raw_fd();
        // SAFETY: plain calls on a descriptor that is open for as long as the borrow.
        let flags = unsafe {
            check(libc::fcntl(raw, libc::F_SETOWN, libc::getpid()))?;
            check(libc::fcntl(raw, F_SETSIG, libc::SIGCONT))?;
            check(libc::fcntl(raw, libc::F_GETFL))?
        };
        // SAFETY: the same.
        check(unsafe { libc::fcntl(raw, libc::F_SETFL, flags | libc::O_ASYNC) })?;
        Ok(Self(fd, flags))
    }
}

impl Drop for Rouser<'_> {
    fn drop(&mut self) {
        // SAFETY: a plain call on a descriptor that is open for as long as the borrow.
        let _it_is_as_it_was = unsafe { libc::fcntl(self.0.as_raw_fd(), libc::F_SETFL, self.1) };
    }
}

/// Linux's number of it, which the bindings do not have everywhere.
const F_SETSIG: libc::c_int = 10;

/// Whether the other end is closed, whatever is to be read before that.
pub(in crate::supervise) fn is_hung_up(fd: BorrowedFd<'_>) -> bool {
    let mut ends = libc::pollfd { fd: fd.as_raw_fd(), events: 0, revents: 0 };
    // SAFETY: one entry, as the count says.
    let ready = unsafe { libc::poll(&raw mut ends, 1, 0) };
    ready > 0 && ends.revents & libc::POLLHUP != 0
}

pub(in crate::supervise) fn send_packet(fd: BorrowedFd<'_>, packet: &[u8]) -> io::Result<()> {
    // A dead listener is an error, not a SIGPIPE, and one that does not listen holds nobody up.
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    loop {
        // SAFETY: pointer and length are those of `packet`.
        let sent = unsafe { libc::send(fd.as_raw_fd(), packet.as_ptr().cast(), packet.len(), flags) };
        if sent >= 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// One packet; empty at end of file (no packet of ours is empty).
pub(in crate::supervise) fn receive_packet(fd: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        // SAFETY: pointer and length are those of `buffer`. MSG_TRUNC: the true length comes back.
        let got = unsafe { libc::recv(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_TRUNC) };
        if got < 0 {
            let error = io::Error::last_os_error();
            match error.kind() {
                io::ErrorKind::Interrupted => continue,
                io::ErrorKind::ConnectionReset => return Ok(Vec::new()),
                _ => return Err(error),
            }
        }
        let got = usize::try_from(got).unwrap_or_default();
        if got > buffer.len() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a packet longer than any of ours"));
        }
        buffer.truncate(got);
        return Ok(buffer);
    }
}

/// Which of these can be read (or are at their end); all false when `limit` passed first.
pub(in crate::supervise) fn wait_readable(fds: &[BorrowedFd<'_>], limit: Option<Duration>) -> io::Result<Vec<bool>> {
    let mut polls: Vec<_> =
        fds.iter().map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 }).collect();
    let timeout = limit.map_or(-1, |limit| i32::try_from(limit.as_millis()).unwrap_or(i32::MAX));
    let count = libc::nfds_t::try_from(polls.len()).unwrap_or_default();
    // SAFETY: pointer and count are those of `polls`.
    match check(unsafe { libc::poll(polls.as_mut_ptr(), count, timeout) }) {
        Ok(_) => Ok(polls.iter().map(|poll| poll.revents != 0).collect()),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(vec![false; fds.len()]),
        Err(error) => Err(error),
    }
}

/// A pipe that is closed on exec.
pub(in crate::supervise) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors that the call writes.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    Ok((own(ends[0])?, own(ends[1])?))
}

/// Becomes readable at a moment of the boot clock, also when the machine slept through it.
#[derive(Debug)]
pub(in crate::supervise) struct Timer(OwnedFd);

impl Timer {
    pub(in crate::supervise) fn new() -> io::Result<Self> {
        // SAFETY: no pointers.
        own(check(unsafe { libc::timerfd_create(libc::CLOCK_BOOTTIME, libc::TFD_CLOEXEC | libc::TFD_NONBLOCK) })?)
            .map(Self)
    }

    /// Arms it, or disarms it with none. A moment that has passed fires at once.
    pub(in crate::supervise) fn set(&self, moment: Option<Moment>) -> io::Result<()> {
        let value = match moment {
            None => libc::timespec { tv_sec: 0, tv_nsec: 0 },
            // A value of zero would disarm.
            Some(Moment(at)) => libc::timespec {
                // Far enough, and in range wherever the type is narrow; its name is another one on every C library.
                tv_sec: at.as_secs().try_into().unwrap_or(i32::MAX.into()),
                tv_nsec: libc::c_long::from(at.subsec_nanos().max(1).cast_signed()),
            },
        };
        let spec = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        // SAFETY: `spec` lives over the call; the old value is not wanted.
        check(unsafe {
            libc::timerfd_settime(self.0.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &raw const spec, std::ptr::null_mut())
        })?;
        Ok(())
    }

    /// Takes the notice away, so that it does not stay readable.
    pub(in crate::supervise) fn clear(&self) {
        let mut count = [0u8; 8];
        // SAFETY: eight bytes are what a timerfd gives. Non-blocking: nothing to read is fine.
        let _ = unsafe { libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Becomes readable when one of some files is touched: its rights or times are set, it is removed, or another is put in its
/// place (inotify(7)).
#[derive(Debug)]
pub(in crate::supervise) struct Notice(OwnedFd);

impl Notice {
    /// Watches the files that are at these paths now.
    pub(in crate::supervise) fn of(paths: &[PathBuf]) -> io::Result<Self> {
        // SAFETY: no pointers.
        let notice = own(check(unsafe { libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK) })?)?;
        for path in paths {
            let path = CString::new(path.as_os_str().as_bytes())?;
            let mask = libc::IN_ATTRIB | libc::IN_DELETE_SELF | libc::IN_MOVE_SELF;
            // SAFETY: `path` ends with a zero byte and lives over the call.
            check(unsafe { libc::inotify_add_watch(notice.as_raw_fd(), path.as_ptr(), mask) })?;
        }
        Ok(Self(notice))
    }

    /// Takes what was told away, so that it does not stay readable.
    pub(in crate::supervise) fn clear(&self) {
        let mut told = [0u8; 4096];
        // SAFETY: pointer and length are those of `told`. Non-blocking: nothing to read is fine.
        while unsafe { libc::read(self.0.as_raw_fd(), told.as_mut_ptr().cast(), told.len()) } > 0 {}
    }
}

impl AsFd for Notice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Descriptors 0 to 2 become /dev/null.
pub(in crate::supervise) fn null_stdio() -> io::Result<()> {
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    for fd in 0..3 {
        // SAFETY: both are descriptor numbers; what `fd` was is given up on purpose.
        check(unsafe { libc::dup2(null.as_raw_fd(), fd) })?;
    }
    Ok(())
}

/// Closes every descriptor above 2 but these, so that the pipes of our caller do not stay open because of us.
pub(in crate::supervise) fn close_all_but(keep: &[RawFd]) {
    let mut keep: Vec<libc::c_uint> =
        keep.iter().filter_map(|&fd| u32::try_from(fd).ok()).filter(|&fd| fd > 2).collect();
    keep.sort_unstable();
    let mut from: libc::c_uint = 3;
    for fd in keep.into_iter().chain([libc::c_uint::MAX]) {
        if from < fd {
            // SAFETY: nothing in this process uses these descriptors any more: the keeper's own are all in `keep`.
            unsafe { libc::syscall(libc::SYS_close_range, from, fd - 1, 0) };
        }
        from = fd.saturating_add(1);
    }
}
