//! After any stop it is looked once more, before the program goes on.
#![forbid(unsafe_code)]

use rustix::process::Signal;

use super::stage::{Held, ISSUE, ROTATION, Stage, text, until};
use crate::world::processes::{is_halted, signal};

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
        assert!(said.contains(word) && said.contains("the program had been stopped, and was ended"), "{said}");
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
