//! Options and their twins in the environment: what is typed wins, and what `explain` shows is what a run would do.
#![forbid(unsafe_code)]

use crate::run::stage::{DOTENV, FILE, RESOURCE, Stage, ends, says, silent, text};

#[test]
fn what_is_typed_wins_over_the_twin_of_its_opposite() {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", RESOURCE]);
    // None of these waits: a wait of ten minutes would run into the limit of every test.
    for (words, twin) in [
        (&["-n", "-r", RESOURCE, "true"][..], ("LOCKED_WAIT", "10m")),
        (&["-n", "run", "true"], ("LOCKED_WAIT", "10m")),
        (&["--wait", "0s", "-r", RESOURCE, "true"], ("LOCKED_NO_WAIT", "1")),
        (&["-n", "acquire", RESOURCE], ("LOCKED_WAIT", "10m")),
        (&["acquire", "-n", RESOURCE], ("LOCKED_WAIT", "10m")),
    ] {
        let resource = if words.contains(&"run") { &["-r", RESOURCE][..] } else { &[] };
        let said = says(stage.locked(2).args(resource).args(words).env(twin.0, twin.1), 75);
        assert!(said.starts_with("BLOCKED: "), "{words:?}: {said}");
    }
    held.let_go();
    for (words, twin) in [
        (["-q", "true"], ("LOCKED_VERBOSE", "1")),
        (["-v", "true"], ("LOCKED_QUIET", "1")),
        (["--wait=1m", "true"], ("LOCKED_NO_WAIT", "1")),
        (["--wait=1m", "true"], ("LOCKED_NO_WAIT", "0")),
    ] {
        ends(stage.locked(2).args(["-r", RESOURCE]).args(words).env(twin.0, twin.1), 0);
    }
    // What is typed must agree with itself.
    ends(stage.locked(2).args(["-n", "--wait", "1s", "true"]), 64);
    ends(stage.locked(2).args(["-q", "-v", "true"]), 64);
}

#[test]
fn a_typed_wait_waits_although_the_environment_says_not_to() {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", RESOURCE]);
    for words in [&["--wait", "1ms", "-r", RESOURCE, "true"][..], &["acquire", "--wait", "1ms", RESOURCE]] {
        let verbose = ends(stage.locked(2).args(words).env("LOCKED_NO_WAIT", "1"), 75);
        assert!(text(&verbose.stderr).starts_with("BLOCKED: "), "{words:?}");
    }
    let mut waits = stage.locked(2);
    waits.args(["--wait", "10m", "-r", RESOURCE, "sh", "-c", "echo up; cat"]).env("LOCKED_NO_WAIT", "1");
    let waiter = std::thread::spawn(move || crate::run::stage::Held::start(&mut waits));
    crate::run::stage::until("it waits in line", || (stage.status().first()?["waiters"] == 1).then_some(()));
    held.let_go();
    waiter.join().expect("granted").let_go();
}

#[test]
fn twins_that_contradict_each_other_are_no_mistake_of_the_command() {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", RESOURCE]);
    let mut command = stage.set(2, &[], "A", "1");
    ends(command.envs([("LOCKED_NO_WAIT", "1"), ("LOCKED_WAIT", "10m")]), 75);
    let mut command = stage.set(2, &[], "A", "1");
    let said = says(command.envs([("LOCKED_NO_WAIT", "1"), ("LOCKED_QUIET", "1"), ("LOCKED_VERBOSE", "1")]), 75);
    assert!(!said.contains("locked: "), "quiet: {said}");
    held.let_go();
}

#[test]
fn explain_shows_the_ttl_and_the_canary_that_a_run_would_have() {
    let stage = Stage::new();
    let sops = ["sops", "set", DOTENV[0], DOTENV[1], DOTENV[2], DOTENV[3], FILE, "[\"A\"]", "\"1\""];
    let said = silent(stage.locked(1).args(["--ttl", "5m", "--no-canary", "explain", "--"]).args(sops));
    assert!(said.contains("\nttl:      5m\n") && said.contains("\ncanary:   none\n"), "{said}");
    let said = silent(stage.locked(1).args(["-N"]).args(sops).env("LOCKED_TTL", "10m"));
    assert!(said.contains("\nttl:      10m\n") && said.contains("\ncanary:   sops\n"), "{said}");
    let said = silent(stage.locked(1).args(["explain", "--json", "--"]).args(sops).env("LOCKED_TTL", "2m"));
    let answer: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(answer["ttl_ms"], 120_000);
}
