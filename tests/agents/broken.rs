//! What is no call stops nothing, and is reported.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use super::bench::{Bench, ends, says, text};

fn unread(bench: &Bench) -> Option<Value> {
    let output = bench.locked().args(["doctor", "agents", "--json"]).output().expect("it runs");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = found["findings"].as_array().expect("a list").iter().find(|it| it["id"] == "agents.unread").cloned();
    found.inspect(|_| assert_eq!(output.status.code(), Some(78), "something is wrong"))
}

#[test]
fn broken_input_stops_nothing_and_the_doctor_knows_of_it() {
    let bench = Bench::new();
    assert_eq!(unread(&bench), None);
    let tool = |tool: &str, input: Value| bench.call(1, "PreToolUse", tool, &input).to_string().into_bytes();
    let table: Vec<(Vec<u8>, &str)> = vec![
        (Vec::new(), "no JSON object"),
        (b"nonsense hunter2".to_vec(), "no JSON object"),
        (b"{\"hook_event_name\": \"PreToolUse\", ".to_vec(), "no JSON object"),
        (b"[1, 2]".to_vec(), "no JSON object"),
        (b"\xff\xfe".to_vec(), "no JSON object"),
        (b"{}".to_vec(), "hook_event_name was missing"),
        (b"{\"hook_event_name\": 3}".to_vec(), "hook_event_name was missing"),
        (b"{\"hook_event_name\": \"PreToolUse\"}".to_vec(), "tool_name was missing"),
        (tool("Bash", json!({})), "documented for Bash"),
        (tool("Bash", json!({"command": ["ls"]})), "documented for Bash"),
        (tool("Write", json!({"file_path": "/x"})), "documented for Write"),
        (tool("Write", json!({"content": "hunter2"})), "documented for Write"),
        (tool("Edit", json!({"file_path": "", "new_string": "x"})), "documented for Edit"),
        (tool("Edit", json!("x")), "documented for Edit"),
        (tool("MultiEdit", json!({"file_path": "/x", "edits": [{}]})), "documented for MultiEdit"),
        (tool("NotebookEdit", json!({})), "documented for NotebookEdit"),
        (tool("apply_patch", json!({"command": "no patch"})), "documented for apply_patch"),
    ];
    for (number, (told, why)) in (1..).zip(&table) {
        let answer = bench.says_of(bench.locked().args(["agents", "check"]), told);
        assert_eq!(answer, None, "{}", text(told));
        let noted = std::fs::read(bench.world.state().join("agents/unread.json")).expect("noted");
        let noted: Value = serde_json::from_slice(&noted).expect("JSON");
        assert_eq!(noted["count"], number, "{}", text(told));
        assert!(noted["why"].as_str().is_some_and(|noted| noted.contains(why)), "{}: {noted}", text(told));
    }
    let found = unread(&bench).expect("reported");
    let what = found["what"].as_str().expect("a text");
    assert!(what.starts_with("17 calls of agents' hooks could not be understood"), "{what}");
    assert!(!found.to_string().contains("hunter2"), "{found}");
    // A variable that makes no sense stands in no agent's way either.
    let mut command = bench.locked();
    command.args(["agents", "check"]).env("LOCKED_TTL", "nonsense");
    assert_eq!(bench.says_of(&mut command, &tool("Bash", json!({"command": "ls"}))), None);
    ends(bench.locked().args(["doctor", "agents", "--fix"]), 0);
    assert_eq!(unread(&bench), None);
}

#[test]
fn a_place_where_nothing_can_be_noted_stops_nothing_either() {
    let bench = Bench::new();
    let mut command = bench.locked();
    command.args(["agents", "check"]).env("LOCKED_STATE_DIR", bench.path("readme.md").join("below"));
    assert_eq!(bench.says_of(&mut command, b"nonsense"), None);
    // A directory that is gone.
    let gone = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/no/such", "tool_input": {"command": "ls"}});
    assert_eq!(bench.says_of(bench.locked().args(["agents", "check"]), gone.to_string().as_bytes()), None);
}

#[test]
fn settings_that_cannot_be_followed_stop_only_what_would_lock() {
    let bench = Bench::new();
    bench.write(".locked.toml", "wait = nonsense\n");
    assert_eq!(bench.passes(1, "Bash", &json!({"command": "ls"})), "");
    assert_eq!(bench.passes(1, "Edit", &json!({"file_path": bench.path("readme.md"), "new_string": "x"})), "");
    for broken in ["wait = nonsense\n", "broken = = 1\n", "[[zone]\n"] {
        bench.write(".locked.toml", broken);
        for file in [".locked.toml", "readme.md", "db/roles.sql"] {
            bench.passes(1, "Edit", &json!({"file_path": bench.path(file), "new_string": "x"}));
            bench.passes(1, "Write", &json!({"file_path": bench.path(file), "content": "x"}));
        }
        for line in ["sed -i s/broken.*// .locked.toml", "echo x > notes.txt", "cargo test"] {
            bench.passes(1, "Bash", &json!({"command": line}));
        }
        for line in ["sops rotate -i secrets/x.yaml", "echo x > secrets/x.yaml", "cp readme.md secrets/new.yaml"] {
            let why = bench.denied(1, "Bash", &json!({"command": line}));
            assert!(why.contains(".locked.toml"), "{line}: {why}");
        }
        let why = bench.denied(1, "Write", &json!({"file_path": bench.path("secrets/new.yaml"), "content": "x"}));
        assert!(why.contains(".locked.toml"), "{why}");
    }
    let said = says(bench.locked().args(["agents", "check", "nobody"]), 64);
    assert!(said.contains("nobody"), "{said}");
}
