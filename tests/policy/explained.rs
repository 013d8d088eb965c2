//! `explain --json` tells the terms, where a rule sets them.
#![forbid(unsafe_code)]

use serde_json::json;

use super::stage::{RESOURCE, Stage, text};
use crate::world::board::json as json_of;

#[test]
fn every_term_that_is_set_is_told_and_no_other() {
    let stage = Stage::with("exit 0");
    let explained = |terms: &str, options: &[&str]| {
        stage.explained(&format!("name = 'own'\nprogram = 'deploy'\nresource = ['{RESOURCE}']\n{terms}"), options)
    };
    let bare = explained("", &[]);
    assert_eq!((&bare["ttl_ms"], &bare["canary"]), (&json!(1_800_000), &json!("none")), "{bare}");
    for field in ["keep", "keep_for_ms", "hold_for_ms", "follow", "give_back_ms"] {
        assert!(bare.get(field).is_none(), "{field}: {bare}");
    }
    let all = "ttl = '10m'\nkeep = 'always'\nkeep_for = '1m'\nhold_for = '2m'\ngive_back = '3s'\n\
               canary = ['curl', 'hunter2']\nfollow = true";
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
}

#[test]
fn the_ready_rules_set_what_the_readme_says() {
    let stage = Stage::with("exit 0");
    std::fs::write(stage.world.work().join("compose.yaml"), "name: web\nservices: {}\n").expect("compose file");
    let explained = |words: &[&str]| -> serde_json::Value {
        json_of(stage.world.locked_as(1).args(["explain", "--json", "--"]).args(words))
    };
    let up = explained(&["docker", "compose", "up"]);
    assert_eq!((&up["resources"][0], &up["give_back_ms"]), (&json!("container:web"), &json!(60_000)), "{up}");
    let detached = explained(&["docker", "compose", "up", "-d"]);
    assert!(detached.get("give_back_ms").is_none(), "{detached}");
    let sync = explained(&["gh", "workflow", "run", "secrets-sync.yml"]);
    assert_eq!(
        (&sync["resources"][0], &sync["hold_for_ms"]),
        (&json!("workflow:secrets-sync"), &json!(120_000)),
        "{sync}"
    );
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
