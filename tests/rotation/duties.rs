//! What is left to a person.
#![forbid(unsafe_code)]

use super::stage::{APP, ROTATION, Stage, says, silent};
use crate::world::board::json;

#[test]
fn a_duty_frees_the_slot_and_is_seen_until_it_is_done() {
    for stage in [Stage::new(), Stage::on_server("a_duty")] {
        silent(stage.locked(1).args(["acquire", ROTATION]));
        let what = "Maria: revoke the old key in the console";
        silent(stage.locked(1).args(["release", ROTATION, "--as", "human-action", "--note", what]));
        assert_eq!(stage.status().len(), 0, "the slot is free");
        let board = silent(stage.locked(2).args(["status"]));
        assert!(board.starts_with("no live leases\n\nLEFT TO A PERSON  BY"), "{board}");
        assert!(board.contains(what) && board.contains("01010101 ("), "{board}");
        let duties: Vec<serde_json::Value> = json(stage.locked(2).args(["status", "--duties", "--json"]));
        assert_eq!((&duties[0]["note"], &duties[0]["ended_as"]), (&what.into(), &"human-action".into()));
        assert_eq!(stage.history()[0]["ended_as"], "human-action");
        // Who takes it up next is told, and not kept out.
        let said = says(stage.locked(2).args(["acquire", ROTATION]), 0);
        assert_eq!(said, format!("locked: {ROTATION} was left to a person: {what}\n"));
        silent(stage.locked(2).args(["release", ROTATION, "--as", "failed"]));
        silent(stage.locked(3).args(["release", ROTATION, "--duty", "--note", "revoked"]));
        assert_eq!(silent(stage.locked(2).args(["status", "--duties"])), "nothing is left to a person\n");
        let row = stage.history().into_iter().find(|row| row["holder"] == "01010101").expect("the row");
        let note = row["note"].as_str().expect("a note");
        assert_eq!(row["ended_as"], "completed");
        assert!(note.starts_with(&format!("{what}; done by 03030303 (")) && note.ends_with("): revoked"), "{note}");
        let said = says(stage.locked(3).args(["release", ROTATION, "--duty"]), 64);
        assert!(said.starts_with(&format!("REFUSED: nothing of {ROTATION} is left to a person\n")), "{said}");
    }
}

/// What was left in one word with a rotation is its files and workflows: one duty, and closed in one word.
#[test]
fn what_was_left_with_a_rotation_is_done_with_it() {
    for stage in Stage::both("duties_of_one_word") {
        let open = || {
            let duties: Vec<serde_json::Value> = json(stage.locked(2).args(["status", "--duties", "--json"]));
            duties.iter().map(|duty| duty["resource"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
        };
        let leave = |resources: &[&str]| {
            silent(stage.locked(1).arg("acquire").args(resources));
            silent(stage.locked(1).arg("release").args(resources).args(["--as", "human-action"]));
        };
        // Another word about the same file is another duty.
        leave(&["sops:n8n"]);
        leave(&[ROTATION, "sops:app", "sops:n8n", "workflow:sync"]);
        assert_eq!(open().len(), 5);
        let done: serde_json::Value = json(stage.locked(2).args(["release", ROTATION, "--duty", "--json"]));
        assert_eq!(done["of"], serde_json::json!([ROTATION, "sops:app", "workflow:sync"]));
        assert_eq!((done["duties"].clone(), open()), (3.into(), vec!["sops:n8n".to_owned(); 2]));
        silent(stage.locked(2).args(["release", "sops:n8n", "--duty"]));
        // A file of it is not all of it.
        leave(&[ROTATION, "sops:app"]);
        silent(stage.locked(2).args(["release", "sops:app", "--duty"]));
        assert_eq!(open(), [ROTATION]);
        silent(stage.locked(2).args(["release", ROTATION, "--duty"]));
        assert!(open().is_empty());
    }
}

fn open_duties(stage: &Stage) -> Vec<(String, String)> {
    let duties: Vec<serde_json::Value> = json(stage.locked(2).args(["status", "--duties", "--json"]));
    let text = |duty: &serde_json::Value, key: &str| duty[key].as_str().unwrap_or_default().to_owned();
    duties.iter().map(|duty| (text(duty, "resource"), text(duty, "note"))).collect()
}

#[test]
fn another_rotation_or_a_server_is_not_done_with_it() {
    for stage in Stage::both("duties_of_others") {
        let left = ["rotation:AAA", "rotation:BBB", "server:web-1", "workflow:sync"];
        silent(stage.locked(1).arg("acquire").args(left));
        silent(stage.locked(1).arg("release").args(left).args(["--as", "human-action", "--note", "Maria: finish"]));
        let open = || open_duties(&stage).into_iter().map(|(name, _)| name).collect::<std::collections::BTreeSet<_>>();
        silent(stage.locked(2).args(["release", "rotation:AAA", "--duty"]));
        assert_eq!(open(), left[1..].iter().map(|&name| name.to_owned()).collect());
        // With the last rotation of the word its workflows are done; a server is nobody's part.
        silent(stage.locked(2).args(["release", "rotation:BBB", "--duty"]));
        assert_eq!(open(), ["server:web-1".to_owned()].into());
        let said = says(stage.locked(2).args(["release", "rotation:AAA", "--duty"]), 64);
        assert!(said.contains("nothing of rotation:AAA is left to a person"), "{said}");
    }
}

/// What ran under the hold, and who released it, stands behind what the person said, and takes nothing from it.
#[test]
fn a_duty_after_a_write_says_all_that_was_said_and_is_done_with_its_rotation() {
    for stage in Stage::both("duties_after_writes") {
        let what = format!("Maria: {}", "x".repeat(193));
        silent(stage.locked(1).args(["acquire", ROTATION, "sops:app"]));
        super::stage::ends(&mut stage.writes(1, APP), 0);
        let whole = crate::world::board::uuid(1);
        let release = ["--session", &whole, "release", ROTATION, "sops:app", "--as", "human-action", "--note", &what];
        silent(stage.locked(2).args(release));
        let open = open_duties(&stage);
        assert_eq!(open.len(), 2);
        for (name, note) in &open {
            assert!(note.starts_with(&format!("{what}; released by 02020202 (")), "{name}: {note}");
            assert_eq!(note.ends_with(&format!("; ran sops set {APP}")), name == "sops:app", "{name}: {note}");
        }
        silent(stage.locked(2).args(["release", ROTATION, "--duty", "--note", "revoked, and looked at"]));
        assert_eq!(open_duties(&stage), []);
        let done = stage.history()[0]["note"].to_string();
        assert!(done.contains(&what) && done.contains("revoked, and looked at"), "{done}");
    }
}
