//! What we may know of another process.
#![forbid(unsafe_code)]

/// One process, as far as an identity needs it. Never its arguments: they may carry secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id in our pid namespace.
    pub pid: u32,
    /// Its parent; 0 when that lies outside of our namespace.
    pub parent: u32,
    /// The short name that it shows (at most 15 bytes; a program may choose it).
    pub comm: String,
    /// The name of the executed file; of a multi-call binary, the applet's; `locked` for every shim of ours.
    pub program: String,
    /// The name of the script or module that an interpreter runs, without its directory.
    pub script: Option<String>,
    /// A shell that was given neither a command nor a script.
    pub interactive: bool,
    /// When it was forked, in clock ticks since boot: with the pid, what tells it from a later process of that pid.
    pub started: u64,
    /// Its session's leader.
    pub session: u32,
    /// Its process group's leader.
    pub group: u32,
    /// It has a controlling terminal.
    pub terminal: bool,
}

impl Process {
    /// Whether it leads a session that has a terminal.
    #[must_use]
    pub fn leads_a_terminal(&self) -> bool {
        self.session == self.pid && self.terminal
    }
}

/// The processes of this machine, as one moment shows them.
pub trait Processes {
    /// Our own pid.
    fn ourselves(&self) -> u32;
    /// That process; none when it is gone or we may not see it.
    fn process(&self, pid: u32) -> Option<Process>;
    /// Names our pid namespace, so that equal pids of two containers stay two.
    fn namespace(&self) -> u64;
    /// The name of the systemd service whose control group we are in (`backup.service`); none in a scope, a login
    /// session or a container.
    fn service(&self) -> Option<String>;
}

#[cfg(test)]
pub(super) mod fake {
    use std::collections::BTreeMap;

    use super::*;

    /// A made-up machine. The last process added is ourselves.
    #[derive(Default)]
    pub(crate) struct Machine {
        pub(crate) processes: BTreeMap<u32, Process>,
        pub(crate) ourselves: u32,
        pub(crate) namespace: u64,
        pub(crate) service: Option<String>,
    }

    impl Machine {
        /// A chain of programs, pid 1 first, each the parent of the next: pids 1, 10, 20, … A name may have marks:
        /// a `*` behind it leads a session with a terminal, a `+` is in one, an `i:` before it is interactive; what
        /// follows a space is an interpreter's script.
        pub(crate) fn chain(programs: &[&str]) -> Self {
            let mut machine = Self::default();
            let mut parent = 0;
            for (index, text) in programs.iter().enumerate() {
                let pid = if index == 0 { 1 } else { u32::try_from(index).expect("few") * 10 };
                machine.add(parent, pid, text);
                parent = pid;
            }
            machine
        }

        pub(crate) fn add(&mut self, parent: u32, pid: u32, text: &str) {
            let (leads, terminal) = (text.ends_with('*'), text.ends_with(['*', '+']));
            let interactive = text.starts_with("i:");
            let text = text.trim_start_matches("i:").trim_end_matches(['*', '+']);
            let (program, script) = text.split_once(' ').map_or((text, None), |(p, s)| (p, Some(s.to_owned())));
            // A session is inherited.
            let inherited = self.processes.get(&parent).map_or(1, |parent| parent.session);
            let process = Process {
                pid,
                parent,
                comm: program.chars().take(15).collect(),
                program: program.to_owned(),
                script,
                interactive,
                started: u64::from(pid) * 100,
                session: if leads { pid } else { inherited },
                group: pid,
                terminal,
            };
            self.processes.insert(pid, process);
            self.ourselves = pid;
        }
    }

    impl Processes for Machine {
        fn ourselves(&self) -> u32 {
            self.ourselves
        }
        fn process(&self, pid: u32) -> Option<Process> {
            self.processes.get(&pid).cloned()
        }
        fn namespace(&self) -> u64 {
            self.namespace
        }
        fn service(&self) -> Option<String> {
            self.service.clone()
        }
    }
}
