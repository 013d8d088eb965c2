//! What the verbs that look show, to people and to programs.
#![forbid(unsafe_code)]

use serde_json::Value;

use crate::run::stage::{FILE, RESOURCE, Stage, ends, json, silent};

#[track_caller]
fn fields(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// Programs rely on these; fields are only ever added.
#[test]
fn status_as_json_has_every_field() {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", RESOURCE]);
    silent(stage.locked(2).args(["acquire", "server:web-1"]));
    let status = stage.status();
    let of = |name: &str| status.iter().find(|lease| lease["resource"] == name).expect("a lease").clone();
    let running = of(RESOURCE);
    for field in [
        "scope",
        "resource",
        "token",
        "holder",
        "label",
        "host",
        "operation",
        "state",
        "holder_alive",
        "acquired_at",
        "renewed_at",
        "expires_at",
        "expires_in_ms",
        "waiters",
    ] {
        assert!(fields(&running).contains(&field), "{field} in {running}");
    }
    assert_eq!((&running["state"], &running["holder"]), (&"held".into(), &"01010101".into()));
    assert_eq!((&running["holder_alive"], &running["operation"]), (&"yes".into(), &"sh".into()));
    assert!(running["scope"].as_str().expect("scope").starts_with("local/"), "{running}");
    assert_eq!(of("server:web-1")["holder_alive"], "unknown", "nothing runs");
    let text = silent(stage.world.locked().args(["status", RESOURCE]));
    assert!(text.contains(RESOURCE) && !text.contains("server:web-1"), "{text}");
    assert_eq!(silent(stage.world.locked().args(["status", "no:such"])), "no live leases\n");
    assert_eq!(silent(stage.world.locked().args(["status", "no:such", "--json"])), "[]\n");
    held.let_go();
}

#[test]
fn history_is_newest_first_and_can_be_narrowed() {
    let stage = Stage::new();
    assert_eq!(silent(stage.world.locked().arg("history")), "no ended leases\n");
    silent(&mut stage.set(1, &[], "A", "1"));
    silent(stage.locked(1).args(["-r", "server:web-1", "true"]));
    let history = stage.history();
    assert_eq!((&history[0]["resource"], &history[1]["resource"]), (&"server:web-1".into(), &RESOURCE.into()));
    for field in ["scope", "resource", "token", "holder", "operation", "acquired_at", "ended_at", "ended_as", "receipt"]
    {
        assert!(fields(&history[1]).contains(&field), "{field}");
    }
    assert!(history[1]["receipt"].is_string() && history[0]["receipt"].is_null(), "{history:?}");
    let narrowed = |words: &[&str]| silent(stage.world.locked().arg("history").args(words));
    assert!(!narrowed(&[RESOURCE]).contains("server:web-1"));
    assert_eq!(narrowed(&["--limit", "1"]).lines().count(), 2, "the head and one row");
    assert_eq!(narrowed(&["--since", "1h"]).lines().count(), 3);
}

#[test]
fn explain_says_what_and_why_and_runs_nothing() {
    let stage = Stage::new();
    let answer: Value = json(stage.locked(1).args(["explain", "--json", "--", "sops", "set", FILE, "[\"A\"]", "1"]));
    assert_eq!((&answer["decision"], &answer["rule"]), (&"lock".into(), &"sops.set".into()));
    assert_eq!(answer["program"], crate::world::real_sops().display().to_string());
    for field in ["resources", "scope", "writes", "reason", "ttl_ms", "canary"] {
        assert!(!answer[field].is_null() || field == "scope", "{field}: {answer}");
    }
    let text = silent(stage.locked(1).args(["explain", "--", "sops", "decrypt", FILE]));
    assert!(text.starts_with("decision: pass\n") && text.contains("reason:   "), "{text}");
    let missing: Value = json(stage.locked(1).args(["-r", "x:y", "explain", "--json", "--", "no-such-program"]));
    assert_eq!((&missing["decision"], &missing["program"]), (&"lock".into(), &Value::Null), "{missing}");
    assert_eq!(stage.history().len() + stage.status().len(), 0);
}

/// A reader that goes away is no fault of ours.
#[test]
fn an_answer_into_a_closed_pipe_ends_quietly() {
    let stage = Stage::new();
    let script = format!("'{}' history | true", env!("CARGO_BIN_EXE_locked"));
    ends(stage.world.command("bash").args(["-o", "pipefail", "-c", &script]), 0);
}
