//! `--report FILE`: the whole outcome as JSON, at every way out.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::stage::{FILE, Held, RESOURCE, Stage, child_of, ends, in_front, json_in, kill, lives, says, so};

/// The report of a run that is given `--report r.json` and must exit so.
#[track_caller]
fn reported(stage: &Stage, command: &mut std::process::Command, status: i32) -> Value {
    let file = stage.world.work().join("r.json");
    let _there_may_be_none = fs::remove_file(&file);
    ends(command, status);
    json_in(&file)
}

const REPORT: [&str; 2] = ["--report", "r.json"];

#[test]
fn a_write_is_told_whole_and_without_its_value() {
    let stage = Stage::with_file();
    let told = reported(&stage, &mut stage.set(1, &REPORT, "c", "hunter2"), 0);
    assert_eq!(told["decision"], "lock");
    assert_eq!(told["rule"], "sops.set");
    assert_eq!(told["operation"], format!("sops set {FILE}"));
    assert!(told["program"].as_str().expect("program").ends_with("/sops"));
    assert_eq!(told["resources"][0]["resource"], "sops:app");
    assert!(told["resources"][0]["token"].as_i64().expect("token") > 0);
    assert_eq!(
        (&told["exit"], &told["ended"], &told["reason"]),
        (&json!({"code": 0}), &json!("released"), &Value::Null)
    );
    assert_eq!(told["files"][0]["verdict"], "sound");
    assert!(told["waited_ms"].is_u64() && told["held_ms"].is_u64());
    assert!(!told.to_string().contains("hunter2"));
    let mode = fs::metadata(stage.world.work().join("r.json")).expect("report").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_read_is_told_before_the_program_takes_our_place() {
    let stage = Stage::with_file();
    let told = reported(&stage, stage.locked(1).args(REPORT).args(["sops", "decrypt", FILE]), 0);
    assert_eq!((&told["decision"], &told["exit"], &told["ended"]), (&json!("pass"), &Value::Null, &Value::Null));
    assert_eq!(told["operation"], format!("sops decrypt {FILE}"));
    assert_eq!(told["resources"], json!([]));
}

#[test]
fn a_failed_command_is_kept_and_a_signal_is_told_as_one() {
    let stage = Stage::bare();
    let told = reported(&stage, &mut stage.shell(1, &["--keep", "--report", "r.json"], "exit 7"), 7);
    assert_eq!((&told["exit"], &told["ended"]), (&json!({"code": 7}), &json!("kept")));
    assert_eq!(told["reason"], "it failed with status 7");
    let file = stage.world.work().join("r.json");
    stage.shell(1, &REPORT, "kill -USR1 $$").status().expect("it runs");
    assert_eq!(json_in(&file)["exit"], json!({"signal": 10}));
}

#[test]
fn a_bad_file_and_the_refusal_after_it_are_told() {
    let stage = Stage::with_file();
    let breaks =
        stage.world.script("sops", "for w in \"$@\"; do [ \"$w\" = decrypt ] && exit 128; done; : > secrets/app.yaml");
    let mut command = stage.set(1, &REPORT, "c", "v");
    let told = reported(&stage, command.env("PATH", in_front(&breaks)), 72);
    assert_eq!((&told["ended"], &told["files"][0]["verdict"]), (&json!("quarantined"), &json!("bad")));
    assert_eq!(told["exit"], json!({"code": 72}));
    let told = reported(&stage, &mut stage.set(2, &REPORT, "c", "v"), 72);
    assert_eq!((&told["decision"], &told["ended"]), (&json!("refuse"), &Value::Null));
    assert_eq!(told["holders"][0]["state"], "quarantined");
    assert!(told["reason"].as_str().expect("reason").contains("must not be written"));
}

#[test]
fn a_busy_resource_is_told_with_who_has_it() {
    let stage = Stage::bare();
    let held = Held::start(&mut stage.shell(1, &["--operation", "deploy"], "echo up; cat"));
    let told = reported(&stage, &mut stage.shell(2, &["-n", "--report", "r.json"], "true"), 75);
    assert_eq!((&told["decision"], &told["exit"]), (&json!("refuse"), &json!({"code": 75})));
    let holder = &told["holders"][0];
    assert_eq!((&holder["resource"], &holder["holder"]), (&json!(RESOURCE), &json!("01010101")));
    assert_eq!((&holder["operation"], &holder["state"]), (&json!("deploy"), &json!("held")));
    held.let_go();
}

#[test]
fn a_store_of_no_known_kind_and_times_that_do_not_fit_are_told() {
    let stage = Stage::bare();
    let mut command = stage.shell(1, &REPORT, "true");
    let told = reported(&stage, command.env("LOCKED_STORE", "mysql://u:hunter2@nowhere/x"), 78);
    assert_eq!((&told["decision"], &told["exit"]), (&json!("refuse"), &json!({"code": 78})));
    assert!(told["reason"].as_str().expect("reason").contains("LOCKED_STORE names mysql:"));
    assert!(!told.to_string().contains("hunter2"));
    let told =
        reported(&stage, &mut stage.shell(1, &["--ttl", "1s", "--heartbeat", "5s", "--report", "r.json"], ":"), 64);
    assert_eq!((&told["decision"], &told["exit"]), (&json!("refuse"), &json!({"code": 64})));
    assert!(told["reason"].as_str().expect("reason").contains("heartbeat"));
    let told =
        reported(&stage, stage.locked(1).env("PATH", "/usr/bin").args(REPORT).arg("no-such-program-anywhere"), 127);
    assert_eq!(told["exit"], json!({"code": 127}));
}

#[test]
fn a_lost_lease_is_told_as_lost() {
    let stage = Stage::bare();
    let run = Held::start(&mut stage.shell(1, &["--ttl", "2s", "--report", "r.json"], "echo up; exec sleep 600"));
    stage.steal_all();
    assert_eq!(run.ended().status.code(), Some(77));
    let told = json_in(&stage.world.work().join("r.json"));
    assert_eq!((&told["ended"], &told["exit"]), (&json!("lost"), &json!({"code": 77})));
    assert_eq!(told["reason"], "the lease is not ours any more");
}

#[test]
fn the_keeper_tells_when_the_wrapper_was_killed() {
    let stage = Stage::bare();
    let run = Held::start(&mut stage.shell(1, &REPORT, "echo up; exec sleep 600"));
    let keeper = child_of(run.pid());
    kill(run.pid());
    so("the keeper has ended", || !lives(keeper));
    let told = json_in(&stage.world.work().join("r.json"));
    assert_eq!((&told["decision"], &told["exit"]), (&json!("lock"), &Value::Null));
    assert_eq!((&told["ended"], &told["reason"]), (&json!("lost"), &json!("the lease lost its wrapper")));
    assert!(told["resources"][0]["token"].is_i64());
}

#[test]
fn a_report_that_cannot_be_written_is_said_and_changes_nothing() {
    let stage = Stage::bare();
    for place in ["missing/r.json", "/dev/null", "."] {
        let said = says(&mut stage.shell(1, &["--report", place], "exit 3"), 3);
        assert!(said.contains("the report cannot be written to"), "{place}: {said}");
    }
    assert!(!fs::metadata("/dev/null").expect("still there").is_file());
    assert!(stage.status().is_empty());
}
