//! Killed wrapper, killed keeper, both: nothing of the tree is left, and nobody is let in before.
#![forbid(unsafe_code)]

use std::os::unix::process::CommandExt as _;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::world::apart::{sees_every_process, this_test};

use super::patience::{ended, eventually, finished};
use super::ways::{Ways, alive, end_of, wait_for_text};

/// A tree with a child in its own group and session, whose process ids are in `pids`.
const TREE: &str = "sleep 600 & echo $! >> pids; setsid sh -c 'echo $$ >> pids; exec sleep 600' & \
                    sh -c 'setsid sleep 600 & echo $! >> pids' & wait $!; \
                    until test \"$(wc -l < pids)\" = 3; do :; done; \
                    echo $$ >> pids; echo $PPID > keeper; wait";

struct Running {
    ways: Ways,
    wrapper: Child,
    keeper: String,
    pids: Vec<String>,
}

impl Running {
    fn new(program: &str) -> Self {
        let ways = Ways::new();
        // A tree that is not stopped at once would have eight minutes, which no wait here outlasts.
        let mut command = ways.command_with(&["--ttl", "30m", "--grace", "8m"], &["sh", "-c", program]);
        let wrapper = command.process_group(0).stderr(std::process::Stdio::piped()).spawn().expect("starts");
        let keeper = wait_for_text(&ways.world.work().join("keeper"), "\n").trim().to_owned();
        let pids = std::fs::read_to_string(ways.world.work().join("pids")).expect("pids");
        let pids = pids.lines().map(str::to_owned).collect();
        Self { ways, wrapper, keeper, pids }
    }

    fn kill_wrapper(&mut self) {
        kill_process(Pid::from_child(&self.wrapper), Signal::KILL).expect("ours");
        ended(&mut self.wrapper);
    }

    fn lease_is_free(&self) -> bool {
        finished(self.ways.world.locked().args(["-n", "-r", "test:x", "true"])).status.success()
    }

    /// The keeper has settled: before that the test must not take the store away from under it.
    fn settled(&self) {
        eventually("the keeper is gone", || !alive(&self.keeper));
        assert!(self.lease_is_free(), "settled, not left to its TTL");
    }

    fn all_gone(&self) -> bool {
        !self.pids.iter().any(|pid| alive(pid))
    }
}

#[test]
fn a_killed_wrapper_takes_the_whole_tree_along_without_the_usual_grace() {
    let mut running = Running::new(&format!("trap '' TERM; {TREE}"));
    assert_eq!(running.pids.len(), 4);
    running.kill_wrapper();
    eventually("the tree is gone", || running.all_gone());
    running.settled();
}

#[test]
fn a_write_of_a_few_milliseconds_ends_well_when_the_wrapper_is_killed() {
    let program = "trap 'sleep 0.05; echo whole > written; exit' TERM; echo $$ > pids; echo $PPID > keeper; \
                   while :; do sleep 0.01; done";
    let mut running = Running::new(program);
    running.kill_wrapper();
    eventually("the tree is gone", || running.all_gone());
    let written = std::fs::read_to_string(running.ways.world.work().join("written")).unwrap_or_default();
    assert_eq!(written, "whole\n");
    running.settled();
}

#[test]
fn a_stopped_tree_goes_with_its_wrapper_too() {
    let mut running = Running::new("echo $$ > pids; echo $PPID > keeper; kill -STOP $$");
    eventually("the wrapper has stopped with its program", || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", running.wrapper.id())).unwrap_or_default();
        stat.contains(") T ")
    });
    running.kill_wrapper();
    eventually("the tree is gone", || running.all_gone());
    running.settled();
}

#[test]
fn a_killed_keeper_ends_the_tree_and_the_wrapper_says_why() {
    let mut running = Running::new(TREE);
    end_of(&running.keeper);
    eventually("the tree is gone", || running.all_gone());
    let mut said = String::new();
    std::io::Read::read_to_string(&mut running.wrapper.stderr.take().expect("stderr"), &mut said).expect("text");
    assert_eq!(ended(&mut running.wrapper).code(), Some(77), "{said}");
    assert!(said.contains("LOST") && said.contains("keeper"), "{said}");
    running.settled();
}

#[test]
fn after_both_are_killed_the_next_waits_for_the_last_process_and_not_for_the_ttl() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let mut running = Running::new(TREE);
    let keeper = running.keeper.parse().ok().and_then(Pid::from_raw).expect("a pid");
    // Stopped first, so that neither acts on the other's death; and the keeper first, since the wrapper's death orphans
    // its group, which the kernel then continues.
    kill_process(keeper, Signal::STOP).expect("ours");
    kill_process(Pid::from_child(&running.wrapper), Signal::STOP).expect("ours");
    kill_process(keeper, Signal::KILL).expect("ours");
    running.kill_wrapper();
    let child = running.pids.pop().expect("the program itself");
    eventually("the program dies with its keeper", || !alive(&child));
    for pid in running.pids.clone() {
        assert!(alive(&pid), "what it had started has nobody any more who stops it");
        assert!(!running.lease_is_free(), "and is not overtaken");
        end_of(&pid);
    }
    assert!(running.lease_is_free(), "proven gone by the kernel lock, long before its TTL");
}
