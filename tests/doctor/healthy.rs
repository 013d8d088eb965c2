//! No fault where there is none.

use std::fs;

use serde_json::Value;

use crate::run::stage::{ends, json, text};
use crate::world::World;

use super::bed::{Bed, findings, wrong};

#[test]
fn a_healthy_setup_has_nothing_wrong() {
    let bed = Bed::with_receipt();
    let found = bed.findings(&[], &[]);
    assert!(wrong(&found).is_empty(), "{found:#?}");
    let ids: Vec<&str> = found.iter().filter_map(|it| it["id"].as_str()).collect();
    for id in [
        "store.reachable",
        "checkouts.one-store",
        "state.directory",
        "spool.empty",
        "leases.stale",
        "session.name",
        "settings.sound",
        "tools.version",
        "keys.open",
        "shims.whole",
        "path.first",
        "around.none",
        "hooks.works",
        "files.sound",
    ] {
        assert!(ids.contains(&id), "{id} is not among {ids:?}");
    }
    let said = text(&ends(&mut bed.doctor(&[]), 0).stdout);
    assert!(said.contains("\nkeys: an age identity opens the files?\n  ok: ") && !said.contains('\u{1b}'), "{said}");
    assert!(said.lines().last().is_some_and(|line| line.starts_with("nothing is wrong")), "{said}");
    assert_eq!(text(&ends(&mut bed.doctor(&["-q"]), 0).stdout), "");
}

/// Where nobody has done anything yet it works, says what is missing, and leaves nothing behind.
#[test]
fn a_new_machine_has_nothing_wrong_and_nothing_is_made_there() {
    let world = World::new();
    std::fs::remove_dir(world.state()).expect("state");
    super::bed::mode(&world.key_file(), 0o600);
    let shims = world.root().join("none");
    let found = findings(world.locked().args(["doctor", "--json"]).env("LOCKED_SHIMS_DIR", shims));
    assert!(wrong(&found).is_empty(), "{found:#?}");
    assert!(found.iter().any(|it| it["id"] == "shims.none" && it["remedy"] == "locked shims install"));
    assert!(!world.state().exists());
    assert_eq!(std::fs::read_dir(world.work()).expect("work").count(), 0);
}

#[test]
fn the_fields_stay_as_they_are_and_a_check_can_be_chosen() {
    let bed = Bed::new();
    let told: Value = json(&mut bed.doctor(&["tools", "state", "--json"]));
    assert_eq!(told["checks"], serde_json::json!(["state", "tools"]));
    let fields: Vec<&String> = told.as_object().expect("object").keys().collect();
    assert_eq!(fields, ["healthy", "checks", "counts", "findings"]);
    let counts: Vec<&String> = told["counts"].as_object().expect("object").keys().collect();
    assert_eq!(counts, ["ok", "note", "warning", "fault", "fixed"]);
    for finding in told["findings"].as_array().expect("list") {
        let fields: Vec<&String> = finding.as_object().expect("object").keys().collect();
        assert_eq!(fields, ["id", "check", "level", "what", "why", "remedy", "fixable", "fixed", "fix"]);
        let id = finding["id"].as_str().expect("id");
        assert!(id.bytes().all(|it| it.is_ascii_lowercase() || b".-".contains(&it)), "{id}");
        assert!(["state", "tools"].contains(&finding["check"].as_str().expect("check")));
    }
    let said = text(&ends(&mut bed.doctor(&["tool"]), 64).stderr);
    assert!(said.contains("next:  locked doctor tools"), "{said}");
}

/// Whatever the umask is: from the first encryption on, all that is kept is for its owner alone.
#[test]
fn nothing_that_a_command_leaves_is_open_to_others() {
    let bed = Bed::new();
    let locked = env!("CARGO_BIN_EXE_locked");
    fs::write(bed.work().join("secrets/first.yaml"), "a: b\n").expect("plaintext");
    let script = "umask 0; \"$0\" sops encrypt -i secrets/first.yaml && \"$0\" sops decrypt secrets/first.yaml >/dev/null \
        && \"$0\" sops set secrets/first.yaml '[\"a\"]' '\"c\"' && \"$0\" sops decrypt -i secrets/first.yaml \
        && \"$0\" sops encrypt -i secrets/first.yaml && \"$0\" acquire server:web-1 && \"$0\" release server:web-1";
    let mut command = bed.stage.world.command("sh");
    command.args(["-c", script, locked]).env("LOCKED_SESSION", crate::run::stage::uuid(1));
    crate::run::stage::ends(&mut command, 0);
    let found = bed.findings(&["state"], &[]);
    assert!(found.iter().all(|it| it["level"] == "ok"), "{found:#?}");
}
