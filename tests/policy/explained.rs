//! `explain --json` tells the terms, where a rule sets them.
#![forbid(unsafe_code)]

use serde_json::json;

use super::stage::{RESOURCE, Stage, says, text};

#[test]
fn every_term_that_is_set_is_told_and_no_other() {
    let stage = Stage::with("exit 0");
    let explained = |terms: &str, options: &[&str]| {
        stage.explained(&format!("program = 'deploy'\nresource = ['{RESOURCE}']\n{terms}"), options)
    };
    let bare = explained("", &[]);
    assert_eq!((&bare["ttl_ms"], &bare["canary"]), (&json!(1_800_000), &json!("none")), "{bare}");
    for field in ["keep", "keep_for_ms", "hold_for_ms", "follow", "give_back_ms"] {
        assert!(bare.get(field).is_none(), "{field}: {bare}");
    }
    let all = "ttl = '10m'\nkeep = 'always'\nkeep_for = '1m'\nhold_for = '2m'\ngive_back = '3s'\n\
               canary = ['curl', 'hunter2']\nfollow = { workflow = 'sync', repository = 'acme/infra' }";
    let told = explained(all, &[]);
    let expected = [
        ("ttl_ms", json!(600_000)),
        ("canary", json!("command")),
        ("keep", json!("always")),
        ("keep_for_ms", json!(60_000)),
        ("hold_for_ms", json!(120_000)),
        ("give_back_ms", json!(3_000)),
        ("follow", json!({"workflow": "sync", "repository": "acme/infra"})),
    ];
    for (field, value) in expected {
        assert_eq!(told[field], value, "{field}: {told}");
    }
    assert!(!told.to_string().contains("hunter2"), "no argument of a proof is shown");
    let by_hand = explained(all, &["--no-canary", "-r", "zone:Z"]);
    assert_eq!(by_hand["canary"], "none");
    assert!(by_hand.get("give_back_ms").is_none(), "what was named by hand is held to the end");
    assert_eq!(says(stage.locked(1, "program = 'x'").args(["explain", "--json", "--", "true"]), 0), "");
}

#[test]
fn people_read_the_same() {
    let stage = Stage::with("exit 0");
    let mut command = stage.deploy_with(1, "keep = 'never'\nhold_for = '2m'\ngive_back = '60s'", &["-N"]);
    let said = text(&super::stage::ends(&mut command, 0).stdout);
    for line in ["keep:     never", "hold for: 2m", "give back after: 1m"] {
        assert!(said.lines().any(|it| it == line), "{line}: {said}");
    }
}
