//! Programs that put themselves into a foreground group of their own, as interactive shells do.
#![forbid(unsafe_code)]

use super::jobs::{SHELLS, leave, shell};
use super::patience::{eventually, finished};
use super::terminal::Terminal;
use super::ways::{ALL, Way, Ways, alive, wait_for_text};

/// Takes the terminal for a group of its own and talks. A mate in that group only lives, until its leader does not.
const TAKER: &str = r#"
use POSIX ();
$SIG{TTOU} = "IGNORE";
POSIX::setpgid(0, 0) or die "setpgid: $!";
POSIX::tcsetpgrp(0, $$) or die "tcsetpgrp: $!";
$SIG{TTOU} = "DEFAULT";
$SIG{INT} = "IGNORE";
pipe(my $end, my $held) or die "pipe: $!";
my $mate = fork;
if (not $mate) { close $held; 1 until defined sysread($end, my $nothing, 1); exit 0 }
open my $file, ">", "mate" or die "mate: $!";
print $file "$mate\n";
close $file;
do "./talker";
"#;

/// Every shell, every way.
fn everywhere(test: impl Fn(&Ways, &mut Terminal, Way, &str)) {
    for words in SHELLS {
        for way in ALL {
            let ways = Ways::new();
            std::fs::write(ways.world.work().join("taker"), TAKER).expect("taker");
            let mut terminal = shell(&ways, way, words);
            test(&ways, &mut terminal, way, &format!("{way:?} under {}", words[0]));
        }
    }
}

/// Somebody else asks for the lease now: refused if there is one.
fn is_held(ways: &Ways, way: Way, what: &str) {
    let other = finished(
        ways.world
            .locked()
            .args(["-n", "-r", "test:x", "true"])
            .env("LOCKED_SESSION", "0000000b-0000-4000-8000-000000000000"),
    );
    assert_eq!(other.status.code(), Some(if way == Way::Leased { 75 } else { 0 }), "{what}: {other:?}");
}

/// Is it stopped by a signal?
fn halted(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| stat.contains(") T "))
}

#[test]
fn a_group_in_the_foreground_is_stopped_by_a_key_and_brought_back() {
    everywhere(|ways, terminal, way, what| {
        terminal.line("$ME perl taker");
        terminal.see("<ready>");
        for round in 1..=3 {
            terminal.keys("\x03");
            terminal.see(&format!("<INT {round}>"));
            terminal.keys("\x1a");
            terminal.job_stops();
            is_held(ways, way, what);
            let mate = wait_for_text(&ways.world.work().join("mate"), "\n");
            eventually(&format!("{what}: its mate stops"), || halted(&mate));
            terminal.line("fg");
            terminal.line(&format!("round {round}"));
            let before = terminal.see(&format!("<got round {round}>"));
            assert!(!before.contains("topped"), "{what}: it has the terminal at once: {before}");
            eventually(&format!("{what}: its mate goes on"), || !halted(&mate));
        }
        leave(terminal, what);
        ways.settled();
    });
}

#[test]
fn a_group_sent_to_the_background_does_not_take_the_terminal_back() {
    everywhere(|ways, terminal, way, what| {
        terminal.line("$ME perl taker");
        terminal.see("<ready>");
        terminal.keys("\x1a");
        terminal.job_stops();
        terminal.line("bg");
        // It reads, and is stopped for it; the shell still has the terminal.
        terminal.job_stops_sooner_or_later();
        is_held(ways, way, what);
        terminal.line("fg");
        terminal.line("hello");
        terminal.see("<got hello>");
        leave(terminal, what);
        ways.settled();
    });
}

#[test]
fn an_interactive_shell_has_jobs_and_can_be_suspended() {
    everywhere(|ways, terminal, way, what| {
        terminal.line("$ME bash --norc --noprofile -i");
        terminal.line("level=inner; echo in-$level");
        terminal.see("in-inner");
        terminal.line("perl talker");
        terminal.see("<ready>");
        terminal.keys("\x1a");
        terminal.job_stops();
        is_held(ways, way, what);
        terminal.line("fg");
        terminal.line("hello");
        terminal.see("<got hello>");
        terminal.line("quit");
        terminal.line("echo inner=$?");
        terminal.see("inner=7");
        for round in 1..=2 {
            terminal.line("suspend");
            terminal.job_stops();
            terminal.line("echo out-$level-out");
            terminal.see("out--out");
            is_held(ways, way, what);
            terminal.line("fg");
            terminal.line(&format!("echo in-$level-{round}"));
            terminal.see(&format!("in-inner-{round}"));
        }
        terminal.line("exit 7");
        terminal.line("echo status=$?");
        terminal.see("status=7");
        assert!(!terminal.whole().contains("LOST"), "{what}");
        ways.settled();
    });
}

/// Where the program leads its job already, asking for a group without asking for the terminal changes nothing.
#[test]
fn a_group_that_does_not_ask_for_the_terminal_has_it_all_the_same() {
    everywhere(|ways, terminal, way, what| {
        terminal.line("$ME perl -e 'setpgrp(0, 0); do q(./talker)'");
        terminal.see("<ready>");
        terminal.keys("\x03");
        terminal.see("<INT 1>");
        terminal.line("hello");
        let before = terminal.see("<got hello>");
        assert!(!before.contains("topped") && !before.contains("INT"), "{what}: {before}");
        terminal.keys("\x1a");
        terminal.job_stops();
        is_held(ways, way, what);
        terminal.line("fg");
        terminal.line("again");
        terminal.see("<got again>");
        leave(terminal, what);
        ways.settled();
    });
}

#[test]
fn a_key_ends_what_runs_under_timeout() {
    everywhere(|ways, terminal, _, what| {
        terminal.line("$ME timeout 600 perl -e '$| = 1; print q(<), qq(here>\\n); sleep 600'");
        terminal.see("<here>");
        terminal.keys("\x03");
        terminal.see("$ ");
        terminal.line("echo status=$?");
        terminal.see("status=130");
        assert!(!terminal.whole().contains("LOST"), "{what}");
        ways.settled();
    });
}

/// The shell sees its job stop, goes on and ends; nobody could continue the job then, and the kernel hangs it up.
#[test]
fn a_job_of_a_script_that_is_stopped_ends_with_the_script() {
    for way in ALL {
        let ways = Ways::new();
        let mut terminal = shell(&ways, way, SHELLS[0]);
        terminal.line(r#"$ME bash -c 'set -m; perl -e "\$| = 1; print qq(pid \$\$\n); do q(./talker)" ; exit $?'"#);
        terminal.see("pid ");
        let pid = terminal.see("\r\n");
        terminal.see("<ready>");
        terminal.keys("\x1a");
        terminal.see("$ ");
        terminal.line("echo status=$?");
        terminal.see("status=148");
        eventually(&format!("{way:?}: the job ends"), || !alive(&pid));
        ways.settled();
    }
}
