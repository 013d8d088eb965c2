//! Recorded calls, each with its answer: `calls.json`. The forms are those of the agents' public documentation, as it says.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use super::bench::{Bench, denial, text};

fn cases() -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("calls.json")).expect("JSON");
    assert!(all["source"].as_array().is_some_and(|source| source.len() >= 2), "where the forms come from is not said");
    all["cases"].as_array().expect("cases").clone()
}

/// The placeholders of a case, filled.
fn filled(case: &Value, bench: &Bench) -> Value {
    let text = case.to_string().replace("@ROOT@", bench.root().to_str().expect("UTF-8"));
    serde_json::from_str(&text).expect("JSON")
}

fn parts<'a>(expected: &'a Value, of: &str) -> Vec<&'a str> {
    expected[of].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn every_recorded_call_has_its_answer() {
    let bench = Bench::new();
    let mut seen = 0;
    for case in cases() {
        let case = filled(&case, &bench);
        let (name, expected) = (case["name"].as_str().expect("a name"), &case["answer"]);
        let agent = case["agent"].as_str().expect("an agent");
        let input = &case["input"];
        let answer = bench.says_of(bench.locked().args(["agents", "check", agent]), input.to_string().as_bytes());
        match (&answer, expected) {
            (None, Value::Null) => {}
            (Some(answer), expected) if !expected["deny"].is_null() => {
                let why = denial(answer);
                for part in parts(expected, "deny") {
                    assert!(why.contains(part), "{name}: not {part:?}: {why}");
                }
                assert!(!why.contains("hunter2"), "{name} repeats a value: {why}");
            }
            (Some(answer), expected) if !expected["told"].is_null() => {
                assert!(answer["permissionDecision"].is_null(), "{name}: {answer}");
                let told = answer["additionalContext"].as_str().expect("a text");
                for part in parts(expected, "told") {
                    assert!(told.contains(part), "{name}: not {part:?}: {told}");
                }
            }
            _ => panic!("{name}: {answer:?}, not {expected}"),
        }
        // What it holds it gives back at its end.
        let end = json!({"session_id": input["session_id"], "cwd": bench.root(), "hook_event_name": "SessionEnd"});
        bench.says_of(bench.locked().args(["agents", "check", agent]), end.to_string().as_bytes());
        assert_eq!(bench.world.status(), [] as [Value; 0], "{name}");
        seen += 1;
    }
    assert!(seen >= 40, "{seen} cases");
    // Nothing of it was taken for something that could not be understood.
    let doctor = bench.locked().args(["doctor", "agents", "--json"]).output().expect("it runs");
    assert!(!text(&doctor.stdout).contains("agents.unread"), "{}", text(&doctor.stdout));
}

/// What a line would lock `locked explain` says as well: the same rules, the same answer.
#[test]
fn a_line_is_judged_as_explain_judges_it() {
    let bench = Bench::new();
    let lines = cases()
        .into_iter()
        .filter(|case| case["input"]["tool_name"] == "Bash" && case["input"]["hook_event_name"] == "PreToolUse");
    let mut compared = 0;
    for case in lines.map(|case| filled(&case, &bench)) {
        let Some(line) = case["input"]["tool_input"]["command"].as_str() else { continue };
        let mut command = bench.locked();
        command.args(["explain", "--json", "--", "bash", "-c", line]);
        let output =
            command.current_dir(case["input"]["cwd"].as_str().expect("a directory")).output().expect("it runs");
        let explained: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let locks = explained["decision"] == "lock";
        assert_eq!(locks, !case["answer"].is_null(), "{}: {explained}", case["name"]);
        compared += 1;
    }
    assert!(compared >= 15, "{compared} lines");
}
