//! The processes of Windows, as one list of the system shows them.
#![deny(unsafe_code)]

mod command_line;
mod leftover;
mod peek;

use std::cell::OnceCell;

use super::{Process, Processes, role, script};
use crate::platform::{self, Listed};

pub use leftover::{end_processes_of, processes_of};

/// The processes of this machine at the moment when the first of them was asked for.
#[derive(Debug, Default)]
pub struct Snapshot {
    listed: OnceCell<Vec<Listed>>,
}

impl Snapshot {
    /// The processes of this machine; nothing is read yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The name of this machine; empty when the system does not say.
    #[must_use]
    pub fn host() -> String {
        peek::computer_name().unwrap_or_default()
    }

    /// Whether this very process has ended: a pid that was taken again is another one. Where nobody says who is there, it has not.
    #[must_use]
    pub fn has_ended(&self, pid: u32, started: u64) -> bool {
        platform::processes().is_some_and(|all| !all.iter().any(|it| it.pid == pid && it.created == started))
    }

    fn listed(&self) -> &[Listed] {
        self.listed.get_or_init(|| platform::processes().unwrap_or_default())
    }
}

impl Processes for Snapshot {
    fn ourselves(&self) -> u32 {
        std::process::id()
    }

    fn process(&self, pid: u32) -> Option<Process> {
        let listed = self.listed().iter().find(|it| it.pid == pid && pid != 0)?;
        let lower = listed.name.to_lowercase();
        let mut program = lower.strip_suffix(".exe").unwrap_or(&lower).to_owned();
        // Only of these it matters what they were told.
        let asks = role::is_shell(&program) || role::is_interpreter(&program);
        let args = if asks { peek::command_line(pid).as_deref().map(command_line::split) } else { None };
        let operands = || args.iter().flatten().skip(1).map(String::as_bytes);
        let interactive =
            role::is_shell(&program) && args.is_some() && command_line::is_interactive(&program, operands());
        let called = script::of(operands()).filter(|_| role::is_interpreter(&program));
        if pid == self.ourselves() {
            // Whatever name a copy of us has.
            "locked".clone_into(&mut program);
        }
        Some(Process {
            pid,
            parent: listed.parent,
            comm: program.chars().take(15).collect(),
            script: called,
            interactive,
            program,
            started: listed.created,
            // A console has no leader; a shell that a person types into is as good as one.
            session: if interactive { pid } else { listed.session },
            group: pid,
            terminal: interactive,
        })
    }

    fn namespace(&self) -> u64 {
        0
    }

    /// Services here hand on no variable that names them.
    fn service(&self) -> Option<String> {
        None
    }
}

/// The words of this process; none when it is gone or we may not see it.
pub(super) fn words_of(pid: u32) -> Option<Vec<Vec<u8>>> {
    let line = peek::command_line(pid)?;
    Some(command_line::split(&line).into_iter().map(String::into_bytes).collect())
}

/// The processes that have this entry in their environment; so many are looked at.
pub(super) fn carriers(entry: &[u8], most: usize) -> Vec<u32> {
    let entry = String::from_utf8_lossy(entry);
    let carries = |pid: &u32| peek::environment(*pid).is_ok_and(|entries| entries.iter().any(|other| *other == entry));
    platform::processes().into_iter().flatten().map(|it| it.pid).take(most).filter(carries).collect()
}

/// Whether the process of this id stands above us and is one of ours. Process ids have no other namespace here, and its
/// live file was found held.
#[must_use]
pub fn stands_above(pid: u32, _device: u64, _inode: u64) -> bool {
    let processes = Snapshot::new();
    let above = super::anchor::line_of(&processes).skip(1).find(|process| process.pid == pid);
    above.is_some_and(|process| process.program == "locked" || process.program.starts_with("locked-"))
}
