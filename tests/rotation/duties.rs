//! What is left to a person.
#![forbid(unsafe_code)]

use super::stage::{ROTATION, Stage, says, silent};
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
