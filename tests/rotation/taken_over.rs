//! Who takes a lease over by word, without a command, is handed no unproven file.
#![forbid(unsafe_code)]

use std::fs;

use crate::world::apart::{sees_every_process, this_test};
use crate::world::ends::so;
use crate::world::processes;

use super::stage::{Held, N8N, Stage, ends, says, silent};

const RESOURCE: &str = "sops:n8n";

/// A command that has done `script` to the file under a lease, and wrapper and keeper of it are gone.
fn dead_after(stage: &Stage, options: &[&str], script: &str) {
    let mut command = stage.locked(1);
    command.args(options).args(["-r", RESOURCE, "sh", "-c", &format!("{script}; echo up; exec sleep 600")]);
    let held = Held::start(&mut command);
    let all: Vec<u32> = processes::children(held.pid()).into_iter().chain([held.pid()]).collect();
    all.iter().for_each(|pid| processes::freeze(*pid));
    all.iter().for_each(|pid| processes::kill(*pid));
    so("both are gone", || !all.iter().any(|pid| processes::lives(*pid)));
    stage.back_date();
}

#[test]
fn what_a_dead_command_left_is_proven_before_a_hold_is_reported() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let steal = ["steal", RESOURCE, "--reason", "dead", "--approved-by", "Ana"];
    let at_once = ["steal", RESOURCE, "--now", "--reason", "dead", "--approved-by", "Ana"];
    for stage in Stage::both("proven_before_a_hold") {
        let file = stage.world.work().join(N8N);
        let sound = fs::read(&file).expect("file");
        let ways: [&[&str]; 4] = [&["acquire", RESOURCE], &["acquire", RESOURCE, "--keep-alive"], &steal, &at_once];
        for way in ways {
            // As it was: nothing to say.
            dead_after(&stage, &[], "true");
            ends(stage.locked(2).args(way), 0);
            silent(stage.locked(2).args(["check", RESOURCE]));
            silent(stage.locked(2).args(["release", RESOURCE]));
            assert_eq!(stage.status().len(), 0, "{way:?}: nothing is owed any more");
            // Empty: nobody holds it.
            dead_after(&stage, &[], &format!(": > {N8N}"));
            let said = says(stage.locked(2).args(way), 72);
            assert!(said.starts_with(&format!("QUARANTINED: {RESOURCE}: ")), "{way:?}: {said}");
            assert!(said.contains("the file is empty") && said.contains("; nothing was acquired"), "{said}");
            assert_eq!(stage.status()[0]["state"], "quarantined", "{way:?}");
            ends(stage.locked(2).args(["check", RESOURCE]), 77);
            fs::write(&file, &sound).expect("brought back");
            ends(stage.locked(2).args(["restore", "--accept", N8N]), 0);
        }
        // Changed and sound: a write that nobody saw end.
        let before = fs::read(&file).expect("file");
        silent(&mut stage.writes(3, N8N));
        let after = fs::read(&file).expect("file");
        fs::write(&file, &before).expect("as before");
        fs::write(stage.world.work().join("after"), &after).expect("the new one");
        dead_after(&stage, &[], &format!("cat after > {N8N}"));
        ends(stage.locked(2).args(["acquire", RESOURCE, "server:beside"]), 0);
        silent(stage.locked(2).args(["release", RESOURCE, "server:beside"]));
        let dead = stage.history().into_iter().find(|it| it["ended_as"] == "completed" && it["resource"] == RESOURCE);
        assert!(dead.is_some_and(|it| it["receipt"].is_string()), "it left a receipt: {:?}", stage.history()[0]);
        assert_eq!(stage.status().len(), 0);
    }
}

/// What is sound of a set goes, what is bad stays, and what the session had it has.
#[test]
fn a_bad_file_of_a_set_takes_nothing_else_along() {
    if !sees_every_process(this_test!()) {
        return;
    }
    for stage in Stage::both("a_bad_file_of_a_set") {
        dead_after(&stage, &["-r", "sops:app"], &format!(": > {N8N}"));
        silent(stage.locked(2).args(["acquire", "server:mine"]));
        let said = says(stage.locked(2).args(["acquire", "server:mine", "sops:app", RESOURCE]), 72);
        assert!(said.contains("locked: server:mine is held as before\n"), "{said}");
        let board: Vec<String> =
            stage.status().iter().map(|it| format!("{} {}", it["resource"], it["state"]).replace('"', "")).collect();
        assert_eq!(board, ["server:mine held", "sops:n8n quarantined"]);
        silent(stage.locked(2).args(["check", "server:mine"]));
    }
}
