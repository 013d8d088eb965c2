//! `supervise`: runs the child while the lease lives, and stops it before anyone else may be let in.
//!
//! Three processes. The *wrapper* is what the caller started: it keeps the caller's process id, stays in the caller's
//! process group and terminal, forwards signals and takes the exit status out. The *keeper* is its fork, made before
//! anything is asked of a store: it is the child's parent and subreaper, renews, watches the deadline, and settles when
//! the wrapper is gone. The *child* is the program, in the wrapper's process group, session and terminal.
//!
//! (On Windows wrapper and keeper are one process, and a job object stands for the keeper's watch over the child: see its
//! platform files.)
//!
//! Wrapper and keeper watch each other through one socket: its end of file means that the other is dead. Both hold the
//! kernel lock of the live file (one open file description), so it falls when both are gone; the child dies with the
//! keeper by its parent-death signal. This room knows no store and no canary: what renewing and finishing mean is the
//! [`Duty`] that the caller hands in.
// `deny`, not `forbid`: the platform file below is made of system calls.
#![deny(unsafe_code)]

mod alone;
mod cause;
#[cfg(unix)]
mod child;
#[cfg_attr(windows, allow(dead_code, reason = "jobs are stopped, and kept without a command, on Unix alone"))]
mod course;
#[cfg(unix)]
mod editor;
#[cfg(unix)]
mod foreground;
#[cfg(unix)]
mod hire;
#[cfg(unix)]
mod keeper;
#[cfg(unix)]
mod link;
#[cfg(unix)]
mod standing;
#[cfg(unix)]
mod tree;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod vigil;
#[cfg(windows)]
mod windows;
#[cfg(unix)]
mod wrapper;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Moment;
use crate::exit::Exit;
use crate::terms::Times;

pub use alone::{Alone, Keeping, LetGo, Place, hire_alone};
#[cfg(unix)]
pub use child::{not_started, replace, shell_fallback};
#[cfg(unix)]
pub use hire::hire;
#[cfg(unix)]
pub use vigil::Vigil;
#[cfg(windows)]
pub use windows::{
    Maker, Successor, Vigil, Wrapper, hire, leave_directory, maker, not_started, replace, shell_fallback,
};
#[cfg(unix)]
pub use wrapper::Wrapper;

/// What to run, as bytes from door to door.
#[derive(Debug, Clone)]
pub struct Order {
    /// The file to execute: the path as found, not its realpath.
    pub program: PathBuf,
    /// `argv[0]` as the caller wrote it.
    pub arg0: OsString,
    /// The arguments.
    pub args: Vec<OsString>,
    /// The environment as `K=V` entries in their order.
    pub env: Vec<OsString>,
    /// How descriptors and signals were when we started.
    pub entry: Entry,
}

/// How descriptors and signals were before our runtime started; the child gets them back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry {
    /// Which of the descriptors 0 to 2 were closed.
    pub closed: [bool; 3],
    /// Bit n−1 set: signal n was ignored.
    pub ignored: u64,
    /// Bit n−1 set: signal n was blocked.
    pub blocked: u64,
}

/// How the child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub enum Outcome {
    /// It exited with this status.
    Exited(i32),
    /// It died by this signal.
    Signaled(i32),
    /// It could not be executed: the errno.
    NeverStarted(i32),
    /// We stopped its whole tree.
    Stopped(Cause),
    /// We stopped its tree, but for this process, which is alive and cannot be killed (it became another user).
    Stuck {
        /// Why it was to be stopped.
        cause: Cause,
        /// The first of those that live on.
        pid: i32,
    },
}

impl Outcome {
    /// What stopping a tree came to.
    pub(crate) fn stopped(cause: Cause, stubborn: &[i32]) -> Self {
        stubborn.first().map_or(Self::Stopped(cause), |&pid| Self::Stuck { cause, pid })
    }

    /// Why we stopped it, if we did.
    #[must_use]
    pub fn cause(self) -> Option<Cause> {
        match self {
            Self::Stopped(cause) | Self::Stuck { cause, .. } => Some(cause),
            Self::Exited(_) | Self::Signaled(_) | Self::NeverStarted(_) => None,
        }
    }
}

/// What has become of the lease while the command ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    /// It is held for as long as the command runs.
    Held,
    /// It was to be given back, and the store could not be told yet.
    Due,
    /// It was given back while the command ran on.
    Given,
}

impl Hold {
    /// The command runs on without it: nothing stops it for the lease's sake.
    #[must_use]
    pub fn is_over(self) -> bool {
        self != Self::Held
    }
}

/// How a run came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ran {
    /// How the command ended.
    pub outcome: Outcome,
    /// What has become of the lease by then.
    pub hold: Hold,
}

/// Why a tree was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The renew deadline passed without a successful renew.
    Deadline,
    /// The store says that the lease is not ours any more.
    Gone,
    /// The lease is marked for stealing.
    Revoked,
    /// The job was stopped (Ctrl-Z) for longer than a lease may be kept for it.
    StoppedJob,
    /// The wrapper died.
    WrapperDied,
    /// The keeper died.
    KeeperDied,
    /// sops started its editor again and again, and nobody was there to see it. The lease was ours all the time.
    EditorLoop,
    /// The issue that the work belongs to was closed while the job was stopped. The lease was ours all the time.
    IssueClosed,
    /// When the job was to go on, nobody could say whether its issue is open. The lease was ours all the time.
    IssueUnknown,
    /// The program died by this signal, and what it had left was stopped. The lease was ours all the time.
    Killed(i32),
}

impl Cause {
    /// Was the lease lost, or what guards it? (Else we stopped the program for its own sake.)
    #[must_use]
    pub fn is_loss(self) -> bool {
        !matches!(self, Self::EditorLoop | Self::IssueClosed | Self::IssueUnknown | Self::Killed(_))
    }
}

/// What one renew came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Beat {
    /// Ours for this long, counted from when the renew was sent.
    Renewed(Duration),
    /// Not ours, or not for long.
    Lost(Cause),
    /// No answer.
    Unknown,
}

/// What the keeper does for the lease. Lives in the keeper's process.
pub trait Duty {
    /// The wrapper died before it said "go": nothing runs, take the request back.
    fn abandon(&mut self);
    /// The wrapper says "go" with these words of its own.
    ///
    /// # Errors
    /// The words cannot be read: nothing is spawned.
    fn begin(&mut self, words: &str) -> Result<Begin, String>;
    /// Closes what it has opened so far; every descriptor of the keeper that is not its own is closed next.
    fn hang_up(&mut self);
    /// Renews once, within `limit`.
    fn renew(&mut self, limit: Duration) -> Beat;
    /// The tree stands still, and the lease is ours: why it must not go on all the same.
    fn look_again(&mut self, _limit: Duration) -> Option<Cause> {
        None
    }
    /// The lease's time is over though the command runs on: settles it as completed. False when the store could not be
    /// told; called again then, until it can or the lease has ended.
    fn give_back(&mut self) -> bool;
    /// The wrapper cannot finish (or was not heard to): prove the files and settle, until `deadline`. Called again while a
    /// process of the tree lives on that could not be stopped, and once more when it is gone.
    fn finish(&mut self, outcome: Outcome, deadline: Moment);
    /// The command has ended, and its lease was settled to stay with the session: looks after it for as long as that takes.
    fn tend(&mut self) {}
}

/// What the keeper needs from the wrapper's words.
#[derive(Debug, Clone)]
pub struct Begin {
    /// When the request was sent that the store granted; whether the command may was asked before that.
    pub sent: Moment,
    /// For how long it was granted.
    pub lasts: Duration,
    /// When the command goes on after it stood still, it is looked again whether it may.
    pub asks_again: bool,
    /// Variables for the child, which replace inherited ones of the same name.
    pub variables: Vec<(String, String)>,
}

/// The times of a run.
#[derive(Debug, Clone, Copy)]
pub struct Watch {
    /// TTL, heartbeat, deadline, grace.
    pub times: Times,
    /// How long a stopped job (Ctrl-Z) is renewed.
    pub stopped_max: Duration,
    /// How long after its start the lease of a command that runs on for ever is given back.
    pub give_back: Option<Duration>,
    /// It is an edit without a terminal: stop it when its editor goes round in a circle.
    pub edits_unseen: bool,
}

/// What happens while the command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It is no short command: half of the way to the first deadline has passed.
    Lasts,
    /// Its lease was given back, and it runs on.
    Loose,
}

/// What came first in a vigil.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Came {
    /// The helper ended.
    Ended(ExitStatus),
    /// The time was up.
    TimeUp,
    /// Somebody wants us to end.
    Interrupted,
    /// The lease is not ours any more, or not for long.
    Lost,
    /// The keeper is dead: nobody renews.
    Unguarded,
}

/// Half of the way from one moment to another; the whole when it is short.
fn half_way(now: Moment, then: Moment) -> Moment {
    let way = now.until(then);
    now.after(if way < Duration::from_millis(100) { way } else { way / 2 })
}

/// Leaves the session, the directory, the terminal and every descriptor of who started us, so that nobody waits for us. Only
/// before anything is opened.
///
/// # Errors
/// When the system refuses one of that.
#[cfg(unix)]
pub fn detach() -> std::io::Result<()> {
    unix::own_session()?;
    std::env::set_current_dir("/")?;
    unix::null_stdio()?;
    unix::close_all_but(&[]);
    Ok(())
}

/// Leaves this process as the program left: with its status, or dead by its signal.
pub fn leave(exit: Exit) -> ! {
    let code = match exit {
        Exit::Code(code) => code,
        Exit::Signal(signal) => {
            #[cfg(unix)]
            unix::die_by(signal);
            // A signal whose default is to go on: say it as shells do.
            128 + signal
        }
    };
    end(code)
}

#[expect(clippy::disallowed_methods, reason = "the one way out")]
fn end(code: i32) -> ! {
    std::process::exit(code)
}
