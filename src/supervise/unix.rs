//! The system calls of supervision, each behind a safe function. No decision is made here.
#![allow(unsafe_code, reason = "system calls; each block says why it is sound")]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::clock::Moment;

use super::tree::member;

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

/// Two connected ends that keep packet bounds, closed on exec.
pub(super) fn packet_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors that the call writes.
    check(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr()) })?;
    Ok((own(ends[0])?, own(ends[1])?))
}

pub(super) fn send_packet(fd: BorrowedFd<'_>, packet: &[u8]) -> io::Result<()> {
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
pub(super) fn receive_packet(fd: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
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
pub(super) fn wait_readable(fds: &[BorrowedFd<'_>], limit: Option<Duration>) -> io::Result<Vec<bool>> {
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

/// Becomes readable at a moment of the boot clock, also when the machine slept through it.
#[derive(Debug)]
pub(super) struct Timer(OwnedFd);

impl Timer {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no pointers.
        own(check(unsafe { libc::timerfd_create(libc::CLOCK_BOOTTIME, libc::TFD_CLOEXEC | libc::TFD_NONBLOCK) })?)
            .map(Self)
    }

    /// Arms it, or disarms it with none. A moment that has passed fires at once.
    pub(super) fn set(&self, moment: Option<Moment>) -> io::Result<()> {
        let value = match moment {
            None => libc::timespec { tv_sec: 0, tv_nsec: 0 },
            // A value of zero would disarm.
            Some(Moment(at)) => libc::timespec {
                tv_sec: libc::time_t::try_from(at.as_secs()).unwrap_or(libc::time_t::MAX),
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
    pub(super) fn clear(&self) {
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
pub(super) fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Blocks exactly these signals in this thread.
pub(super) fn set_blocked(bits: u64) {
    let set = sigset(bits);
    // SAFETY: `set` is valid; the old mask is not wanted.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) };
}

/// Does this blocked signal wait for us?
pub(super) fn is_pending(signal: i32) -> bool {
    // SAFETY: an all-zero sigset_t is a valid place for sigpending to write to.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is valid for both calls.
    unsafe { libc::sigpending(&raw mut set) == 0 && libc::sigismember(&raw const set, signal) == 1 }
}

/// Sends a signal to ourselves.
pub(super) fn raise(signal: i32) {
    // SAFETY: no pointers.
    unsafe { libc::raise(signal) };
}

/// One signal that came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Came {
    pub(super) signal: i32,
    /// Sent by the kernel (terminal, alarm) rather than by a process.
    pub(super) by_kernel: bool,
    /// Who sent it, for signals of processes.
    pub(super) sender: i32,
}

/// Signals as something to read.
#[derive(Debug)]
pub(super) struct Signals(OwnedFd);

impl Signals {
    /// Blocks these signals, on top of `blocked`, and reads them from now on.
    pub(super) fn open(bits: u64, blocked: u64) -> io::Result<Self> {
        set_blocked(bits | blocked);
        let set = sigset(bits);
        // SAFETY: `set` is valid; −1 asks for a new descriptor.
        own(check(unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) })?).map(Self)
    }

    /// The next one, if any came.
    pub(super) fn next(&self) -> Option<Came> {
        // SAFETY: an all-zero signalfd_siginfo is valid.
        let mut info: libc::signalfd_siginfo = unsafe { std::mem::zeroed() };
        let size = std::mem::size_of::<libc::signalfd_siginfo>();
        // SAFETY: `info` has room for the `size` bytes asked for.
        let got = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut info).cast(), size) };
        (got == libc::ssize_t::try_from(size).unwrap_or_default()).then(|| Came {
            signal: info.ssi_signo.cast_signed(),
            by_kernel: info.ssi_code == libc::SI_KERNEL,
            sender: info.ssi_pid.cast_signed(),
        })
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Which side of a fork we are on.
pub(super) enum Side {
    Parent(i32),
    Child,
}

/// Forks. Only while this process has one thread: everything is allowed in the child then.
pub(super) fn fork() -> io::Result<Side> {
    // SAFETY: no other thread exists (no runtime, no store is open yet), so no lock can be left taken in the child.
    match check(unsafe { libc::fork() })? {
        0 => Ok(Side::Child),
        pid => Ok(Side::Parent(pid)),
    }
}

/// Leaves without running anything that belongs to the parent (buffers, exit handlers).
pub(super) fn leave(status: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(status) }
}

pub(super) fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

/// Orphans below us become our children instead of init's.
pub(super) fn become_subreaper() -> io::Result<()> {
    // SAFETY: no pointers.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// Leaves the caller's process group, so that the terminal's signals pass us by.
///
/// A group is orphaned, and the terminal then never stops it, when no member has a parent in another group of the same
/// session. As the child's parent we decide that now. Where a shell watches the job the group is not orphaned, nor is one
/// that the child makes for itself, and so we stay in the session. Where none does (`ssh -t host locked …`, `docker run
/// -it`) nobody could continue what Ctrl-Z stops, and so we leave the session too.
pub(super) fn own_group() -> io::Result<()> {
    // SAFETY: no pointers, both.
    let result = unsafe { if is_orphaned() { libc::setsid() } else { libc::setpgid(0, 0) } };
    check(result).map(drop)
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
pub(super) fn parent() -> i32 {
    std::os::unix::process::parent_id().cast_signed()
}

/// An inherited "ignore" for SIGCHLD would make every wait fail.
pub(super) fn default_sigchld() {
    // SAFETY: SIG_DFL is a valid disposition for SIGCHLD.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Descriptors 0 to 2 become /dev/null.
pub(super) fn null_stdio() -> io::Result<()> {
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    for fd in 0..3 {
        // SAFETY: both are descriptor numbers; what `fd` was is given up on purpose.
        check(unsafe { libc::dup2(null.as_raw_fd(), fd) })?;
    }
    Ok(())
}

/// Closes every descriptor above 2 but these, so that the pipes of our caller do not stay open because of us.
pub(super) fn close_all_but(keep: &[RawFd]) {
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

/// A change of our child, taken without reaping it, so that its process id cannot be used again meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changed {
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
pub(super) fn peek_end(pid: i32) -> Option<Changed> {
    wait_id(libc::P_PID, pid, libc::WEXITED | libc::WNOWAIT).map(|(_, changed)| changed)
}

/// The child's next stop or continue, if any.
pub(super) fn next_halt(pid: i32) -> Option<Changed> {
    wait_id(libc::P_PID, pid, libc::WSTOPPED | libc::WCONTINUED).map(|(_, changed)| changed)
}

/// Reaps orphans that became ours, but never `child`.
pub(super) fn reap_orphans(child: i32) {
    while let Some((pid, _)) = wait_id(libc::P_ALL, 0, libc::WEXITED | libc::WNOWAIT) {
        if pid == child {
            return;
        }
        wait_id(libc::P_PID, pid, libc::WEXITED);
    }
}

/// Reaps every child that has ended.
pub(super) fn reap_all() {
    while wait_id(libc::P_ALL, 0, libc::WEXITED).is_some() {}
}

/// Reaps this child if it ends within `limit`.
pub(super) fn reap_within(pid: i32, limit: Duration) -> bool {
    let in_time = Process::open(pid).and_then(|process| wait_readable(&[process.as_fd()], Some(limit)));
    let ended = in_time.is_ok_and(|ready| ready[0]);
    if ended {
        reap(pid);
    }
    ended
}

/// Reaps this child, waiting for its end.
pub(super) fn reap(pid: i32) {
    // SAFETY: waits for one child of ours; the status is not wanted.
    while unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// A process by a handle that its process id's reuse cannot confuse.
#[derive(Debug)]
pub(super) struct Process(OwnedFd);

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Process {
    pub(super) fn open(pid: i32) -> io::Result<Self> {
        // SAFETY: no pointers.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        own(check(libc::c_int::try_from(fd).unwrap_or(-1))?).map(Self)
    }

    pub(super) fn signal(&self, signal: i32) -> io::Result<()> {
        let none = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: a null siginfo asks for the ordinary one.
        let result = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, self.0.as_raw_fd(), signal, none, 0) };
        check(libc::c_int::try_from(result).unwrap_or(-1)).map(drop)
    }
}

/// What the child's side of a fork needs, made before the fork.
pub(super) struct Launch {
    pub(super) program: CString,
    pub(super) argv: Vec<CString>,
    pub(super) fallback: Vec<CString>,
    pub(super) envp: Vec<CString>,
    pub(super) closed: [bool; 3],
    pub(super) ignored: u64,
    pub(super) blocked: u64,
    /// The keeper; none for an exec in place.
    pub(super) keeper: Option<i32>,
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Puts descriptors, dispositions and mask back as they were at entry and becomes the program. Comes back only when
/// that failed, with the errno.
pub(super) fn become_program(launch: &Launch) -> i32 {
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

/// A pipe that is closed on exec.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors that the call writes.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    Ok((own(ends[0])?, own(ends[1])?))
}

/// Stops ourselves as this signal would have, whatever we do with it otherwise. Comes back when we are continued.
pub(super) fn halt_self(signal: i32) {
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
pub(super) fn die_by(signal: i32) {
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
