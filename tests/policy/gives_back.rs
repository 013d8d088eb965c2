//! `give_back`: a command that runs on for ever holds its lease while it starts, and then runs on without it.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::stage::{Held, RESOURCE, Stage, ends, says, so, text};
use crate::world::board::ends_at;
use crate::world::processes::{child_of, children, kill, lives};

/// Says its process id, stays until it is let go, says what it was told, and fails.
const UP: &str = "echo $$; cat; echo \"$LOCKED_RESOURCES $LOCKED_TOKENS\" > told; exit 5";
const SOON: &str = "give_back = '100ms'\nttl = '1s'";

/// It runs, and has given its lease back.
fn loose(stage: &Stage, options: &[&str]) -> (Held, u32) {
    let held = Held::start(&mut stage.deploy_with(1, SOON, options));
    so("the lease is given back", || stage.lease().is_none());
    let child = held.line.parse().expect("pid");
    (held, child)
}

/// Somebody else has it, for longer than the first one could have without a renew.
fn another(stage: &Stage) -> Held {
    let mut command = stage.world.locked_as(2);
    let held = Held::start(command.args(["--ttl", "2s", "-n", "-r", RESOURCE, "sh", "-c", "echo up; cat"]));
    stage.world.is_renewed_for(RESOURCE, Duration::from_secs(2));
    held
}

#[test]
fn it_runs_on_while_others_have_the_lease_and_nothing_is_settled_twice() {
    let stage = Stage::with(UP);
    let (held, child) = loose(&stage, &[]);
    let other = another(&stage);
    assert!(lives(child), "no deadline stops it");
    let output = held.finish();
    assert_eq!(output.status.code(), Some(5), "the exit status is the program's");
    assert_eq!(text(&output.stderr), "", "a failure then is no failure under a lease");
    let told = fs::read_to_string(stage.world.work().join("told")).expect("told");
    assert!(told.starts_with(&format!("{RESOURCE} ")) && told.trim().len() > RESOURCE.len() + 5, "{told}");
    assert_eq!(stage.lease().expect("the other's")["state"], "held");
    assert_eq!(stage.endings(), ["completed"]);
    other.let_go();
}

#[test]
fn until_then_it_is_held_as_ever() {
    let stage = Stage::with(UP);
    let held = Held::start(&mut stage.deploy(1, "give_back = '1h'"));
    assert!(says(&mut stage.others_try(), 75).starts_with("BLOCKED: "));
    let output = held.finish();
    assert!(text(&output.stderr).starts_with("locked: the command failed; "), "it failed under its lease");
    assert_eq!(stage.lease().expect("kept")["state"], "kept");
}

#[test]
fn the_report_and_the_voice_say_so() {
    let stage = Stage::with(UP);
    let (held, _) = loose(&stage, &["-v", "--report", "r.json"]);
    let output = held.finish();
    let said = text(&output.stderr);
    assert!(said.contains(&format!("locked: {RESOURCE} given back; the program runs on without it")), "{said}");
    let told = fs::read_to_string(stage.world.work().join("r.json")).expect("written");
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["ended"], "released", "{told}");
    assert_eq!(told["reason"], "it was given back while the program ran on", "{told}");
    assert_eq!(told["exit"]["code"], 5, "{told}");
}

#[test]
fn whoever_of_us_dies_then_nobody_s_lease_is_touched() {
    let stage = Stage::with(UP);
    let (held, child) = loose(&stage, &[]);
    let other = another(&stage);
    kill(held.pid());
    assert_eq!(held.ended().status.code(), None);
    so("the program ends with its wrapper", || !lives(child));
    let (held, child) = {
        other.let_go();
        loose(&stage, &[])
    };
    let other = another(&stage);
    let keeper = child_of(held.pid());
    assert!(children(keeper).contains(&child));
    kill(keeper);
    let output = held.ended();
    assert_eq!(output.status.code(), None, "killed, as the program was");
    let said = text(&output.stderr);
    let expected = format!("locked: the keeper died, and the program with it; {RESOURCE} had been given back before\n");
    assert_eq!(said, expected);
    assert!(!lives(child));
    assert_eq!(stage.lease().expect("the other's")["state"], "held");
    assert_eq!(stage.endings(), ["completed"; 3]);
    other.let_go();
}

/// Milliseconds since boot: the embedded store's clock.
fn since_boot() -> i64 {
    let uptime = fs::read_to_string("/proc/uptime").expect("uptime");
    let seconds: f64 = uptime.split(' ').next().expect("seconds").parse().expect("number");
    #[expect(clippy::cast_possible_truncation, reason = "an uptime in milliseconds fits")]
    let ms = (seconds * 1000.0) as i64;
    ms
}

#[test]
fn a_store_that_cannot_be_told_is_told_when_it_can_and_the_command_runs_on() {
    let stage = Stage::with(UP);
    let terms = "give_back = '500ms'\nttl = '60s'";
    let held = Held::start(&mut stage.deploy_with(1, terms, &["--heartbeat", "1s"]));
    let child: u32 = held.line.parse().expect("pid");
    let database = stage.world.database();
    database.execute_batch("begin immediate").expect("nobody else writes");
    // Granted for 11 s, so without a renew its deadline is at 2 s; the give-back is due before.
    let end = ends_at(&database, RESOURCE);
    so("the deadline has passed by far", || since_boot() > end - 7_500);
    assert!(lives(child), "no deadline stops it");
    database.execute_batch("rollback").expect("others may write");
    so("the lease is given back", || stage.lease().is_none());
    assert_eq!(held.finish().status.code(), Some(5));
    assert_eq!(stage.endings(), ["completed"]);
}

#[test]
fn a_store_that_is_never_told_does_not_stop_it_either() {
    let stage = Stage::with(UP);
    let held = Held::start(&mut stage.deploy(1, "give_back = '100ms'\nttl = '3s'"));
    let child: u32 = held.line.parse().expect("pid");
    let database = stage.world.database();
    database.execute_batch("begin immediate").expect("nobody else writes");
    let end = ends_at(&database, RESOURCE);
    so("the lease has ended", || since_boot() > end);
    assert!(lives(child));
    database.execute_batch("rollback").expect("others may write");
    ends(&mut stage.others_try(), 0);
    let output = held.finish();
    assert_eq!(output.status.code(), Some(5));
    assert!(!text(&output.stderr).contains("LOST"), "{}", text(&output.stderr));
}

#[test]
fn what_was_named_by_hand_is_held_for_as_long_as_the_command_runs() {
    let stage = Stage::with(UP);
    let held = Held::start(&mut stage.deploy_with(1, SOON, &["-r", "zone:Z"]));
    stage.world.is_renewed_for(RESOURCE, Duration::from_secs(2));
    assert_eq!(stage.world.status().len(), 2);
    drop(held);
}

#[test]
fn a_command_below_it_takes_a_lease_of_its_own() {
    let inner = format!("echo $$; cat > /dev/null; \"{}\" -n -r {RESOURCE} true", env!("CARGO_BIN_EXE_locked"));
    let stage = Stage::with(&inner);
    let (held, _) = loose(&stage, &[]);
    held.let_go();
    assert_eq!(stage.endings(), ["completed"; 2]);
    let (held, _) = loose(&stage, &[]);
    let other = another(&stage);
    let output = held.finish();
    assert_eq!(output.status.code(), Some(75), "what was given back lets nobody in below: {}", text(&output.stderr));
    other.let_go();
}

#[test]
fn a_stopped_command_does_not_give_back() {
    let stage = Stage::with("kill -STOP $$; echo up; cat");
    let mut command: Command = stage.deploy(1, SOON);
    let run = command.stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    so("it is held", || stage.lease().is_some());
    stage.world.is_renewed_for(RESOURCE, Duration::from_millis(500));
    // A job that is stopped for longer than its TTL is ended for good, as ever.
    so("it is stopped for good", || !lives(run.id()) || crate::world::processes::is_halted(run.id()));
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(77));
}
