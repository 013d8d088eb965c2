//! Signals: masks, signals as something to read, and stopping or dying by one ourselves.
#![allow(unsafe_code, reason = "system calls; each block says why it is sound")]

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use super::{check, own};

/// A set of signals as a bit mask: bit n−1 is signal n.
fn sigset(bits: u64) -> libc::sigset_t {
    // SAFETY: an all-zero sigset_t is a valid place for sigemptyset to write to.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is valid; sigaddset refuses numbers that glibc keeps for itself, which is as it should be.
    unsafe {
        libc::sigemptyset(&raw mut set);
        for signal in 1..=64 {
            if bits & (1 << (signal - 1)) != 0 {
                libc::sigaddset(&raw mut set, signal);
            }
        }
    }
    set
}

/// The bit of one signal.
#[must_use]
pub(in crate::supervise) fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Blocks exactly these signals in this thread.
pub(in crate::supervise) fn set_blocked(bits: u64) {
    let set = sigset(bits);
    // SAFETY: `set` is valid; the old mask is not wanted.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) };
}

/// Does this blocked signal wait for us?
pub(in crate::supervise) fn is_pending(signal: i32) -> bool {
    // SAFETY: an all-zero sigset_t is a valid place for sigpending to write to.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is valid for both calls.
    unsafe { libc::sigpending(&raw mut set) == 0 && libc::sigismember(&raw const set, signal) == 1 }
}

/// Sends a signal to ourselves.
pub(in crate::supervise) fn raise(signal: i32) {
    // SAFETY: no pointers.
    unsafe { libc::raise(signal) };
}

/// One signal that came.
#[derive(Debug, Clone, Copy)]
pub(in crate::supervise) struct Came {
    pub(in crate::supervise) signal: i32,
    /// Sent by the kernel (terminal, alarm) rather than by a process.
    pub(in crate::supervise) by_kernel: bool,
    /// Sent because a descriptor has something to say ([`super::Rouser`]).
    pub(in crate::supervise) by_descriptor: bool,
    /// Who sent it, for signals of processes.
    pub(in crate::supervise) sender: i32,
}

/// Signals as something to read.
#[derive(Debug)]
pub(in crate::supervise) struct Signals(OwnedFd);

impl Signals {
    /// Blocks these signals, on top of `blocked`, and reads them from now on.
    pub(in crate::supervise) fn open(bits: u64, blocked: u64) -> io::Result<Self> {
        set_blocked(bits | blocked);
        let set = sigset(bits);
        // SAFETY: `set` is valid; −1 asks for a new descriptor.
        own(check(unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) })?).map(Self)
    }

    /// The next one, if any came.
    pub(in crate::supervise) fn next(&self) -> Option<Came> {
        // SAFETY: an all-zero signalfd_siginfo is valid.
        let mut info: libc::signalfd_siginfo = unsafe { std::mem::zeroed() };
        let size = std::mem::size_of::<libc::signalfd_siginfo>();
        // SAFETY: `info` has room for the `size` bytes asked for.
        let got = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut info).cast(), size) };
        (got == libc::ssize_t::try_from(size).unwrap_or_default()).then(|| Came {
            signal: info.ssi_signo.cast_signed(),
            by_kernel: info.ssi_code == libc::SI_KERNEL,
            // POLL_IN, which is 1, to POLL_HUP, which is 6.
            by_descriptor: (1..=6).contains(&info.ssi_code),
            sender: info.ssi_pid.cast_signed(),
        })
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// An inherited "ignore" for SIGCHLD would make every wait fail.
pub(in crate::supervise) fn default_sigchld() {
    // SAFETY: SIG_DFL is a valid disposition for SIGCHLD.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Stops ourselves as this signal would have, whatever we do with it otherwise. Comes back when we are continued.
pub(in crate::supervise) fn halt_self(signal: i32) {
    let signal = if [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&signal) { signal } else { libc::SIGSTOP };
    let set = sigset(bit(signal));
    // SAFETY: an all-zero sigset_t is a valid place for the old mask.
    let mut mask: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: plain calls with valid arguments (SIGSTOP has no disposition, which is an error of no matter).
    unsafe {
        let disposition = libc::signal(signal, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, &raw mut mask);
        libc::raise(signal);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut());
        libc::signal(signal, disposition);
    }
}

/// Dies by this signal, as the program did, without a second core dump. Comes back only when the signal does not kill.
pub(in crate::supervise) fn die_by(signal: i32) {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain calls with valid arguments; the last raise ends the process.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        libc::signal(signal, libc::SIG_DFL);
    }
    set_blocked(!bit(signal));
    // SAFETY: as above.
    unsafe { libc::raise(signal) };
}
