//! `invocation`: how we were started, taken once at the door. The only reader of argv, environment and working
//! directory; everything is bytes, nothing is turned into text.
//!
//! What is changed at our start (closed descriptors become `/dev/null`, SIGPIPE becomes ignored) is recorded by a
//! constructor that runs earlier, so that a child can be given what the caller gave us.
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
mod descriptor;
#[cfg(target_os = "linux")]
mod linux;
mod signals;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(windows)]
use windows as platform;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

pub use signals::SignalSet;

use crate::platform::OsStrExt as _;
use crate::rules::{Stdin, Stdout};

/// How we were started. Its `Debug` output counts arguments and variables and shows none: both may carry secrets.
#[derive(Clone)]
pub struct Invocation {
    /// The name we were called by, as the caller gave it; empty if there was none.
    pub arg0: OsString,
    /// The arguments after it, byte for byte.
    pub args: Vec<OsString>,
    /// The file that the kernel was asked to execute (`AT_EXECFN`): a shim's path even when `arg0` was forged.
    pub executed: Option<PathBuf>,
    /// The environment block, entry by entry in its order, `NAME=VALUE`; duplicates and entries without `=` included.
    pub env: Vec<OsString>,
    /// Where we run; absolute. A directory that has been deleted or cannot be named is `/proc/self/cwd`, which still
    /// leads there.
    pub cwd: PathBuf,
    /// Which of the descriptors 0, 1 and 2 were closed at entry.
    pub closed: [bool; 3],
    /// The signals that were ignored at entry, SIGPIPE included. (glibc keeps 32 and 33 to itself; they are not seen.)
    pub ignored: SignalSet,
    /// The signals that were blocked at entry.
    pub mask: SignalSet,
}

impl Invocation {
    /// Copies everything. To be called first in `main`, before any thread and before [`wipe_arguments`].
    #[must_use]
    pub fn capture() -> Self {
        let mut args = std::env::args_os();
        let start = platform::at_start();
        Self {
            arg0: args.next().unwrap_or_default(),
            args: args.collect(),
            executed: platform::executed(),
            env: platform::environment(),
            cwd: std::env::current_dir().unwrap_or_else(|_| platform::unnamed_directory()),
            closed: start.closed,
            ignored: start.ignored,
            mask: start.mask,
        }
    }

    /// The last part of [`Self::arg0`]: `sops` when a shim of that name was called.
    #[must_use]
    pub fn called_as(&self) -> &OsStr {
        Path::new(&self.arg0).file_name().unwrap_or_default()
    }

    /// The value of a variable: of several entries with that name the first, as `getenv` does.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<OsString> {
        self.env.iter().find_map(|entry| {
            let (named, value) = entry.as_bytes().split_at_checked(name.len())?;
            let value = value.strip_prefix(b"=").filter(|_| platform::is_named(named, name.as_bytes()))?;
            Some(OsStr::from_bytes(value).to_owned())
        })
    }

    /// The regular file behind descriptor 1, if it is one that can still be reached by a path: not a pipe, terminal or
    /// device, and not deleted. Looked up when asked, since most commands never need it.
    #[must_use]
    pub fn stdout(&self) -> Option<Stdout> {
        if self.closed[1] { None } else { platform::regular_file(1) }
    }

    /// The regular file behind descriptor 0, or that it is a pipe. A file without a name (a shell's here-document) has the one by
    /// which the system leads to it. Nothing is read.
    #[must_use]
    pub fn stdin(&self) -> Option<Stdin> {
        if self.closed[0] { None } else { platform::input() }
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation")
            .field("arg0", &self.arg0)
            .field("args", &format_args!("[{} not shown]", self.args.len()))
            .field("env", &format_args!("[{} not shown]", self.env.len()))
            .field("cwd", &self.cwd)
            .field("closed", &self.closed)
            .field("ignored", &self.ignored)
            .field("mask", &self.mask)
            .finish_non_exhaustive()
    }
}

/// Overwrites the bytes of our own arguments (but for the name we were called by) with zeros, so that
/// `/proc/PID/cmdline` and `ps` do not show them while we wait. To be called after [`Invocation::capture`] and before
/// any thread exists; afterwards [`std::env::args_os`] gives empty arguments.
pub fn wipe_arguments() {
    platform::wipe_arguments();
}

/// Whether descriptor 1 was closed at entry. What is written to it since then goes nowhere without an error.
#[must_use]
pub fn stdout_was_closed() -> bool {
    platform::at_start().closed[1]
}

/// Overwrites a variable in the environment that the kernel shows of this process, name and value: whoever looks for the
/// processes that carry it does not take us for one. What was captured stays. Only while no other thread exists.
pub fn wipe_variable(name: &str) {
    platform::wipe_variable(name.as_bytes());
}

/// What Rust's own start does before `main` and every program of it counts on, where ours is not started by it: a closed
/// descriptor 0, 1 or 2 becomes `/dev/null`, so that no file of ours is taken for it, and a write into a pipe that nobody
/// reads is an error instead of an end. To be called first.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn begin() {
    platform::begin();
}

/// Lets this process wait for its children also where the caller ignores the end of theirs, which is inherited and
/// would lose every status. The program gets the caller's way back. To be called after [`Invocation::capture`].
pub fn heed_children() {
    platform::heed_children();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_env(entries: &[&str]) -> Invocation {
        Invocation { env: entries.iter().map(OsString::from).collect(), ..Invocation::capture() }
    }

    #[test]
    fn of_several_entries_the_first_counts() {
        let invocation = with_env(&["PATHS=no", "NOTHING", "PATH=a=b", "PATH=c"]);
        assert_eq!(invocation.var("PATH"), Some("a=b".into()));
        assert_eq!(invocation.var("NOTHING"), None);
        assert_eq!(invocation.var("PAT"), None);
    }

    #[test]
    fn debug_shows_no_argument_and_no_variable() {
        let mut invocation = with_env(&["SECRET=hunter2"]);
        invocation.args = vec!["hunter2".into()];
        assert!(!format!("{invocation:?}").contains("hunter2"));
    }

    #[test]
    fn a_shim_is_known_by_the_last_part_of_its_name() {
        for (arg0, name) in [("sops", "sops"), ("/a/b/sops", "sops"), ("./sops", "sops"), ("", "")] {
            let invocation = Invocation { arg0: arg0.into(), ..Invocation::capture() };
            assert_eq!(invocation.called_as(), name, "{arg0}");
        }
    }
}
