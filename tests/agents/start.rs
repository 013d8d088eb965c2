//! Beginning and end of an agent's session: who it is, who else is there, and which programs its commands find.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::bench::{Bench, ends, text};
use crate::world::board::uuid;

/// The start of an agent's session, with the file for its variables; what it is told.
fn start(bench: &Bench, agent: u32, around: &[(&str, &str)]) -> (String, PathBuf) {
    let file = bench.world.root().join(format!("env-{agent}"));
    let call =
        json!({"session_id": uuid(agent), "cwd": bench.root(), "hook_event_name": "SessionStart", "source": "startup"});
    let mut command = bench.locked();
    command.args(["agents", "check"]).env("CLAUDE_ENV_FILE", &file).envs(around.iter().copied());
    let answer = bench.says_of(&mut command, call.to_string().as_bytes()).expect("an answer");
    assert_eq!(answer["hookEventName"], "SessionStart");
    (answer["additionalContext"].as_str().expect("a text").to_owned(), file)
}

/// What a command of the agent finds in its environment.
fn variable(bench: &Bench, file: &PathBuf, name: &str) -> String {
    let mut command = bench.command("sh");
    command.args(["-c", &format!(". \"$1\" && printf %s \"${name}\""), "sh"]).arg(file);
    text(&ends(&mut command, 0).stdout)
}

#[test]
fn a_session_is_named_for_its_commands_and_told_who_is_there() {
    let bench = Bench::new();
    let (told, file) = start(&bench, 1, &[]);
    assert!(told.contains("Nobody else is active.") && told.contains("locked session begin"), "{told}");
    assert!(!bench.world.state().join("locked.db").exists(), "who only looks makes no store");
    assert_eq!(variable(&bench, &file, "LOCKED_SESSION"), uuid(1));
    bench.passes(1, "Edit", &json!({"file_path": bench.path("db/roles.sql"), "new_string": "x"}));
    let (told, _) = start(&bench, 2, &[]);
    assert!(told.contains("zone:DB_GRANTS") && told.contains("This session is "), "{told}");
    assert!(told.lines().count() <= 8, "{told}");
    bench.end(1);
    assert!(bench.world.status().is_empty());
}

/// An agent that another one has started inherits its variables, and is a session of its own all the same.
#[test]
fn an_agent_below_another_one_is_another_session() {
    let bench = Bench::new();
    bench.hurry();
    let (_, file) = start(&bench, 1, &[]);
    let [session, of] = ["LOCKED_SESSION", "LOCKED_AGENT_SESSION"].map(|name| (name, variable(&bench, &file, name)));
    let around = [(session.0, session.1.as_str()), (of.0, of.1.as_str())];
    let (_, below) = start(&bench, 2, &around);
    assert_eq!(variable(&bench, &below, "LOCKED_SESSION"), uuid(2));
    // One that a person has named keeps its name.
    let (_, named) = start(&bench, 3, &[("LOCKED_SESSION", &uuid(7))]);
    assert_eq!(variable(&bench, &named, "LOCKED_SESSION"), uuid(7));
    let edit = json!({"file_path": bench.path("db/roles.sql"), "new_string": "x"});
    bench.passes(1, "Edit", &edit);
    let mut command = bench.locked();
    command.args(["agents", "check"]).envs(around);
    let answer = bench.says_of(&mut command, bench.call(2, "PreToolUse", "Edit", &edit).to_string().as_bytes());
    assert!(super::bench::denial(&answer.expect("denied")).starts_with("BLOCKED: "));
    let mut command = bench.locked();
    command.args(["agents", "check"]).envs(around);
    assert_eq!(bench.says_of(&mut command, bench.call(1, "PreToolUse", "Edit", &edit).to_string().as_bytes()), None);
}

#[test]
fn where_a_shim_stands_in_front_the_line_passes_and_no_lease_is_taken() {
    let bench = Bench::new();
    let write = json!({"command": "sops set secrets/x.yaml '[\"A\"]' '\"2\"'"});
    assert!(bench.denied(1, "Bash", &write).contains("locked sops set"));
    ends(bench.locked().args(["shims", "install", "sops"]), 0);
    assert!(bench.denied(1, "Bash", &write).contains("locked sops set"), "they are not on PATH");
    let shims = bench.world.root().join("shims");
    let first = format!("{}:{}", shims.display(), std::env::var("PATH").expect("PATH"));
    let asked = |line: &Value, path: Option<&str>| {
        let mut command = bench.locked();
        command.args(["agents", "check"]).envs(path.map(|path| ("PATH", path)));
        bench.says_of(&mut command, bench.call(1, "PreToolUse", "Bash", line).to_string().as_bytes())
    };
    assert_eq!(asked(&write, Some(&first)), None);
    // Its own PATH, its full path, another user: nobody sees these.
    for line in [
        "PATH=/opt/tools sops rotate -i secrets/x.yaml",
        "/usr/local/bin/sops rotate -i secrets/x.yaml",
        "sudo sops rotate -i secrets/x.yaml",
        "docker compose -p web restart",
    ] {
        assert!(asked(&json!({"command": line}), Some(&first)).is_some(), "{line}");
    }
    for line in ["env A=1 sops rotate -i secrets/x.yaml", "sh -c 'sops rotate -i secrets/x.yaml'"] {
        assert_eq!(asked(&json!({"command": line}), Some(&first)), None, "{line}");
    }
    // From the start of the session they are first on the PATH of its commands, wherever its own has them.
    let (_, file) = start(&bench, 1, &[]);
    assert!(variable(&bench, &file, "PATH").starts_with(&format!("{}:", shims.display())));
    assert_eq!(asked(&write, None), None);
    assert!(bench.world.status().is_empty(), "the shim takes the lease, and nobody before it");
    let mut command = bench.command("sh");
    command.args(["-c", &format!(". \"$1\" && {}", write["command"].as_str().expect("a line")), "sh"]).arg(&file);
    ends(&mut command, 0);
    assert!(bench.world.decrypted(&bench.path("secrets/x.yaml"), "yaml").starts_with("A: \"2\""));
    assert_eq!(bench.world.history().len(), 1, "under a lease");
    bench.end(1);
    let noted = fs::read_dir(bench.world.state().join("agents")).expect("notes").count();
    assert_eq!(noted, 0, "the end forgets it");
}
