//! What stays when its command has gone: a hold that is renewed for as long as its agent lives.

use std::path::PathBuf;
use std::process::{Child, Stdio};

use super::stage::{Stage, good, status, until};

/// Who every command here is: what starts them is another process each time.
const SESSION: (&str, &str) = ("LOCKED_SESSION", "3f2a91c0-0000-4000-8000-000000000002");

/// An agent that has acquired the resource, and lives. It has read to the end what was said: nobody of ours holds its pipes.
fn agent(stage: &Stage, name: &str, ttl: &str) -> Child {
    let (file, locked) = (stage.at(name), env!("CARGO_BIN_EXE_locked"));
    let words = ["acquire", "--keep-alive", "--ttl", ttl, "server:db-1"];
    let mut command = stage.command(stage.at("bin/agent.exe"));
    let child =
        command.arg(&file).arg(locked).args(words).envs([SESSION]).stdout(Stdio::null()).spawn().expect("agent");
    until("the agent lives", || file.with_extension("there").exists());
    let said = std::fs::read_to_string(file.with_extension("said")).expect("said");
    assert!(said.contains("renewed in the background while agent ("), "{said}");
    child
}

fn keepers(stage: &Stage) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(stage.at("home/local/locked/keep")).into_iter().flatten();
    entries.map(|entry| entry.expect("entry").path()).collect()
}

#[test]
fn a_hold_is_renewed_while_its_agent_lives_and_given_back_when_it_ends() {
    let stage = Stage::new().with("agent");
    let mut agent = agent(&stage, "one", "12s");
    // What the keeper renews is for how long it lasts; when the session was heard of last stays as it was.
    let ends = || Some(&status(&stage)[0]).filter(|it| it["state"] == "held").and_then(|it| it["expires_at"].as_i64());
    let first = ends().expect("held");
    until("it is renewed", || ends().is_some_and(|now| now > first + 1_000));
    until("it is renewed for longer than it was acquired", || ends().is_some_and(|now| now > first + 12_000));
    agent.kill().expect("killed");
    agent.wait().expect("ended");
    until("it is given back", || status(&stage) == serde_json::json!([]));
    until("its keeper is gone", || keepers(&stage).is_empty());
}

#[test]
fn who_kept_it_before_leaves_when_another_keeps_it_or_it_is_released() {
    let stage = Stage::new().with("agent");
    let mut agents = vec![agent(&stage, "one", "30m"), agent(&stage, "two", "30m")];
    assert_eq!(keepers(&stage).len(), 1, "one keeper for one hold");
    good(&stage.locked(&["release", "server:db-1"]).envs([SESSION]).output().expect("locked runs"));
    until("its keeper is gone", || keepers(&stage).is_empty());
    for agent in &mut agents {
        agent.kill().expect("killed");
        agent.wait().expect("ended");
    }
}
