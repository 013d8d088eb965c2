//! What Linux tells before Rust's runtime runs, and the argument bytes as the kernel shows them.
#![expect(unsafe_code, reason = "libc calls and memory that libc owns; each block says why it is sound")]

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::{SignalSet, descriptor};
use crate::rules::{Stdin, Stdout};

static CLOSED: AtomicU8 = AtomicU8::new(0);
static IGNORED: AtomicU64 = AtomicU64::new(0);
static BLOCKED: AtomicU64 = AtomicU64::new(0);
static ARGC: AtomicUsize = AtomicUsize::new(0);
static ARGV: AtomicPtr<*mut c_char> = AtomicPtr::new(std::ptr::null_mut());

unsafe extern "C" {
    /// POSIX: the environment block, ended by a null pointer.
    static environ: *const *const c_char;
}

/// The dynamic loader (or libc's start code) runs every function of this section before `main`, and so before the
/// runtime opens `/dev/null` over closed descriptors and ignores SIGPIPE. glibc passes argc, argv and envp to it.
#[used]
// SAFETY: the section holds pointers to functions with this signature and nothing else.
#[unsafe(link_section = ".init_array.00098")]
static RECORD: extern "C" fn(c_int, *mut *mut c_char) = record;

/// Only plain system calls and stores into atomics: nothing of Rust's runtime exists yet.
extern "C" fn record(argc: c_int, argv: *mut *mut c_char) {
    CLOSED.store((0..3).filter(|&fd| is_closed(fd)).fold(0, |bits, fd| bits | 1 << fd), Relaxed);
    IGNORED.store((1..=64).filter(|&signal| is_ignored(signal)).fold(0, |bits, n| bits | 1 << (n - 1)), Relaxed);
    BLOCKED.store(blocked(), Relaxed);
    // Other libcs call without arguments; what the parameters hold then is noise.
    if cfg!(target_env = "gnu") {
        ARGC.store(usize::try_from(argc).unwrap_or(0), Relaxed);
        ARGV.store(argv, Relaxed);
    }
}

fn is_closed(descriptor: c_int) -> bool {
    // SAFETY: F_GETFD takes no pointer and changes nothing.
    unsafe { libc::fcntl(descriptor, libc::F_GETFD) == -1 }
}

fn is_ignored(signal: c_int) -> bool {
    // SAFETY: an all-zero sigaction is a valid value of this C struct.
    let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: a null action only asks; `old` outlives the call.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut old) } == 0;
    asked && old.sa_sigaction == libc::SIG_IGN
}

fn blocked() -> u64 {
    // SAFETY: an all-zero sigset_t is a valid value of this C struct.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: a null set only asks; `set` outlives the call.
    unsafe { libc::sigprocmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set) };
    // SAFETY: `set` is initialised; a number that is no signal answers -1.
    (1..=64).filter(|&n| unsafe { libc::sigismember(&raw const set, n) } == 1).fold(0, |bits, n| bits | 1 << (n - 1))
}

/// What the constructor recorded.
pub(super) struct AtStart {
    pub(super) closed: [bool; 3],
    pub(super) ignored: SignalSet,
    pub(super) mask: SignalSet,
}

pub(super) fn at_start() -> AtStart {
    let closed = CLOSED.load(Relaxed);
    AtStart {
        closed: [0, 1, 2].map(|fd| closed >> fd & 1 == 1),
        ignored: SignalSet::from_bits(IGNORED.load(Relaxed)),
        mask: SignalSet::from_bits(BLOCKED.load(Relaxed)),
    }
}

pub(super) fn environment() -> Vec<OsString> {
    let mut entries = Vec::new();
    // SAFETY: nobody in this program changes the environment, so the block and its strings stay as they are; it ends
    // with a null pointer, and a null block is an empty one.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            entries.push(OsStr::from_bytes(CStr::from_ptr(*entry).to_bytes()).to_owned());
            entry = entry.add(1);
        }
    }
    entries
}

pub(super) fn executed() -> Option<PathBuf> {
    // SAFETY: the auxiliary vector lives as long as the process; AT_EXECFN is 0 or the address of a C string in it.
    unsafe {
        let name = std::ptr::with_exposed_provenance::<c_char>(libc::getauxval(libc::AT_EXECFN) as usize);
        (!name.is_null()).then(|| PathBuf::from(OsStr::from_bytes(CStr::from_ptr(name).to_bytes())))
    }
}

/// Where we run, if that is a directory that has been deleted or cannot be named: it still leads there.
pub(super) fn unnamed_directory() -> PathBuf {
    PathBuf::from("/proc/self/cwd")
}

/// Whether an entry's name is this one.
pub(super) fn is_named(name: &[u8], wanted: &[u8]) -> bool {
    name == wanted
}

/// The regular file behind a descriptor.
pub(super) fn regular_file(number: u8) -> Option<Stdout> {
    descriptor::regular_file(number, number == 1 && appends(number.into()))
}

/// What stands at descriptor 0.
pub(super) fn input() -> Option<Stdin> {
    descriptor::input()
}

fn appends(descriptor: c_int) -> bool {
    // SAFETY: F_GETFL takes no pointer and changes nothing.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    flags != -1 && flags & libc::O_APPEND != 0
}

#[cfg(target_env = "gnu")]
pub(super) fn begin() {
    for descriptor in (0..3).filter(|fd| CLOSED.load(Relaxed) >> fd & 1 == 1) {
        // The lowest that is free is the next of them. Without it, a file of ours would stand in its place.
        // SAFETY: the path is a C string.
        let opened = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) };
        if opened != descriptor {
            std::process::abort();
        }
    }
    // SAFETY: to ignore is a valid disposition, and no handler is replaced: none has been set yet.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

pub(super) fn heed_children() {
    // SAFETY: the default is a valid disposition, and no handler is replaced: none has been set yet.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

pub(super) fn wipe_arguments() {
    let (argc, argv) = (ARGC.load(Relaxed), ARGV.load(Relaxed));
    if argv.is_null() {
        wipe_what_the_kernel_shows();
    } else {
        for index in 1..argc {
            // SAFETY: libc gave us argc and argv; each string lies in the process's own writable stack area and is
            // ended by a zero byte. Nobody reads it meanwhile: no thread exists yet.
            unsafe { wipe_string(*argv.add(index)) };
        }
    }
}

pub(super) fn wipe_variable(name: &[u8]) {
    // SAFETY: the block ends with a null pointer, and its strings lie in the process's own writable stack area, each ended
    // by a zero byte. Nobody changes or reads it meanwhile: no other thread exists.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            let bytes = CStr::from_ptr(*entry).to_bytes();
            if bytes.strip_prefix(name).is_some_and(|rest| rest.starts_with(b"=")) {
                wipe_string((*entry).cast_mut());
            }
            entry = entry.add(1);
        }
    }
}

/// # Safety
/// `byte` is null or points to a writable C string that nobody else uses.
unsafe fn wipe_string(mut byte: *mut c_char) {
    // SAFETY: by the contract every byte up to the zero is ours to write.
    unsafe {
        while !byte.is_null() && *byte != 0 {
            byte.write_volatile(0);
            byte = byte.add(1);
        }
    }
}

/// The same without argv: the kernel's own bounds of the argument area.
fn wipe_what_the_kernel_shows() {
    let Some((start, end)) = argument_area() else { return };
    let area: *mut u8 = std::ptr::with_exposed_provenance_mut(start);
    // SAFETY: the kernel says that start..end holds our argument strings, in our own writable stack area; nobody reads
    // it meanwhile: no thread exists yet.
    unsafe {
        let mut at = 0;
        while at < end - start && *area.add(at) != 0 {
            at += 1;
        }
        while at < end - start {
            area.add(at).write_volatile(0);
            at += 1;
        }
    }
}

/// Fields 48 and 49 of `/proc/self/stat` (proc(5)): `arg_start` and `arg_end`.
fn argument_area() -> Option<(usize, usize)> {
    let stat = std::fs::read("/proc/self/stat").ok()?;
    let after_name = stat.iter().rposition(|&byte| byte == b')')? + 2;
    let mut fields = std::str::from_utf8(stat.get(after_name..)?).ok()?.split_ascii_whitespace().skip(48 - 3);
    let start: usize = fields.next()?.parse().ok()?;
    let end: usize = fields.next()?.parse().ok()?;
    (start != 0 && start < end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    /// Not a test by itself: the process that the tests below start.
    #[test]
    fn wiped_process() {
        let Some(way) = std::env::var_os("LOCKED_TEST_WIPE") else { return };
        let mut line = String::new();
        println!("\nstarted");
        std::io::stdin().read_line(&mut line).expect("go");
        if way == "argv" {
            wipe_arguments()
        } else {
            wipe_what_the_kernel_shows()
        }
        println!("\nwiped");
        std::io::stdin().read_line(&mut line).expect("end");
    }

    fn cmdline_before_and_after(way: &str) -> [Vec<u8>; 2] {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "invocation::linux::tests::wiped_process", "--nocapture", "hunter2-secret", "last"])
            .env("LOCKED_TEST_WIPE", way)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("this test starts");
        let mut stdin = child.stdin.take().expect("stdin");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        let seen = ["started", "wiped"].map(|mark| {
            lines.by_ref().find(|line| line.as_ref().is_ok_and(|text| text == mark)).expect(mark).expect(mark);
            let cmdline = std::fs::read(format!("/proc/{}/cmdline", child.id())).expect("cmdline");
            stdin.write_all(b"\n").expect("go on");
            cmdline
        });
        assert!(child.wait().expect("ends").success());
        seen
    }

    #[test]
    fn no_argument_is_shown_after_wiping() {
        for way in ["argv", "kernel"] {
            let [before, after] = cmdline_before_and_after(way);
            assert!(before.windows(7).any(|part| part == b"hunter2"), "{way}: shown before");
            let name = before.iter().position(|&byte| byte == 0).expect("arg0 ends");
            assert_eq!(before[..name], after[..name], "{way}: arg0 stays");
            assert!(after[name..].iter().all(|&byte| byte == 0), "{way}: nothing else is left");
        }
    }
}
