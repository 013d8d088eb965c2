//! `--force --reason TEXT`: answers an unreachable store and nothing else; the ledger learns of it later, once.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::world::World;

use super::stage::{FILE, Held, RESOURCE, Stage, bounded, child_of, ends, in_front, json_in, kill, lives, says, so};

const FORCE: [&str; 3] = ["--force", "--reason", "night fix"];

/// The store's file cannot be opened until [`back`].
fn down(stage: &Stage) {
    fs::create_dir(stage.world.state().join("locked.db")).expect("in the way");
}

fn back(stage: &Stage) {
    fs::remove_dir(stage.world.state().join("locked.db")).expect("out of the way");
}

fn spooled(stage: &Stage) -> Vec<PathBuf> {
    let entries = fs::read_dir(stage.world.state().join("spool")).into_iter().flatten();
    entries.map(|entry| entry.expect("entry").path()).collect()
}

#[test]
fn a_forced_write_is_proven_and_the_ledger_learns_of_it() {
    let stage = Stage::with_file();
    down(&stage);
    ends(&mut stage.set(1, &[], "c", "hunter2"), 69);
    let options = [&FORCE[..], &["--report", "r.json"]].concat();
    let said = says(&mut stage.set(1, &options, "c", "hunter2"), 0);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("sops:app runs without a lease, by force (night fix)"), "{said}");
    assert!(stage.world.decrypted(&stage.file(), "yaml").contains("c: hunter2"));
    let told = json_in(&stage.world.work().join("r.json"));
    assert_eq!(
        (&told["forced"], &told["ended"], &told["files"][0]["verdict"]),
        (&"night fix".into(), &"forced".into(), &"sound".into())
    );
    let entries = spooled(&stage);
    assert_eq!(entries.len(), 1);
    assert_eq!(fs::metadata(&entries[0]).expect("entry").permissions().mode() & 0o777, 0o600);
    assert!(!fs::read_to_string(&entries[0]).expect("entry").contains("hunter2"));
    back(&stage);
    ends(&mut stage.set(2, &[], "d", "v"), 0);
    assert!(spooled(&stage).is_empty());
    let history = stage.history();
    let forced = history.iter().find(|row| row["note"] == "forced: night fix").expect("told");
    assert_eq!((&forced["ended_as"], &forced["holder"]), (&"completed".into(), &"01010101".into()));
    assert!(forced["receipt"].is_string());
    assert_eq!(history.len(), 2);
}

#[test]
fn a_reason_is_needed_and_neither_is_inherited() {
    let stage = Stage::bare();
    for options in
        [&["--force"][..], &["--reason", "x"], &["--force", "--reason", " "], &["--force", "--reason", "a\nb"]]
    {
        ends(&mut stage.shell(1, options, "echo ran > ran"), 64);
    }
    down(&stage);
    ends(stage.shell(1, &[], "echo ran > ran").env("LOCKED_FORCE", "1").env("LOCKED_REASON", "x"), 69);
    assert!(!stage.world.work().join("ran").exists());
}

#[test]
fn a_holder_a_quarantine_and_wrong_options_are_not_forced() {
    let stage = Stage::with_file();
    let held = Held::start(&mut stage.shell(1, &[], "echo up; cat"));
    let options = [&FORCE[..], &["-n"]].concat();
    ends(&mut stage.shell(2, &options, "echo ran > ran"), 75);
    held.let_go();
    let breaks = stage.world.script("sops", ": > secrets/app.yaml");
    ends(stage.set(1, &[], "c", "v").env("PATH", in_front(&breaks)), 72);
    ends(&mut stage.set(2, &FORCE, "c", "v"), 72);
    let options = [&FORCE[..], &["--ttl", "1s", "--heartbeat", "5s"]].concat();
    ends(&mut stage.shell(2, &options, "echo ran > ran"), 64);
    ends(stage.shell(2, &FORCE, "echo ran > ran").env("LOCKED_STORE", "nonsense"), 78);
    let said = says(&mut stage.shell(2, &FORCE, "exit 5"), 5);
    assert_eq!(said, "", "a store that answers needs no force");
    assert!(!stage.world.work().join("ran").exists());
}

#[test]
fn without_a_state_directory_it_runs_and_says_that_nothing_is_recorded() {
    let stage = Stage::with_file();
    let mut command = stage.set(1, &FORCE, "c", "v");
    let said = says(command.env("LOCKED_STATE_DIR", "/dev/null/state"), 0);
    assert!(said.contains("nothing could be recorded"), "{said}");
    assert_eq!(fs::read_dir(stage.world.root().join("tmp")).expect("tmp").count(), 0, "the stand-in is gone");
    let breaks = stage.world.script("sops", ": > secrets/app.yaml");
    let mut command = stage.set(1, &FORCE, "d", "v");
    let said = says(command.env("LOCKED_STATE_DIR", "/dev/null/state").env("PATH", in_front(&breaks)), 72);
    assert!(said.contains("how the file was before is kept below"), "{said}");
}

#[test]
fn a_bad_forced_write_is_quarantined_when_the_store_is_back() {
    let stage = Stage::with_file();
    down(&stage);
    let breaks = stage.world.script("sops", ": > secrets/app.yaml");
    ends(stage.set(1, &FORCE, "c", "v").env("PATH", in_front(&breaks)), 72);
    back(&stage);
    let said = says(&mut stage.set(2, &[], "c", "v"), 72);
    assert!(said.contains("QUARANTINED") && said.contains("forced: night fix"), "{said}");
    ends(stage.locked(1).args(["restore", FILE]), 0);
    ends(&mut stage.set(2, &[], "c", "v"), 0);
}

#[test]
fn a_failed_forced_run_keeps_nothing() {
    let stage = Stage::bare();
    down(&stage);
    let options = [&FORCE[..], &["--keep"]].concat();
    ends(&mut stage.shell(1, &options, "exit 9"), 9);
    back(&stage);
    assert!(stage.status().is_empty());
    assert_eq!(stage.history()[0]["ended_as"], "failed");
}

#[test]
fn a_forced_run_has_its_keeper_and_outlives_the_ttl() {
    let stage = Stage::bare();
    down(&stage);
    let options = [&FORCE[..], &["--ttl", "1s"]].concat();
    let script = "echo up; cat; test -z \"$LOCKED_RESOURCES$LOCKED_TOKENS\"";
    let run = Held::start(&mut stage.shell(1, &options, script));
    // Its own store is down; another one has a clock. A lease that is as short and younger runs out twice.
    let other = World::new();
    for resource in ["test:a", "test:b"] {
        ends(other.locked_as(2).args(["--ttl", "1s", "acquire", resource]), 0);
        other.has_expired(resource);
    }
    run.let_go();
    let run = Held::start(&mut stage.shell(1, &FORCE, "echo $$; exec sleep 600"));
    let (keeper, child) = (child_of(run.pid()), run.line.parse().expect("a process id"));
    kill(run.pid());
    so("the keeper ends", || !lives(keeper));
    assert!(!lives(child));
    back(&stage);
    assert_eq!(stage.history().len(), 2, "told by the verb itself");
    assert_eq!(stage.history()[0]["ended_as"], "failed");
}

#[test]
fn a_forced_run_is_told_only_when_it_has_ended() {
    let stage = Stage::bare();
    down(&stage);
    let run = Held::start(&mut stage.shell(1, &FORCE, "echo up; cat"));
    back(&stage);
    assert!(stage.history().is_empty());
    assert_eq!(spooled(&stage).len(), 1);
    run.let_go();
    assert_eq!(stage.history()[0]["ended_as"], "completed");
}

#[test]
fn what_a_crashed_forced_run_left_is_proven_by_the_next() {
    let stage = Stage::with_file();
    down(&stage);
    let writes = stage.world.script("sops", "echo broken > secrets/app.yaml; echo up; exec sleep 600");
    let run = Held::start(stage.set(1, &FORCE, "c", "v").env("PATH", in_front(&writes)));
    let keeper = child_of(run.pid());
    let child = child_of(keeper);
    kill(keeper);
    kill(run.pid());
    so("the child dies with its keeper", || !lives(child));
    back(&stage);
    let (status, said) = bounded(&mut stage.set(2, &[], "c", "v"));
    assert_eq!(status, Some(72), "{said}");
}

#[test]
fn twenty_who_tell_at_once_tell_each_run_once() {
    let stage = Stage::bare();
    down(&stage);
    for _run in 0..5 {
        ends(&mut stage.shell(1, &FORCE, "true"), 0);
    }
    assert_eq!(spooled(&stage).len(), 5);
    back(&stage);
    let tellers: Vec<_> = (0..20)
        .map(|_| {
            let mut command: Command = stage.world.locked();
            command.args(["status", RESOURCE]).stdout(Stdio::null()).spawn().expect("it starts")
        })
        .collect();
    for mut teller in tellers {
        assert!(teller.wait().expect("waited").success());
    }
    assert!(spooled(&stage).is_empty());
    assert_eq!(stage.history().len(), 5);
}

/// A forced run of a program whose effect does not stop with its processes.
fn forced_beyond(stage: &Stage) -> Held {
    let mut command = stage.locked(1);
    let sudo = in_front(&stage.world.script("sudo", "exec \"$@\""));
    command.env("PATH", sudo).args(FORCE).args(["--ttl", "1h", "-r", RESOURCE]);
    Held::start(command.args(["sudo", "sh", "-c", "echo up; exec sleep 600"]))
}

#[test]
fn what_a_stopped_forced_run_may_still_do_keeps_everybody_out_for_its_ttl() {
    let stage = Stage::bare();
    down(&stage);
    let run = forced_beyond(&stage);
    let keeper = child_of(run.pid());
    kill(run.pid());
    so("the keeper ends", || !lives(keeper));
    back(&stage);
    for session in [1, 2] {
        let said = says(&mut stage.shell(session, &["-n"], "true"), 75);
        assert!(said.contains("its effect may still be running elsewhere"), "{said}");
    }
    assert_eq!(stage.status()[0]["state"], "remote");
}

#[test]
fn what_a_killed_forced_run_may_still_do_keeps_everybody_out_for_its_ttl() {
    let stage = Stage::bare();
    down(&stage);
    let run = forced_beyond(&stage);
    let keeper = child_of(run.pid());
    let child = child_of(keeper);
    kill(keeper);
    kill(run.pid());
    so("the child dies with its keeper", || !lives(child));
    back(&stage);
    let said = says(&mut stage.shell(2, &["-n"], "true"), 75);
    assert!(said.contains("its effect may still be running elsewhere"), "{said}");
    assert_eq!(stage.status()[0]["state"], "remote");
}
