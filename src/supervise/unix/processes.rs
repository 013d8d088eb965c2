//! Processes: fork, groups, the ends and halts of children, and handles that no reuse of a number confuses.
#![allow(unsafe_code, reason = "system calls; each block says why it is sound")]

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::supervise::tree::member;

use super::{check, own, wait_readable};

/// Which side of a fork we are on.
pub(in crate::supervise) enum Side {
    Parent(i32),
    Child,
}

/// Forks. Only while this process has one thread: everything is allowed in the child then.
pub(in crate::supervise) fn fork() -> io::Result<Side> {
    // SAFETY: no other thread exists (no runtime, no store is open yet), so no lock can be left taken in the child.
    match check(unsafe { libc::fork() })? {
        0 => Ok(Side::Child),
        pid => Ok(Side::Parent(pid)),
    }
}

/// Leaves without running anything that belongs to the parent (buffers, exit handlers).
pub(in crate::supervise) fn leave(status: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(status) }
}

pub(in crate::supervise) fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

/// Orphans below us become our children instead of init's.
pub(in crate::supervise) fn become_subreaper() -> io::Result<()> {
    // SAFETY: no pointers.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// Leaves the caller's process group, so that the terminal's signals pass us by.
///
/// A group is orphaned, and the terminal then never stops it, when no member has a parent in another group of the same
/// session. As the child's parent we decide that now. Where a shell watches the job the group is not orphaned, nor is one
/// that the child makes for itself, and so we stay in the session. Where none does (`ssh -t host locked …`, `docker run
/// -it`) nobody could continue what Ctrl-Z stops, and so we leave the session too.
pub(in crate::supervise) fn own_group() -> io::Result<()> {
    // SAFETY: no pointers, both.
    let result = unsafe { if is_orphaned() { libc::setsid() } else { libc::setpgid(0, 0) } };
    check(result).map(drop)
}

/// Leaves the caller's session and with it its terminal: what a person does there, and its hang-up, is nothing to us.
pub(in crate::supervise) fn own_session() -> io::Result<()> {
    // SAFETY: no pointers.
    check(unsafe { libc::setsid() }).map(drop)
}

/// Does nobody of this session, outside of our group, watch over our group? Looks at the line of our ancestors.
fn is_orphaned() -> bool {
    // SAFETY: no pointers, both; a process that is gone has no session, and is nobody who watches.
    let (session, group) = (|pid| unsafe { libc::getsid(pid) }, |pid| unsafe { libc::getpgid(pid) });
    let mut at = parent();
    // Bounded: a line of parents that changes while we climb must not hold us.
    for _ in 0..256 {
        match member(at).map(|member| member.parent) {
            Some(above) if above > 0 && session(above) == session(0) => at = above,
            _ => return true,
        }
        if group(at) != group(0) {
            return false;
        }
    }
    true
}

/// The process that started this one, as it is now.
pub(in crate::supervise) fn parent() -> i32 {
    std::os::unix::process::parent_id().cast_signed()
}

/// A change of our child, taken without reaping it, so that its process id cannot be used again meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::supervise) enum Changed {
    Exited(i32),
    Signaled(i32),
    Halted(i32),
    Continued,
}

fn wait_id(kind: libc::idtype_t, pid: i32, options: i32) -> Option<(i32, Changed)> {
    // SAFETY: an all-zero siginfo_t is valid, and stays so when nothing has changed.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: `info` is valid; WNOHANG is in every caller's options.
    let result = unsafe { libc::waitid(kind, pid.cast_unsigned(), &raw mut info, options | libc::WNOHANG) };
    // SAFETY: the fields are those of a SIGCHLD, which is what waitid fills in.
    let (who, status) = unsafe { (info.si_pid(), info.si_status()) };
    if result != 0 || who == 0 {
        return None;
    }
    let changed = match info.si_code {
        libc::CLD_EXITED => Changed::Exited(status),
        libc::CLD_KILLED | libc::CLD_DUMPED => Changed::Signaled(status),
        libc::CLD_STOPPED | libc::CLD_TRAPPED => Changed::Halted(status),
        _ => Changed::Continued,
    };
    Some((who, changed))
}

/// How the child ended, if it did; it stays a zombie.
pub(in crate::supervise) fn peek_end(pid: i32) -> Option<Changed> {
    wait_id(libc::P_PID, pid, libc::WEXITED | libc::WNOWAIT).map(|(_, changed)| changed)
}

/// The child's next stop or continue, if any.
pub(in crate::supervise) fn next_halt(pid: i32) -> Option<Changed> {
    wait_id(libc::P_PID, pid, libc::WSTOPPED | libc::WCONTINUED).map(|(_, changed)| changed)
}

/// Takes the news away that the child was continued; a stop since then stays to be seen.
pub(in crate::supervise) fn forget_continue(pid: i32) {
    while wait_id(libc::P_PID, pid, libc::WCONTINUED).is_some() {}
}

/// Reaps orphans that became ours, but never `child`.
pub(in crate::supervise) fn reap_orphans(child: i32) {
    while let Some((pid, _)) = wait_id(libc::P_ALL, 0, libc::WEXITED | libc::WNOWAIT) {
        if pid == child {
            return;
        }
        wait_id(libc::P_PID, pid, libc::WEXITED);
    }
}

/// Reaps every child that has ended.
pub(in crate::supervise) fn reap_all() {
    while wait_id(libc::P_ALL, 0, libc::WEXITED).is_some() {}
}

/// Reaps this child if it ends within `limit`.
pub(in crate::supervise) fn reap_within(pid: i32, limit: Duration) -> bool {
    let in_time = Process::open(pid).and_then(|process| wait_readable(&[process.as_fd()], Some(limit)));
    let ended = in_time.is_ok_and(|ready| ready[0]);
    if ended {
        reap(pid);
    }
    ended
}

/// Reaps this child, waiting for its end.
pub(in crate::supervise) fn reap(pid: i32) {
    // SAFETY: waits for one child of ours; the status is not wanted.
    while unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Kills a process group that a child of ours leads, which has not been reaped: its number is nobody else's.
pub(in crate::supervise) fn kill_group(leader: i32) {
    // SAFETY: no pointers. An error says that it ended at this very moment.
    unsafe { libc::kill(-leader, libc::SIGKILL) };
}

/// A process by a handle that its process id's reuse cannot confuse.
#[derive(Debug)]
pub(in crate::supervise) struct Process(OwnedFd);

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Process {
    pub(in crate::supervise) fn open(pid: i32) -> io::Result<Self> {
        // SAFETY: no pointers.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        own(check(libc::c_int::try_from(fd).unwrap_or(-1))?).map(Self)
    }

    pub(in crate::supervise) fn signal(&self, signal: i32) -> io::Result<()> {
        let none = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: a null siginfo asks for the ordinary one.
        let result = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, self.0.as_raw_fd(), signal, none, 0) };
        check(libc::c_int::try_from(result).unwrap_or(-1)).map(drop)
    }
}
