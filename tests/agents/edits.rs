//! Files between commands: who may write them with a tool of his own, and when.
#![forbid(unsafe_code)]

use std::fs;

use serde_json::json;

use super::bench::{Bench, ends, says, text};
use crate::world::board::uuid;
use crate::world::ends::so;

#[test]
fn plaintext_is_edited_by_the_session_that_opened_it_and_by_nobody_else() {
    let bench = Bench::new();
    let edit = json!({"file_path": bench.path("secrets/x.yaml"), "old_string": "one", "new_string": "three"});
    let why = bench.denied(1, "Edit", &edit);
    assert!(why.contains("locked sops decrypt -i secrets/x.yaml"), "{why}");
    ends(bench.locked_by(1).args(["sops", "decrypt", "-i", "secrets/x.yaml"]), 0);
    assert_eq!(bench.passes(1, "Edit", &edit), "");
    let why = bench.denied(2, "Edit", &edit);
    assert!(why.contains("sops:x is held by") && why.contains("(claude@"), "{why}");
    bench.write("secrets/x.yaml", &bench.read("secrets/x.yaml").replace("one", "three"));
    // The end of a session leaves no plaintext to the next one; the rest is given back.
    bench.passes(1, "Edit", &json!({"file_path": bench.path("db/roles.sql"), "new_string": "x"}));
    ends(bench.locked_by(1).args(["acquire", "server:web-1"]), 0);
    assert_eq!(bench.world.status().len(), 3);
    bench.end(1);
    let held = bench.world.status();
    assert_eq!(held.iter().map(|it| &it["resource"]).collect::<Vec<_>>(), ["sops:x"], "an open edit is not given back");
    assert_eq!(held[0]["state"], "quarantined", "nobody is left who would close it");
    assert!(bench.denied(2, "Edit", &edit).starts_with("QUARANTINED: secrets/x.yaml: "));
    let mut sops = bench.command("sops");
    ends(sops.args(["encrypt", "-i", "secrets/x.yaml"]), 0);
    ends(bench.locked_by(2).args(["restore", "--accept", "secrets/x.yaml"]), 0);
    assert_eq!(bench.world.decrypted(&bench.path("secrets/x.yaml"), "yaml"), "A: three\nB: two\n");
    assert!(bench.denied(1, "Edit", &edit).contains("is encrypted"));
    assert!(bench.world.status().is_empty());
}

#[test]
fn a_new_file_is_written_under_its_lease_and_encrypted() {
    let bench = Bench::new();
    let write = json!({"file_path": bench.path("secrets/new.yaml"), "content": "A: 1\n"});
    let why = bench.denied(1, "Write", &write);
    let steps: Vec<&str> =
        why.lines().last().and_then(|line| line.strip_prefix("next:  ")).expect("a step").split(", ").collect();
    let [acquire, "write it", encrypt, release] = steps.as_slice() else { panic!("{why}") };
    let run = |line: &str| {
        let words: Vec<&str> = line.trim_matches('`').split(' ').collect();
        assert_eq!(words[0], "locked");
        ends(bench.locked_by(1).args(&words[1..]), 0);
    };
    run(acquire);
    assert!(bench.denied(2, "Write", &write).contains("sops:new is held by"));
    assert_eq!(bench.passes(1, "Write", &write), "");
    bench.write("secrets/new.yaml", "A: 1\n");
    assert_eq!(bench.passes(1, "Edit", &json!({"file_path": bench.path("secrets/new.yaml"), "new_string": "x"})), "");
    run(encrypt);
    run(release);
    assert!(bench.world.status().is_empty());
    assert_eq!(bench.world.decrypted(&bench.path("secrets/new.yaml"), "yaml"), "A: \"1\"\n".replace('"', ""));
}

#[test]
fn ciphertext_that_is_whole_may_be_written_by_who_holds_it() {
    let bench = Bench::new();
    let content = bench.read("secrets/x.yaml");
    let write = json!({"file_path": bench.path("secrets/x.yaml"), "content": content});
    bench.denied(1, "Write", &write);
    ends(bench.locked_by(1).args(["acquire", "sops:x"]), 0);
    assert_eq!(bench.passes(1, "Write", &write), "");
    let cut = json!({"file_path": bench.path("secrets/x.yaml"), "content": &content[..content.len() / 2]});
    assert!(bench.denied(1, "Write", &cut).contains("is encrypted"));
}

#[test]
fn a_zone_is_one_agents_until_it_gives_it_back_or_ends() {
    let bench = Bench::new();
    bench.hurry();
    let edit = json!({"file_path": bench.path("db/roles.sql"), "old_string": "a", "new_string": "b"});
    assert!(bench.passes(1, "Edit", &edit).contains("holds zone:DB_GRANTS"));
    assert_eq!(bench.passes(1, "Edit", &edit), "", "it is told once");
    let why = bench.denied(2, "Edit", &edit);
    assert!(why.starts_with("BLOCKED: zone:DB_GRANTS is held by ") && why.contains("Edit db/roles.sql"), "{why}");
    let line = json!({"command": "sed -i s/a/b/ db/roles.sql"});
    assert_eq!(bench.passes(1, "Bash", &line), "");
    assert!(bench.denied(2, "Bash", &line).starts_with("BLOCKED: "));
    // What others have to say about it is told with the next edit.
    let ping = ["status", "--ping", "zone:DB_GRANTS", "--message", "I need it for the release"];
    ends(bench.locked_by(2).args(ping), 0);
    let told = bench.passes(1, "Edit", &edit);
    assert!(told.contains("about zone:DB_GRANTS") && told.ends_with(": I need it for the release"), "{told}");
    // Under a command of its own session it may write as well.
    ends(bench.locked_by(1).args(["release", "zone:DB_GRANTS"]), 0);
    assert!(bench.passes(2, "Edit", &edit).contains("holds zone:DB_GRANTS"));
    bench.end(2);
    assert!(bench.world.status().is_empty());
    let nested = bench.call(3, "PreToolUse", "Edit", &edit).to_string();
    let mut held = bench.locked_by(3);
    held.args(["-r", "zone:DB_GRANTS", "sh", "-c", "printf %s \"$CALL\" | \"$LOCKED\" agents check"]);
    let output = ends(held.env("CALL", nested).env("LOCKED", env!("CARGO_BIN_EXE_locked")), 0);
    assert_eq!(text(&output.stdout), "", "{}", text(&output.stderr));
}

#[test]
fn what_was_left_bad_is_restored_first() {
    let bench = Bench::new();
    let bad = "head -c 40 secrets/x.yaml > cut && cat cut > secrets/x.yaml";
    says(bench.locked_by(1).args(["sh", "-c", bad]), 72);
    let edit = json!({"file_path": bench.path("secrets/x.yaml"), "old_string": "a", "new_string": "b"});
    let why = bench.denied(1, "Edit", &edit);
    assert!(
        why.starts_with("QUARANTINED: secrets/x.yaml: ") && why.contains("next:  locked restore secrets/x.yaml"),
        "{why}"
    );
    ends(bench.locked_by(1).args(["restore", "secrets/x.yaml"]), 0);
    assert!(bench.denied(1, "Edit", &edit).contains("is encrypted"));
}

/// The store is asked only where something may be held; where it cannot answer, that is denied and nothing else.
#[test]
fn a_store_that_is_down_stops_only_what_needs_it() {
    let bench = Bench::new();
    let ask = |tool: &str, input: &serde_json::Value, sandbox: Option<(&str, &str)>| {
        let mut command = bench.locked();
        command.args(["agents", "check"]).env("LOCKED_STORE", "postgres://127.0.0.1:1/none?connect_timeout=1");
        command.envs(sandbox);
        bench.says_of(&mut command, bench.call(1, "PreToolUse", tool, input).to_string().as_bytes())
    };
    assert_eq!(ask("Edit", &json!({"file_path": bench.path("readme.md"), "new_string": "x"}), None), None);
    assert_eq!(ask("Bash", &json!({"command": "make test"}), None), None);
    let zone = json!({"file_path": bench.path("db/roles.sql"), "new_string": "x"});
    let why = super::bench::denial(&ask("Edit", &zone, None).expect("denied"));
    assert!(why.starts_with("REFUSED: the store cannot be reached"), "{why}");
    for (variable, setting) in [
        (("CODEX_SANDBOX_NETWORK_DISABLED", "1"), "network_access = true"),
        (("SANDBOX_RUNTIME", "1"), "\"excludedCommands\""),
    ] {
        let why = super::bench::denial(&ask("Edit", &zone, Some(variable)).expect("denied"));
        assert!(why.contains(setting), "{why}");
    }
}

/// In a sandbox the next step is one that the sandbox allows: its own setting is named, to the wrapper's callers too.
#[test]
fn a_state_directory_that_a_sandbox_closes_is_told_with_the_setting_that_opens_it() {
    let bench = Bench::new();
    let closed = bench.world.root().join("closed");
    fs::write(&closed, "a file").expect("written");
    let state = closed.join("state");
    let shown = state.display().to_string();
    for (variable, setting) in [
        (("SANDBOX_RUNTIME", "1"), format!("\"allowWrite\": [\"{shown}\"]")),
        (("CODEX_SANDBOX", "seatbelt"), format!("writable_roots = [\"{shown}\"]")),
    ] {
        let mut command = bench.locked();
        command.args(["sops", "set", "secrets/x.yaml", "[\"A\"]", "\"2\""]).env("LOCKED_STATE_DIR", &state);
        command.env("LOCKED_SESSION", uuid(1)).envs([variable]);
        let said = says(&mut command, 69);
        assert!(said.contains("next:  ") && said.contains(&setting), "{said}");
    }
}

/// The settings and the names of a file are those of its own repository, wherever the agent works.
#[test]
fn a_file_of_another_repository_is_judged_by_that_ones_settings() {
    let bench = Bench::new();
    let other = bench.world.work().join("other");
    fs::create_dir(&other).expect("directory");
    bench.world.git(&other, &["init", "-q"]);
    let ask = |tool: &str, input: &serde_json::Value| {
        let mut call = bench.call(1, "PreToolUse", tool, input);
        call["cwd"] = json!(other);
        bench.says_of(bench.locked().args(["agents", "check"]), call.to_string().as_bytes()).expect("an answer")
    };
    let edit = json!({"file_path": bench.path("secrets/x.yaml"), "new_string": "x"});
    let why = super::bench::denial(&ask("Edit", &edit));
    let root = bench.root().display().to_string();
    assert!(why.contains(&format!("next:  `cd {root} && locked sops set secrets/x.yaml ")), "{why}");
    // Each step can be pasted as it is, and after it the write is let through.
    let write = json!({"file_path": bench.path("secrets/new.yaml"), "content": "A: 1\n"});
    let why = super::bench::denial(&ask("Write", &write));
    let step =
        why.lines().last().and_then(|line| line.strip_prefix("next:  ")).and_then(|next| next.split(", ").next());
    let locked = env!("CARGO_BIN_EXE_locked");
    let mut command = bench.command("sh");
    command
        .args(["-c", &step.expect("a step").trim_matches('`').replace("&& locked", &format!("&& {locked}"))])
        .current_dir(&other);
    ends(command.env("CLAUDE_CODE_SESSION_ID", uuid(1)), 0);
    let mut call = bench.call(1, "PreToolUse", "Write", &write);
    call["cwd"] = json!(other);
    assert_eq!(bench.says_of(bench.locked().args(["agents", "check"]), call.to_string().as_bytes()), None);
    bench.end(1);
    let zone = json!({"file_path": bench.path("db/roles.sql"), "new_string": "x"});
    assert!(ask("Edit", &zone)["additionalContext"].as_str().is_some_and(|told| told.contains("zone:DB_GRANTS")));
    assert_eq!(bench.world.status()[0]["scope"], "host/infra");
}

#[test]
fn a_bypass_that_a_person_has_set_lets_through_and_is_told_of() {
    let bench = Bench::new();
    let edit = json!({"file_path": bench.path("secrets/x.yaml"), "new_string": "x"});
    let call = bench.call(1, "PreToolUse", "Edit", &edit).to_string();
    let ask = |reason: &str| {
        let mut command = bench.locked();
        command.args(["agents", "check"]).env("LOCKED_BYPASS", reason);
        bench.says_of(&mut command, call.as_bytes()).expect("an answer")
    };
    super::bench::denial(&ask(" "));
    let answer = ask("the store moves");
    let told = answer["additionalContext"].as_str().expect("told");
    assert!(
        answer["permissionDecision"].is_null() && told.contains("bypassed (the store moves); the ledger knows"),
        "{answer}"
    );
    let past = bench.world.history();
    assert_eq!((&past[0]["resource"], &past[0]["operation"]), (&json!("agent:Edit"), &json!("agent Edit")));
}

/// A zone that asks for a person before anybody takes it over stays so when an agent holds it.
#[test]
fn a_zone_that_asks_is_held_as_one_that_asks() {
    let bench = Bench::new();
    bench.write(".locked.toml", "[[zone]]\nname = \"CRON\"\npaths = [\"cron.d/*\"]\nstale = \"ask\"\n");
    bench.passes(1, "Write", &json!({"file_path": bench.path("cron.d/x"), "content": "y"}));
    assert_eq!(bench.world.status()[0]["ask"], true);
}

/// What is acquired, written and never encrypted is plaintext that nobody answers for any more.
#[test]
fn plaintext_that_a_session_leaves_behind_is_quarantined() {
    for by_shell in [false, true] {
        let bench = Bench::new();
        ends(bench.locked_by(1).args(["acquire", "sops:new"]), 0);
        let path = bench.path("secrets/new.yaml");
        let said = match by_shell {
            false => bench.passes(1, "Write", &json!({"file_path": path, "content": "A: 1\n"})),
            true => bench.passes(1, "Bash", &json!({"command": "echo 'A: 1' > secrets/new.yaml"})),
        };
        assert_eq!(said, "");
        bench.write("secrets/new.yaml", "A: 1\n");
        bench.end(1);
        let held = bench.world.status();
        assert_eq!((&held[0]["resource"], &held[0]["state"]), (&json!("sops:new"), &json!("quarantined")), "{held:?}");
        assert!(bench.denied(2, "Edit", &json!({"file_path": path, "new_string": "x"})).starts_with("QUARANTINED: "));
    }
    // What is encrypted by then, or gone, is given back.
    let bench = Bench::new();
    for content in [None, Some(bench.read("secrets/x.yaml"))] {
        ends(bench.locked_by(1).args(["acquire", "sops:new"]), 0);
        bench.passes(1, "Write", &json!({"file_path": bench.path("secrets/new.yaml"), "content": "A: 1\n"}));
        bench.write("secrets/new.yaml", "A: 1\n");
        match content {
            Some(content) => bench.write("secrets/new.yaml", &content),
            None => fs::remove_file(bench.path("secrets/new.yaml")).expect("removed"),
        }
        bench.end(1);
        assert!(bench.world.status().is_empty());
    }
}

/// A hook waits as long as it is told to. Who stands in line in spite of it gets what it waits for, and passes.
#[test]
fn the_wait_of_the_agents_environment_counts() {
    let bench = Bench::new();
    let edit = json!({"file_path": bench.path("db/roles.sql"), "new_string": "x"});
    bench.passes(1, "Edit", &edit);
    let call = bench.call(2, "PreToolUse", "Edit", &edit).to_string();
    for around in [("LOCKED_WAIT", "0s"), ("LOCKED_NO_WAIT", "1")] {
        let mut command = bench.locked();
        command.args(["agents", "check"]).envs([around]);
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| bench.says_of(&mut command, call.as_bytes()));
            so("an answer", || {
                if bench.world.status().first().is_some_and(|lease| lease["waiters"] != 0) {
                    bench.end(1);
                }
                asked.is_finished()
            });
            super::bench::denial(&asked.join().expect("asked").expect("denied"));
        });
    }
}
