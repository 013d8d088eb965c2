//! After any stop it is looked once more, before the program goes on.
#![forbid(unsafe_code)]

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::stage::{Held, ISSUE, ROTATION, Stage, text, until};
use crate::world::processes::{child_of, freeze, is_halted, signal, thaw};

/// A rotation whose program has stopped itself, and us with it.
fn stopped(stage: &Stage) -> Held {
    let held = Held::start(&mut stage.rotates(1, &["--issue", ISSUE, "--consumers-ok"], "echo up; kill -STOP $$; cat"));
    let wrapper = held.pid();
    until("it has stopped", || is_halted(wrapper).then_some(()));
    held
}

/// As a shell's `fg` does it.
fn goes_on(held: &Held) {
    signal(held.pid(), Signal::CONT);
}

#[test]
fn a_program_that_goes_on_after_a_stop_does_so_under_an_open_issue() {
    let stage = Stage::new();
    let held = stopped(&stage);
    assert_eq!(stage.asked().len(), 1);
    goes_on(&held);
    until("it was asked again", || (stage.asked().len() == 2).then_some(()));
    held.let_go();
    assert_eq!(stage.history()[0]["ended_as"], "completed");
}

#[test]
fn what_has_changed_while_it_stood_still_ends_it() {
    for (state, status, word) in [
        ("CLOSED", 79, "acme/infra#5925 is closed"),
        ("login", 80, "whether acme/infra#5925 is still open is not known"),
    ] {
        let stage = Stage::new();
        let held = stopped(&stage);
        stage.issue_is(state);
        goes_on(&held);
        let output = held.ended();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(
            said.contains(word) && said.contains("it was asked again after a pause, and nothing runs any more"),
            "{said}"
        );
        assert_eq!(stage.history()[0]["ended_as"], "failed");
        assert_eq!(stage.status().len(), 0);
    }
}

#[test]
fn who_lost_it_while_standing_still_does_not_go_on() {
    for stage in Stage::both("lost_standing_still") {
        let held = stopped(&stage);
        stage.taken();
        goes_on(&held);
        let output = held.ended();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(77), "{said}");
        assert!(said.contains(&format!("LOST: the lease of {ROTATION} is not ours any more")), "{said}");
        assert_eq!(stage.asked().len(), 1, "what is lost needs no look at its issue");
    }
}

/// Also where the issue is that of the hold, which the command does not name.
#[test]
fn the_issue_of_the_hold_counts_after_a_stop() {
    for stage in Stage::both("stopped_under_a_hold") {
        super::stage::silent(stage.locked(1).args(["acquire", ROTATION, "--issue", ISSUE]));
        let held = Held::start(&mut stage.rotates(1, &["--consumers-ok"], "echo up; kill -STOP $$; cat"));
        let wrapper = held.pid();
        until("it has stopped", || is_halted(wrapper).then_some(()));
        stage.issue_is("CLOSED");
        goes_on(&held);
        let output = held.ended();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(79), "{said}");
        assert!(said.contains(&format!("{ISSUE} is closed")), "{said}");
    }
}

/// A rotation that writes all the time, below its program: its wrapper, keeper, program, and who writes.
pub(super) fn writing(stage: &Stage, options: &[&str]) -> (Held, [u32; 4]) {
    // Of whoever wrote before nothing must be there, or it seems to write before it runs.
    let _none = std::fs::remove_file(stage.world.work().join("lines"));
    let script = "echo up; (while :; do echo >> lines; done) & wait";
    let held = Held::start(&mut stage.rotates(1, &[options, &["--consumers-ok"]].concat(), script));
    let keeper = child_of(held.pid());
    let program = child_of(keeper);
    let writer = until("it writes", || stage.is_there("lines").then(|| child_of(program)));
    let wrapper = held.pid();
    (held, [wrapper, keeper, program, writer])
}

#[track_caller]
pub(super) fn was_ended(stage: &Stage, held: Held, how: &str) {
    let output = held.ended();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(79), "{how}: {said}");
    assert!(said.contains("it was asked again after a pause, and nothing runs any more"), "{how}: {said}");
    assert_eq!(stage.history()[0]["ended_as"], "failed", "{how}");
    assert_eq!(stage.status().len(), 0, "{how}");
}

/// No stop of the program alone is seen then: who would see it stood still as well.
#[test]
fn everything_that_was_stopped_goes_on_under_an_open_issue_alone() {
    for stage in Stage::both("all_stopped") {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1], [2, 0, 1, 3]] {
            stage.issue_is("OPEN");
            let (held, tree) = writing(&stage, &["--ttl", "60s", "--issue", ISSUE]);
            order.iter().for_each(|&at| freeze(tree[at]));
            stage.issue_is("CLOSED");
            order.iter().rev().for_each(|&at| thaw(tree[at]));
            was_ended(&stage, held, &format!("{order:?}"));
        }
    }
}

/// The signals that wait for it.
fn waiting(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).expect("a mask")
}

/// Who is continued last must not continue what the keeper has frozen meanwhile.
#[test]
fn nothing_goes_on_while_it_is_asked() {
    for stage in Stage::both("while_it_is_asked") {
        let (held, tree) = writing(&stage, &["--issue", ISSUE]);
        let [wrapper, keeper, program, writer] = tree;
        tree.iter().for_each(|&pid| freeze(pid));
        stage.gh_waits();
        [program, writer, keeper].into_iter().for_each(thaw);
        until("it is asked", || (stage.asked().len() > 1).then_some(()));
        until("it stands still", || (is_halted(program) && is_halted(writer)).then_some(()));
        thaw(wrapper);
        // It hands on what comes, and so has seen that it was continued.
        for sent in [Signal::USR1, Signal::USR2] {
            signal(wrapper, sent);
            until("it is handed on", || (waiting(program) & (1 << (sent.as_raw() - 1)) != 0).then_some(()));
        }
        assert!(is_halted(program) && is_halted(writer));
        stage.answer("CLOSED");
        was_ended(&stage, held, "asked");
    }
}

#[test]
fn everything_that_was_stopped_goes_on_where_the_issue_is_open_still() {
    for stage in Stage::both("all_go_on") {
        let (held, tree) = writing(&stage, &["--issue", ISSUE]);
        tree.iter().for_each(|&pid| freeze(pid));
        tree.iter().for_each(|&pid| thaw(pid));
        until("it was asked again", || (stage.asked().len() > 1).then_some(()));
        let lines = || std::fs::metadata(stage.world.work().join("lines")).expect("lines").len();
        let before = lines();
        until("it writes on", || (lines() > before).then_some(()));
        signal(tree[3], Signal::KILL);
        assert_eq!(held.ended().status.code(), Some(0));
        assert_eq!(stage.history()[0]["ended_as"], "completed");
        assert!(stage.asked().len() < 5, "one pause, and not one question after another: {:?}", stage.asked());
    }
}

/// As a frozen container or a suspended machine does it: nothing is told of it but the clock.
#[test]
fn a_pause_that_no_event_tells_of_is_seen_by_the_clock() {
    for stage in Stage::both("a_pause") {
        let (held, [_, keeper, ..]) = writing(&stage, &["--issue", ISSUE]);
        freeze(keeper);
        stage.issue_is("CLOSED");
        let since = Instant::now();
        until("a pause has passed", || (since.elapsed() > Duration::from_secs(4)).then_some(()));
        thaw(keeper);
        was_ended(&stage, held, "a pause");
    }
}

/// gh has answered, and then it took its time until anything was started: here the store, elsewhere a machine that slept.
#[test]
fn what_was_asked_long_before_the_start_is_asked_again() {
    let stage = Stage::on_server("asked_long_before");
    stage.gh_waits();
    let mut rotation = stage.rotates(1, &["--issue", ISSUE, "--consumers-ok"], "touch ran");
    let rotation = rotation.stderr(Stdio::piped()).spawn().expect("it starts");
    until("it is asked", || (stage.asked().len() == 1).then_some(()));
    let desk = stage.desk();
    let _nothing = desk.sql("begin; lock table locked.leases").expect("locked");
    stage.answer("OPEN");
    stage.issue_is("CLOSED");
    let since = Instant::now();
    until("a pause has passed", || (since.elapsed() > Duration::from_secs(4)).then_some(()));
    let _nothing = desk.sql("commit").expect("unlocked");
    let output = rotation.wait_with_output().expect("it ends");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(79), "{said}");
    assert!(said.contains(&format!("{ISSUE} is closed")) && said.contains("nothing runs any more"), "{said}");
    assert!(!stage.is_there("ran"));
    assert_eq!(stage.status().len(), 0);
}

/// How often it has gone to sleep.
fn sleeps(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).expect("a count")
}

#[test]
fn who_writes_far_below_the_program_is_asked_for_as_well() {
    for stage in Stage::both("far_below") {
        let (held, [_, keeper, _, writer]) = writing(&stage, &["--issue", ISSUE]);
        freeze(writer);
        let before = sleeps(keeper);
        until("the keeper has looked", || (sleeps(keeper) > before + 3).then_some(()));
        stage.issue_is("CLOSED");
        thaw(writer);
        was_ended(&stage, held, "far below");
    }
}
