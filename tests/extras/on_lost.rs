//! `--on-lost CMD`: once, after the tree is gone, with the cause, and without a say in the status.

use std::fs;

use super::stage::{Held, RESOURCE, Stage, ends, json_in, lives, text};

/// A run that loses its lease as soon as it is up. Its first line is the child's process id.
fn losing(stage: &Stage, options: &[&str]) -> Held {
    let options: Vec<&str> = [&["--ttl", "2s"], options].concat();
    let run = Held::start(&mut stage.shell(1, &options, "echo $$ > pid; echo $$; exec sleep 600"));
    stage.steal_all();
    run
}

#[test]
fn it_runs_once_after_the_tree_is_gone_and_knows_why() {
    let stage = Stage::bare();
    // `cat` comes back because nothing is on standard input; a zombie of ours is as gone as can be.
    let hook = "cat; echo \"$LOCKED_RESOURCES $LOCKED_LOST_CAUSE\" >> told; echo out; \
                ! grep -q ') [^ZX]' /proc/$(cat pid)/stat 2>/dev/null && echo gone >> told";
    let run = losing(&stage, &["--on-lost", hook]);
    let child = run.line.clone();
    let output = run.ended();
    assert_eq!(output.status.code(), Some(77));
    let told = fs::read_to_string(stage.world.work().join("told")).expect("it ran");
    assert_eq!(told, format!("{RESOURCE} gone\ngone\n"));
    assert!(!lives(child.parse().expect("pid")));
    assert!(text(&output.stderr).lines().any(|line| line == "out"), "its output is no output of the program");
}

#[test]
fn the_twin_in_the_environment_serves_too_and_a_failure_is_said() {
    let stage = Stage::bare();
    let mut command = stage.shell(1, &["--ttl", "2s", "--report", "r.json"], "echo up; exec sleep 600");
    let run = Held::start(command.env("LOCKED_ON_LOST", "exit 3 # hunter2"));
    stage.steal_all();
    let output = run.ended();
    assert_eq!(output.status.code(), Some(77));
    let said = text(&output.stderr);
    assert!(said.contains("the command of --on-lost failed: exit status: 3"), "{said}");
    assert!(!said.contains("hunter2"));
    assert_eq!(json_in(&stage.world.work().join("r.json"))["exit"]["code"], 77);
}

#[test]
fn it_does_not_run_when_nothing_was_lost() {
    let stage = Stage::bare();
    for script in ["exit 0", "exit 4"] {
        let status = if script == "exit 0" { 0 } else { 4 };
        ends(&mut stage.shell(1, &["--on-lost", "echo lost >> told"], script), status);
    }
    let held = Held::start(&mut stage.shell(2, &[], "echo up; cat"));
    ends(&mut stage.shell(1, &["-n", "--on-lost", "echo lost >> told"], "true"), 75);
    held.let_go();
    assert!(!stage.world.work().join("told").exists());
}

#[test]
fn a_lease_that_was_gone_when_the_program_had_ended_is_lost_too() {
    let stage = Stage::bare();
    let run = Held::start(&mut stage.shell(1, &["--on-lost", "echo $LOCKED_LOST_CAUSE >> told"], "echo up; cat"));
    stage.steal_all();
    assert_eq!(run.finish().status.code(), Some(77));
    assert_eq!(fs::read_to_string(stage.world.work().join("told")).expect("it ran"), "gone\n");
}
