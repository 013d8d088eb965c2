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
    // Whatever somebody has exported around it.
    let (_, named) = start(&bench, 3, &[("LOCKED_SESSION", &uuid(7)), ("P24_ENV_LOCK_SESSION_ID", &uuid(8))]);
    assert_eq!(variable(&bench, &named, "LOCKED_SESSION"), uuid(3));
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

/// Two `session_id`s are two sessions, whatever they inherit, and the end of one ends nothing of the other's or of who is around
/// both.
#[test]
fn the_end_of_one_session_is_nobody_elses() {
    let bench = Bench::new();
    bench.hurry();
    let edit = json!({"file_path": bench.path("db/roles.sql"), "new_string": "x"});
    let patch = json!({"command": "*** Begin Patch\n*** Update File: db/roles.sql\n@@\n-a\n+b\n*** End Patch\n"});
    let (claude, codex): ([&str; 2], [&str; 3]) = (["agents", "check"], ["agents", "check", "codex"]);
    let outer = uuid(9);
    for (name, args, tool, input, around) in [
        ("a person's variable", &claude[..], "Edit", &edit, vec![("LOCKED_SESSION", &outer)]),
        (
            "below another agent",
            &claude[..],
            "Edit",
            &edit,
            vec![("LOCKED_SESSION", &outer), ("LOCKED_AGENT_SESSION", &outer)],
        ),
        ("Codex below Claude", &codex[..], "apply_patch", &patch, vec![("CLAUDE_CODE_SESSION_ID", &outer)]),
        (
            "Codex below Claude that was told its session",
            &codex[..],
            "apply_patch",
            &patch,
            vec![("CLAUDE_CODE_SESSION_ID", &outer), ("LOCKED_SESSION", &outer), ("LOCKED_AGENT_SESSION", &outer)],
        ),
    ] {
        let mut command = bench.locked();
        ends(command.args(["acquire", "server:web-1"]).env("LOCKED_SESSION", &outer), 0);
        let says = |agent: u32, event: &str, tool: &str, input: &Value| {
            let mut command = bench.locked();
            command.args(args).envs(around.iter().copied());
            bench.says_of(&mut command, bench.call(agent, event, tool, input).to_string().as_bytes())
        };
        assert!(says(1, "PreToolUse", tool, input).is_some_and(|told| told["permissionDecision"].is_null()), "{name}");
        assert!(
            super::bench::denial(&says(2, "PreToolUse", tool, input).expect(name)).starts_with("BLOCKED: "),
            "{name}"
        );
        for (agent, left) in [(2, 2), (1, 1)] {
            assert_eq!(says(agent, "SessionEnd", "", &Value::Null), None);
            assert_eq!(bench.world.status().len(), left, "{name}: after the end of {agent}");
        }
        // Who is told no session ends none.
        let end = json!({"cwd": bench.root(), "hook_event_name": "SessionEnd"}).to_string();
        let mut command = bench.locked();
        command.args(args).env("LOCKED_SESSION", &outer);
        assert_eq!(bench.says_of(&mut command, end.as_bytes()), None);
        assert_eq!(bench.world.status().len(), 1, "{name}");
        let mut command = bench.locked();
        ends(command.args(["release", "server:web-1"]).env("LOCKED_SESSION", &outer), 0);
    }
}

/// What the commands of an agent hold under the session that they inherit is the agent's: it is not denied its own open edit.
#[test]
fn what_its_commands_hold_the_agent_holds() {
    let bench = Bench::new();
    let outer = uuid(9);
    let mut command = bench.locked();
    ends(command.args(["sops", "decrypt", "-i", "secrets/x.yaml"]).env("LOCKED_SESSION", &outer), 0);
    let edit = json!({"file_path": bench.path("secrets/x.yaml"), "new_string": "x"});
    let call = bench.call(1, "PreToolUse", "Edit", &edit).to_string();
    let mut command = bench.locked();
    command.args(["agents", "check"]).env("LOCKED_SESSION", &outer);
    assert_eq!(bench.says_of(&mut command, call.as_bytes()), None);
    // One whose commands were told their own session at its start has nothing to do with it.
    start(&bench, 1, &[("LOCKED_SESSION", &outer)]);
    let mut command = bench.locked();
    command.args(["agents", "check"]).env("LOCKED_SESSION", &outer);
    super::bench::denial(&bench.says_of(&mut command, call.as_bytes()).expect("denied"));
}

#[test]
fn a_file_of_variables_that_lacks_its_end_gets_it() {
    let bench = Bench::new();
    fs::write(bench.world.root().join("env-1"), "export FOO=1").expect("written");
    let (_, file) = start(&bench, 1, &[]);
    assert_eq!(variable(&bench, &file, "FOO"), "1");
    assert_eq!(variable(&bench, &file, "LOCKED_SESSION"), uuid(1));
}
