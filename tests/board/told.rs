//! What is told of a hold that is asked about from an odd place: from below one's own command, from outside of its repository,
//! in another session's name; and which commands its history names.
#![forbid(unsafe_code)]

use serde_json::Value;

use crate::rotation::stage::{APP, ROTATION, Stage};
use crate::run::stage::{ends, json, says, silent, text};
use crate::world::board::uuid;
use crate::world::held::Held;

/// The verb for this resource, as run from below `locked -r RESOURCE sh`: its status, and what it said.
fn below(stage: &Stage, outer: &str, line: &str) -> (i32, String) {
    let mut command = stage.locked(1);
    command.args(["-r", outer, "sh", "-c", &format!("{line}; echo \"$?\"")]).env("me", env!("CARGO_BIN_EXE_locked"));
    let output = ends(&mut command, 0);
    let status = text(&output.stdout).lines().last().and_then(|line| line.parse().ok());
    (status.expect("a status"), text(&output.stderr))
}

#[test]
fn what_the_command_above_holds_is_renewed_by_it_and_neither_acquired_nor_released() {
    for stage in Stage::both("below_one_s_own") {
        assert_eq!(below(&stage, "server:x", "\"$me\" renew server:x"), (0, String::new()), "its keeper renews it");
        // With what rests beside it, all the same.
        silent(stage.locked(1).args(["acquire", "server:y", "--ttl", "10m"]));
        assert_eq!(below(&stage, "server:x", "\"$me\" renew server:x server:y >/dev/null"), (0, String::new()));
        let (status, said) = below(&stage, "server:x", "\"$me\" renew server:x server:none");
        assert!(status == 77 && said.contains("holds no lease of server:none"), "{said}");
        let held = "server:x is held by the command that this runs under, sh\n";
        let last = "\nretry: no, not from below that command\nnext:  locked check server:x\n";
        for (line, why) in [
            (
                "acquire server:x",
                "what runs below it goes on with its lease, and need not acquire it; nothing was acquired",
            ),
            ("acquire server:x server:z --wait 5s", "what runs below it goes on with its lease, and need not"),
            ("release server:x", "it is given back when that command ends, and not under it; nothing was released"),
            ("release server:x server:y", "it is given back when that command ends, and not under it"),
        ] {
            // Also below another command that stands between.
            for inner in [format!("\"$me\" {line}"), format!("\"$me\" -r server:between \"$me\" {line}")] {
                let (status, said) = below(&stage, "server:x", &inner);
                let expected = format!("REFUSED: {held}why:   {why}");
                assert!(status == 75 && said.starts_with(&expected) && said.ends_with(last), "{inner}: {said}");
            }
        }
        assert_eq!(below(&stage, "server:x", "\"$me\" check server:x"), (0, String::new()), "the next step is one");
        assert_eq!(stage.status().len(), 1, "{:?}", stage.status());
        // Beside it, from another command of the session.
        let runs = Held::start(stage.locked(1).args(["-r", "server:x", "sh", "-c", "echo on; cat"]));
        silent(stage.locked(1).args(["renew", "server:x"]));
        let said = says(stage.locked(1).args(["release", "server:x"]), 75);
        assert!(
            said.starts_with("REFUSED: server:x is held by a running command of this session, sh\nwhy:   a lease"),
            "{said}"
        );
        assert!(said.ends_with("retry: yes, when it has ended\nnext:  locked release server:x\n"), "{said}");
        says(stage.locked(2).args(["release", "server:x"]), 77);
        runs.let_go();
    }
}

#[test]
fn a_name_that_is_held_in_another_repository_is_not_said_to_be_lost() {
    for stage in Stage::both("the_other_scope") {
        silent(stage.locked(1).args(["acquire", ROTATION, "server:a"]));
        let scope = stage.status()[0]["scope"].as_str().expect("a scope").to_owned();
        for verb in ["release", "renew", "check"] {
            let said = says(stage.locked(1).args([verb, ROTATION]).current_dir(stage.world.root()), 77);
            let what =
                format!("REFUSED: {ROTATION} is this session's in {scope}, and from here the name means another one");
            assert!(said.starts_with(&what) && !said.contains("do not write"), "{verb}: {said}");
            assert!(said.ends_with(&format!("next:  change to a checkout of {scope}, and say it again\n")), "{said}");
        }
        // What is the same everywhere is released from everywhere; nobody else is told anything.
        silent(stage.locked(1).args(["release", "server:a"]).current_dir(stage.world.root()));
        let said = says(stage.locked(2).args(["release", ROTATION]).current_dir(stage.world.root()), 77);
        assert!(said.contains("(02020202) holds no lease of"), "{said}");
        ends(stage.locked(1).args(["release", ROTATION, "--as", "failed"]), 0);
    }
}

#[test]
fn who_releases_in_another_s_name_is_in_the_history() {
    for stage in Stage::both("in_another_s_name") {
        let note = |resource: &str| {
            let past: Vec<Value> = json(stage.locked(9).args(["history", resource, "--json"]));
            past[0]["note"].as_str().unwrap_or_default().to_owned()
        };
        let whole = uuid(1);
        for (resource, words) in
            [("server:a", &["release", "server:a", "--note", "agreed"][..]), ("server:b", &["session", "end"])]
        {
            silent(stage.locked(1).args(["acquire", resource]));
            ends(stage.locked(2).args(["--session", &whole]).args(words), 0);
            let said = note(resource);
            assert!(said.contains("released by 02020202 (") && said.ends_with(") with --session"), "{words:?}: {said}");
            assert!(!said.contains(&whole), "{said}");
        }
        assert!(note("server:a").starts_with("agreed; released by "), "{}", note("server:a"));
        // One's own name, in whatever way it is said.
        silent(stage.locked(1).args(["acquire", "server:c"]));
        silent(stage.locked(1).args(["--session", &whole, "release", "server:c"]));
        assert_eq!(note("server:c"), "");
    }
}

#[test]
fn the_history_of_a_hold_names_the_commands_that_it_had() {
    for stage in Stage::both("commands_of_a_hold") {
        silent(stage.locked(1).args(["acquire", "sops:app", "--operation", "new keys"]));
        silent(&mut stage.writes(1, APP));
        silent(stage.locked(1).args(["-r", "sops:app", "true"]));
        assert_eq!(stage.status()[0]["operation"], "new keys", "it shows as the hold that it is");
        says(stage.locked(1).args(["--keep", "-r", "sops:app", "false"]), 1);
        ends(stage.locked(1).args(["release", "sops:app", "--note", "all done"]), 0);
        let past: Vec<Value> = json(stage.locked(9).args(["history", "sops:app", "--json"]));
        let rows: Vec<(&str, &str)> = past
            .iter()
            .map(|row| (row["operation"].as_str().expect("text"), row["note"].as_str().unwrap_or_default()))
            .collect();
        let ran = format!("ran sops set {APP}; adopted by its session");
        assert_eq!(
            rows[1..],
            [
                ("new keys", "ran true; adopted by its session"),
                ("new keys", ran.as_str()),
                ("new keys", "adopted by its session"),
            ]
        );
        assert!(rows[0].0 == "false" && rows[0].1.ends_with("; all done"), "{rows:?}");
    }
}
