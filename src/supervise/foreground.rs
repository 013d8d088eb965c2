//! A program that has made a process group of its own, as interactive shells and `timeout` do.
//!
//! Started by a shell with job control, the program itself would lead the job's group, so that asking for a group of its
//! own changes nothing. Below us it leaves our group with that, and then keys, stops and the terminal pass between the
//! shell and it only if we hand them on.
#![forbid(unsafe_code)]

use rustix::process::{Pid, Signal, getpgid, getpgrp, getpid, kill_process_group};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

/// The group that the child left ours for.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnGroup {
    group: Pid,
    /// It had the terminal when we looked.
    had_terminal: bool,
}

impl OwnGroup {
    /// That of this child, which must not be reaped; none while it is in ours.
    pub(super) fn of(child: i32) -> Option<Self> {
        let group = getpgid(Some(Pid::from_raw(child)?)).ok().filter(|group| *group != getpgrp())?;
        Some(Self { group, had_terminal: foreground() == Some(group) })
    }

    /// Would the program be in the group that the shell knows, had the shell started it?
    pub(super) fn stands_for_ours() -> bool {
        getpgrp() == getpid()
    }

    /// Gives it the terminal that our group has. True when it had to be given.
    pub(super) fn take_terminal(self) -> bool {
        let Some(terminal) = terminal() else { return false };
        tcgetpgrp(&terminal) == Ok(getpgrp()) && tcsetpgrp(&terminal, self.group).is_ok()
    }

    /// The same, if it had the terminal before.
    pub(super) fn take_terminal_back(self) {
        if self.had_terminal {
            self.take_terminal();
        }
    }

    /// What the kernel would have sent to the job.
    pub(super) fn signal(self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            let _it_may_have_ended = kill_process_group(self.group, signal);
        }
    }
}

/// The group in the foreground of our terminal, if we have one.
fn foreground() -> Option<Pid> {
    tcgetpgrp(terminal()?).ok()
}

fn terminal() -> Option<std::fs::File> {
    std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty").ok()
}
