//! A frozen wrapper is no danger, and no harm either; a frozen keeper is replaced before the lease ends.
#![forbid(unsafe_code)]

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use super::patience::{ended, eventually, finished};
use super::signals::CATCHER;
use super::ways::{Ways, alive, wait_for_text};

/// A catcher under a lease so short that a test can outwait it.
fn start(ways: &Ways) -> (Child, Pid) {
    let program = CATCHER.replace("ready $$", "ready ${\\getppid}");
    let mut command = ways.world.locked();
    command.args(["--ttl", "3s", "-r", "test:x", "perl", "-e", &program]).stderr(std::process::Stdio::piped());
    let wrapper = command.spawn().expect("starts");
    let log = wait_for_text(&ways.world.work().join("log"), "\n");
    let keeper = log.split_whitespace().nth(1).and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
    (wrapper, keeper.expect("the keeper's pid"))
}

fn renewed_at(ways: &Ways) -> i64 {
    let output = finished(ways.world.locked().args(["status", "--json"]));
    let leases: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    leases[0]["renewed_at"].as_i64().expect("held")
}

#[test]
fn a_wrapper_that_was_frozen_beyond_the_ttl_goes_on_with_its_program() {
    let ways = Ways::new();
    let (mut wrapper, _) = start(&ways);
    let pid = Pid::from_child(&wrapper);
    kill_process(pid, Signal::STOP).expect("ours");
    let frozen_at = renewed_at(&ways);
    eventually("the keeper renews for longer than the TTL", || renewed_at(&ways) > frozen_at + 3500);
    kill_process(pid, Signal::CONT).expect("ours");
    kill_process(pid, Signal::USR1).expect("ours");
    wait_for_text(&ways.world.work().join("log"), "USR1");
    let back_at = renewed_at(&ways);
    eventually("another deadline passes", || renewed_at(&ways) > back_at + 2500);
    std::fs::write(ways.world.work().join("enough"), "").expect("enough");
    assert_eq!(ended(&mut wrapper).code(), Some(5));
}

#[test]
fn a_keeper_that_is_frozen_is_replaced_in_time() {
    let ways = Ways::new();
    let (mut wrapper, keeper) = start(&ways);
    // The catcher does not mind TERM: it must be killed.
    kill_process(keeper, Signal::STOP).expect("ours");
    let mut said = String::new();
    std::io::Read::read_to_string(&mut wrapper.stderr.take().expect("stderr"), &mut said).expect("text");
    assert_eq!(ended(&mut wrapper).code(), Some(77), "{said}");
    assert!(!alive(&keeper.as_raw_nonzero().to_string()), "the frozen keeper is gone");
    let next = finished(ways.world.locked().args(["-n", "-r", "test:x", "true"]));
    assert!(next.status.success(), "{next:?}");
}
