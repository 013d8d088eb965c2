//! The three ways to run a program, and what a process can say of itself.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::world::World;

use super::patience::{eventually, finished};

/// How a program is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By its caller.
    Itself,
    /// By `locked` without a lease.
    Passing,
    /// By `locked` under a lease.
    Leased,
}

pub(crate) const ALL: [Way; 3] = [Way::Itself, Way::Passing, Way::Leased];

impl Way {
    /// What stands before the program.
    pub(crate) fn prefix(self) -> &'static [&'static str] {
        match self {
            Self::Itself => &[],
            // Quiet: a program that no rule knows is remarked upon otherwise.
            Self::Passing => &[env!("CARGO_BIN_EXE_locked"), "-q", "--"],
            Self::Leased => &[env!("CARGO_BIN_EXE_locked"), "-r", "test:x", "--"],
        }
    }
}

/// A process that writes down what it sees of itself. In the kernel's own words, so that no runtime stands in between.
const PROBE: &str = include_str!("probe.pl");

/// The variables of a leased child, in their order.
const OURS: [&str; 4] = ["LOCKED_RESOURCES=", "LOCKED_TOKENS=", "LOCKED_LEASE=", "LOCKED_HOLDER="];

/// A world in which programs are run in the three ways.
pub(crate) struct Ways {
    pub(crate) world: World,
}

impl Ways {
    pub(crate) fn new() -> Self {
        Self { world: World::new() }
    }

    /// A bash that runs `line`, in which `"${me[@]}"` is `program` started this way.
    pub(crate) fn bash(&self, way: Way, program: &[&str], line: &str) -> Command {
        let mut me = "me=(".to_owned();
        for word in way.prefix().iter().chain(program) {
            write!(me, "'{}' ", word.replace('\'', r"'\''")).expect("text");
        }
        let mut bash = self.world.command("/bin/bash");
        bash.arg("-c").arg(format!("{me}); {line}")).env("SEEN", self.seen()).env("PYTHON", python());
        bash
    }

    /// Runs `line` to its end; `"${me[@]}"` is `program` started this way.
    pub(crate) fn run(&self, way: Way, program: &[&str], line: &str) -> Output {
        finished(&mut self.bash(way, program, line))
    }

    /// A program started this way, without a shell in between.
    pub(crate) fn command(&self, way: Way, program: &[&str]) -> Command {
        let words: Vec<&str> = way.prefix().iter().chain(program).copied().collect();
        let mut command = self.world.command(words[0]);
        command.args(&words[1..]);
        command
    }

    /// A program under a lease with these options.
    pub(crate) fn command_with(&self, options: &[&str], program: &[&str]) -> Command {
        let mut command = self.world.locked();
        command.args(options).args(&Way::Leased.prefix()[1..]).args(program);
        command
    }

    /// Waits until every grant is settled: before that a test must not take the store away from under a keeper.
    pub(crate) fn settled(&self) {
        let live = self.world.state().join("live");
        eventually("no live file is left", || {
            std::fs::read_dir(&live).map_or(true, |mut entries| entries.next().is_none())
        });
    }

    fn seen(&self) -> PathBuf {
        self.world.root().join("seen")
    }

    /// What the probe sees of itself in `line`, each of the three ways; `"${me[@]}"` is the probe.
    pub(crate) fn observe(&self, line: &str) -> [String; 3] {
        ALL.map(|way| {
            let output = self.run(way, &["perl", "-e", PROBE], line);
            let seen = std::fs::read_to_string(self.seen()).unwrap_or_else(|error| {
                panic!("{way:?}: {line}: {error}: {}", String::from_utf8_lossy(&output.stderr));
            });
            std::fs::remove_file(self.seen()).expect("seen");
            if way == Way::Leased { without_ours(&seen) } else { seen }
        })
    }

    /// The probe sees the same in all three ways.
    pub(crate) fn same(&self, line: &str) -> String {
        let [itself, passing, leased] = self.observe(line);
        same_text(&itself, &passing, line, Way::Passing);
        same_text(&itself, &leased, line, Way::Leased);
        itself
    }
}

fn same_text(expected: &str, found: &str, line: &str, way: Way) {
    let difference = expected
        .lines()
        .map(Some)
        .chain(std::iter::repeat(None))
        .zip(found.lines().map(Some).chain(std::iter::repeat(None)))
        .take_while(|pair| *pair != (None, None))
        .find(|(expected, found)| expected != found);
    assert_eq!(difference, None, "{way:?}: (itself, {way:?}) differ in: {line}");
}

/// Takes the four variables of ours from the end of the environment, and nothing else.
fn without_ours(seen: &str) -> String {
    let mut lines: Vec<&str> = seen.lines().collect();
    let end = lines.iter().rposition(|line| line.starts_with("env ")).expect("an environment") + 1;
    for (line, ours) in lines[end - 4..end].iter().zip(OURS) {
        assert!(line.starts_with(&format!("env {ours}")), "{line:?} is not {ours}");
    }
    lines.drain(end - 4..end);
    lines.join("\n") + "\n"
}

/// The real interpreter behind whatever `python3` on PATH is: a launcher script would hide what is observed.
pub(crate) fn python() -> OsString {
    static PYTHON: std::sync::OnceLock<OsString> = std::sync::OnceLock::new();
    PYTHON
        .get_or_init(|| {
            let output = finished(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]));
            assert!(output.status.success(), "python3 runs");
            OsString::from(String::from_utf8(output.stdout).expect("UTF-8").trim_end())
        })
        .clone()
}

/// Waits until the file says `what`, and gives its whole text.
pub(crate) fn wait_for_text(path: &std::path::Path, what: &str) -> String {
    let mut text = String::new();
    eventually(&format!("{what:?} in {}", path.display()), || {
        text = std::fs::read_to_string(path).unwrap_or_default();
        text.contains(what)
    });
    text
}

/// Is this process there, and not only waiting to be reaped?
pub(crate) fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Kills this process and waits until it is gone.
pub(crate) fn end_of(pid: &str) {
    let process = pid.parse().ok().and_then(rustix::process::Pid::from_raw).expect("a pid");
    rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("it lives and is ours");
    eventually("a killed process ends", || !alive(pid));
}

/// The living processes of a process group.
pub(crate) fn living_in_group(group: u32) -> Vec<String> {
    let pids =
        std::fs::read_dir("/proc").expect("/proc").flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let belongs = |pid: &String| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // State, parent, group: the third to fifth of proc_pid_stat(5).
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(2)) == Some(&group.to_string())
    };
    pids.filter(|pid| pid.starts_with(|first: char| first.is_ascii_digit()) && alive(pid) && belongs(pid)).collect()
}
