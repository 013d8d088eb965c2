//! Values out of range are mistakes of usage (64), wherever they are given, and nothing is run.

use super::stage::{RESOURCE, Stage, ends, says};

/// What is no duration.
const NO_DURATIONS: [&str; 10] = ["", "5", "1.5s", "-1s", "s", "5 s", "5d", "99999999999999999999s", "10001h", "٣s"];

/// Options that take a duration.
const DURATIONS: [&str; 5] = ["ttl", "heartbeat", "renew-deadline", "grace", "wait"];

fn twin(option: &str) -> String {
    format!("LOCKED_{}", option.to_uppercase().replace('-', "_"))
}

#[test]
fn what_is_no_duration_is_refused_in_options_and_in_their_twins() {
    let stage = Stage::bare();
    for option in DURATIONS {
        for value in NO_DURATIONS {
            let typed = format!("--{option}={value}");
            ends(&mut stage.shell(1, &[&typed], "echo ran > ran"), 64);
            ends(stage.locked(1).args([&typed, "true"]), 64);
            ends(stage.shell(1, &[], "echo ran > ran").env(twin(option), value), 64);
        }
        // What nothing is locked for does not care about the environment.
        ends(stage.locked(1).arg("true").env(twin(option), "nonsense"), 0);
    }
    assert!(!stage.world.work().join("ran").exists());
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let stage = Stage::bare();
    let cases: [&[&str]; 9] = [
        &["--ttl", "0"],
        &["--ttl", "999ms"],
        &["--ttl", "25h"],
        &["--heartbeat", "0"],
        &["--ttl", "30s", "--heartbeat", "20s"],
        &["--ttl", "30s", "--renew-deadline", "28s"],
        &["--ttl", "30s", "--grace", "10s"],
        &["--wait", "1s", "--no-wait"],
        &["--quiet", "--verbose"],
    ];
    for options in cases {
        ends(&mut stage.shell(1, options, "echo ran > ran"), 64);
    }
    assert!(!stage.world.work().join("ran").exists());
}

#[test]
fn other_values_out_of_range_are_refused() {
    let stage = Stage::bare();
    let cases: [&[&str]; 8] = [
        &["--conflict-exit-code", "256"],
        &["--conflict-exit-code", "-1"],
        &["--conflict-exit-code", "x"],
        &["--session", "me"],
        &["-r", "nocolon"],
        &["-r", "kind:"],
        &["-r", ""],
        &["--no-such-option"],
    ];
    for options in cases {
        ends(&mut stage.shell(1, options, "echo ran > ran"), 64);
    }
    for (variable, value) in [("LOCKED_CONFLICT_EXIT_CODE", "256"), ("LOCKED_SESSION", "me")] {
        let said = says(stage.shell(1, &[], "echo ran > ran").env(variable, value), 64);
        assert!(!said.is_empty(), "{variable}");
    }
    assert!(!stage.world.work().join("ran").exists());
}

#[test]
fn verbs_refuse_the_same() {
    let stage = Stage::bare();
    let cases: [&[&str]; 9] = [
        &["acquire", "--ttl", "5", RESOURCE],
        &["acquire", "--ttl", "0s", RESOURCE],
        &["acquire", "--ttl", "25h", RESOURCE],
        &["acquire", "--wait", "soon", RESOURCE],
        &["acquire", "nocolon"],
        &["history", "--since", "5d"],
        &["history", "--limit", "-1"],
        &["release", "--as", "done", RESOURCE],
        &["status", "--no-such-option"],
    ];
    for words in cases {
        ends(stage.locked(1).args(words), 64);
    }
    assert!(stage.status().is_empty());
}
