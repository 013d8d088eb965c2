//! Everything of a rotation is frozen by its control group, as a container is that somebody pauses: no signal tells of it, and
//! nobody who could see it runs meanwhile.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::stage::{ISSUE, Stage, until};
use super::stopped::{was_ended, writing};
use crate::world::apart::this_test;
use crate::world::ends::left_out;
use crate::world::groups::Group;
use crate::world::processes::{is_halted, signal, tree_below};

/// Longer than anybody who runs is away from the clock.
fn passes() {
    let since = Instant::now();
    until("a pause has passed", || (since.elapsed() > Duration::from_secs(4)).then_some(()));
}

/// The freezers that can be had here; it is said where one is missing.
fn freezers(test: &str) -> Vec<(&'static str, Group)> {
    let freezers =
        Group::freezers(&format!("locked-test-{}-{}", std::process::id(), test.rsplit("::").next().expect("a name")));
    for version in ["version 2", "version 1"] {
        if !freezers.iter().any(|(name, _)| *name == version) {
            left_out(test, &format!("no freezer of control groups of {version} can be had"));
        }
    }
    freezers
}

#[test]
fn what_was_frozen_whole_ends_where_its_issue_was_closed_meanwhile() {
    for (version, group) in freezers(this_test!()) {
        let stage = Stage::new();
        let (held, tree) = writing(&stage, &["--issue", ISSUE]);
        group.takes(&tree);
        group.freeze();
        stage.issue_is("CLOSED");
        passes();
        group.thaw();
        was_ended(&stage, held, version);
    }
}

#[test]
fn what_was_frozen_whole_goes_on_only_after_the_look() {
    for (version, group) in freezers(this_test!()) {
        let stage = Stage::new();
        let (held, tree) = writing(&stage, &["--issue", ISSUE]);
        let [_, _, program, writer] = tree;
        group.takes(&tree);
        group.freeze();
        stage.gh_waits();
        passes();
        group.thaw();
        until("it is asked", || (stage.asked().len() > 1).then_some(()));
        until("it stands still", || (is_halted(program) && is_halted(writer)).then_some(()));
        let lines = || std::fs::metadata(stage.world.work().join("lines")).expect("lines").len();
        let before = lines();
        // gh itself is the one below that runs.
        assert!(tree_below(program).into_iter().all(is_halted), "{version}");
        assert_eq!(lines(), before, "{version}: nothing is written while it is asked");
        stage.answer("OPEN");
        stage.issue_is("OPEN");
        until("it writes on", || (lines() > before).then_some(()));
        signal(writer, Signal::KILL);
        assert_eq!(held.ended().status.code(), Some(0), "{version}");
        assert_eq!(stage.history()[0]["ended_as"], "completed", "{version}");
    }
}
