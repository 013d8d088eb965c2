//! Signals sent to the process that the caller started reach the program: each once, every repeat, no echo.
#![forbid(unsafe_code)]

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::patience::ended;
use super::ways::{ALL, Way, Ways, wait_for_text};

/// Writes the name of every signal it gets to `log`, says "ready", and leaves with 5 when told to by a file `enough`.
pub(crate) const CATCHER: &str = r#"
open(my $log, ">>", "log"); select((select($log), $| = 1)[0]);
for my $name (qw(TERM HUP INT QUIT USR1 USR2 ALRM WINCH)) { $SIG{$name} = sub { print $log "$name\n" } }
print $log "ready $$\n";
select(undef, undef, undef, 0.002) until -e "enough";
exit 5;
"#;

/// A catcher in a process group of its own, started in one way.
struct Catcher<'a> {
    ways: &'a Ways,
    child: Child,
}

impl<'a> Catcher<'a> {
    fn start(ways: &'a Ways, way: Way, program: &[&str]) -> Self {
        for name in ["log", "enough"] {
            let _it_may_not_be_there = std::fs::remove_file(ways.world.work().join(name));
        }
        let child =
            ways.command(way, program).process_group(0).stdout(Stdio::null()).spawn().expect("the catcher starts");
        let started = Self { ways, child };
        started.wait_for("ready");
        started
    }

    fn log(&self) -> PathBuf {
        self.ways.world.work().join("log")
    }

    fn wait_for(&self, what: &str) -> String {
        wait_for_text(&self.log(), what)
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the process is ours");
    }

    /// Lets it go, and gives what it caught.
    fn caught(mut self) -> Vec<String> {
        std::fs::write(self.ways.world.work().join("enough"), "").expect("enough");
        assert_eq!(ended(&mut self.child).code(), Some(5));
        let log = std::fs::read_to_string(self.log()).expect("log");
        log.lines().skip(1).map(str::to_owned).collect()
    }
}

const EACH: [(Signal, &str); 8] = [
    (Signal::TERM, "TERM"),
    (Signal::HUP, "HUP"),
    (Signal::QUIT, "QUIT"),
    (Signal::INT, "INT"),
    (Signal::USR1, "USR1"),
    (Signal::USR2, "USR2"),
    (Signal::ALARM, "ALRM"),
    (Signal::WINCH, "WINCH"),
];

#[test]
fn every_signal_sent_to_us_arrives_once() {
    let ways = Ways::new();
    for way in ALL {
        let catcher = Catcher::start(&ways, way, &["perl", "-e", CATCHER]);
        for (signal, name) in EACH {
            catcher.send(signal);
            catcher.wait_for(name);
        }
        assert_eq!(catcher.caught(), EACH.map(|(_, name)| name), "{way:?}");
    }
}

#[test]
fn a_signal_sent_again_arrives_again() {
    let ways = Ways::new();
    for way in ALL {
        let catcher = Catcher::start(&ways, way, &["perl", "-e", CATCHER]);
        for times in 1..=3 {
            catcher.send(Signal::TERM);
            catcher.wait_for(&"TERM\n".repeat(times));
        }
        assert_eq!(catcher.caught(), ["TERM"; 3], "{way:?}: and nobody made a KILL of it");
    }
}

#[test]
fn a_program_that_signals_its_own_group_gets_no_echo() {
    let ways = Ways::new();
    let program = CATCHER.replace("print $log \"ready", "kill USR1 => 0; kill TERM => 0; print $log \"ready");
    for way in ALL {
        let catcher = Catcher::start(&ways, way, &["perl", "-e", &program]);
        // What comes through us comes in order: the echo of an earlier signal would be there before this one.
        catcher.send(Signal::USR2);
        let log = catcher.wait_for("USR2");
        assert_eq!(log.matches("USR1").count(), 1, "{way:?}: {log}");
        assert_eq!(log.matches("TERM").count(), 1, "{way:?}: {log}");
        drop_quietly(catcher);
    }
}

/// Ends a catcher whose log does not begin with "ready".
fn drop_quietly(catcher: Catcher<'_>) {
    let _log = catcher.caught();
}

#[test]
fn a_signal_that_the_caller_ignores_still_reaches_a_program_that_wants_it() {
    let ways = Ways::new();
    for way in ALL {
        let prefix = ["perl", "-e", r#"$SIG{HUP} = $SIG{INT} = "IGNORE"; exec @ARGV"#];
        for name in ["log", "enough"] {
            let _it_may_not_be_there = std::fs::remove_file(ways.world.work().join(name));
        }
        let words = [&prefix, way.prefix(), &["perl", "-e", CATCHER]].concat();
        let child = ways.world.command(words[0]).args(&words[1..]).process_group(0).spawn().expect("starts");
        let catcher = Catcher { ways: &ways, child };
        catcher.wait_for("ready");
        for (signal, name) in [(Signal::HUP, "HUP"), (Signal::INT, "INT")] {
            catcher.send(signal);
            catcher.wait_for(name);
        }
        assert_eq!(catcher.caught(), ["HUP", "INT"], "{way:?}");
    }
}

#[test]
fn a_blocked_signal_waits_until_the_program_unblocks_it() {
    let ways = Ways::new();
    let block = "use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGTERM)); exec @ARGV";
    let program = CATCHER.replace(
        "exit 5;",
        "use POSIX; sigprocmask(SIG_UNBLOCK, POSIX::SigSet->new(SIGTERM)); select(undef, undef, undef, 0); exit 5;",
    );
    for way in ALL {
        for name in ["log", "enough"] {
            let _it_may_not_be_there = std::fs::remove_file(ways.world.work().join(name));
        }
        let words = [&["perl", "-e", block], way.prefix(), &["perl", "-e", &program]].concat();
        let child = ways.world.command(words[0]).args(&words[1..]).process_group(0).spawn().expect("starts");
        let catcher = Catcher { ways: &ways, child };
        catcher.wait_for("ready");
        catcher.send(Signal::TERM);
        catcher.send(Signal::USR1);
        let log = catcher.wait_for("USR1");
        assert!(!log.contains("TERM"), "{way:?}: blocked: {log}");
        assert_eq!(catcher.caught(), ["USR1", "TERM"], "{way:?}");
    }
}

#[test]
fn a_signal_nobody_handles_ends_the_program_and_us_by_it() {
    use std::os::unix::process::ExitStatusExt as _;
    let ways = Ways::new();
    for (signal, number) in [
        (Signal::TERM, 15),
        (Signal::INT, 2),
        (Signal::HUP, 1),
        (Signal::QUIT, 3),
        (Signal::USR1, 10),
        (Signal::ALARM, 14),
    ] {
        for way in ALL {
            let mut catcher =
                Catcher::start(&ways, way, &["perl", "-e", r#"open L, ">log"; print L "ready\n"; close L; sleep 600"#]);
            catcher.send(signal);
            assert_eq!(ended(&mut catcher.child).signal(), Some(number), "{way:?} {signal:?}");
        }
    }
}

#[test]
fn an_interrupt_of_the_whole_group_ends_everything() {
    use std::os::unix::process::ExitStatusExt as _;
    let ways = Ways::new();
    for way in ALL {
        let mut catcher =
            Catcher::start(&ways, way, &["perl", "-e", r#"open L, ">log"; print L "ready\n"; close L; sleep 600"#]);
        kill_process_group(Pid::from_child(&catcher.child), Signal::TERM).expect("ours");
        assert_eq!(ended(&mut catcher.child).signal(), Some(15), "{way:?}");
    }
}
