//! While we wait for a lease we are an ordinary process: a signal ends us at once, and nothing of the request stays.
#![forbid(unsafe_code)]

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::patience::{ended, eventually, finished};
use super::terminal::Terminal;
use super::ways::{Way, Ways, living_in_group, wait_for_text};

/// A world in which somebody holds the lease until the test is over.
struct Held {
    ways: Ways,
    holder: Child,
}

impl Held {
    fn new() -> Self {
        let ways = Ways::new();
        let mut command = ways.command(Way::Leased, &["sh", "-c", "echo up > up; exec sleep 600"]);
        let holder = command.process_group(0).spawn().expect("the holder starts");
        wait_for_text(&ways.world.work().join("up"), "up");
        Self { ways, holder }
    }

    fn waiters(&self) -> u64 {
        let output = finished(self.ways.world.locked().args(["status", "--json"]));
        let leases: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        leases[0]["waiters"].as_u64().expect("waiters")
    }

    /// Somebody who waits, with a place in the queue.
    fn waiter(&self) -> Child {
        let mut command = self.ways.command(Way::Leased, &["touch", "ran"]);
        let waiter = command.process_group(0).stderr(Stdio::null()).spawn().expect("the waiter starts");
        eventually("somebody waits", || self.waiters() == 1);
        waiter
    }

    fn nothing_stays(&self, waiter: u32, what: &str) {
        eventually(&format!("{what}: no place in the queue stays"), || self.waiters() == 0);
        eventually(&format!("{what}: no keeper stays"), || living_in_group(waiter).is_empty());
        assert!(!self.ways.world.work().join("ran").exists(), "{what}: the program never ran");
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _it_may_have_ended = kill_process(Pid::from_child(&self.holder), Signal::TERM);
        ended(&mut self.holder);
    }
}

#[test]
fn a_signal_ends_who_waits_at_once_and_leaves_no_place() {
    let held = Held::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::KILL] {
        let mut waiter = held.waiter();
        kill_process(Pid::from_child(&waiter), signal).expect("ours");
        assert_eq!(ended(&mut waiter).signal(), Some(signal.as_raw()), "{signal:?}");
        held.nothing_stays(waiter.id(), &format!("{signal:?}"));
    }
}

#[test]
fn a_signal_to_the_group_ends_who_waits_too() {
    let held = Held::new();
    let mut waiter = held.waiter();
    kill_process_group(Pid::from_child(&waiter), Signal::INT).expect("ours");
    assert_eq!(ended(&mut waiter).signal(), Some(2));
    held.nothing_stays(waiter.id(), "INT to the group");
}

#[test]
fn a_key_ends_who_waits() {
    let held = Held::new();
    let mut terminal = Terminal::new(&held.ways, Way::Leased, &["bash", "--norc", "--noprofile", "-i"]);
    terminal.line("stty -echo");
    terminal.prompt();
    terminal.line("$ME touch ran");
    eventually("somebody waits", || held.waiters() == 1);
    // A job that waits can be stopped and brought back as well.
    terminal.keys("\x1a");
    terminal.job_stops();
    terminal.line("fg");
    terminal.see("touch ran");
    terminal.keys("\x03");
    terminal.see("$ ");
    terminal.line("echo status=$?");
    terminal.see("status=130");
    eventually("no place in the queue stays", || held.waiters() == 0);
    assert!(!held.ways.world.work().join("ran").exists(), "the program never ran");
}
