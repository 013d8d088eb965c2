//! What a quarantine is about, and what ends it: the file that was found bad, and no other.
#![forbid(unsafe_code)]

use std::fs;

use super::damage::{half_way, kill_everything};
use super::stage::{FILE, Held, RESOURCE, Stage, ends, says, silent, text};

/// Another file with the stem of the first, sound and committed.
const SIBLING: &str = "secrets/monitoring.yaml";

fn with_sibling() -> Stage {
    let stage = Stage::new();
    stage.world.encrypted(SIBLING, "a: 1\n", "yaml");
    stage
}

fn set_sibling(stage: &Stage, session: u32) -> std::process::Command {
    let mut command = stage.locked(session);
    command.args(["-n", "sops", "set", SIBLING, "[\"b\"]", "\"1\""]);
    command
}

#[test]
fn a_sound_file_of_the_same_name_does_not_end_the_quarantine_of_the_bad_one() {
    let stage = with_sibling();
    ends(stage.set(2, &[], "A", "1").env("PATH", stage.stand_in(": > \"$file\"; kill -9 $$")), 72);
    let said = says(&mut set_sibling(&stage, 3), 72);
    assert!(said.ends_with(&format!("next:  locked restore {FILE}\n")), "the bad one is named: {said}");
    for words in [&["restore", SIBLING][..], &["restore", SIBLING, "--accept"]] {
        let said = says(stage.locked(3).args(words), 72);
        let bad = fs::canonicalize(stage.file()).expect("file");
        assert!(said.ends_with(&format!("next:  locked restore {}\n", bad.display())), "{said}");
        assert_eq!(stage.state().as_deref(), Some("quarantined"));
    }
    silent(stage.locked(3).args(["restore", FILE]));
    silent(&mut set_sibling(&stage, 3));
}

#[test]
fn damage_that_a_writer_of_the_other_file_has_found_is_still_known_to_restore() {
    let stage = with_sibling();
    let held = Held::start(stage.set(2, &[], "A", "1").env("PATH", half_way(&stage)));
    kill_everything(&stage, &held);
    // The next writer, of the other file, finds it.
    let said = says(&mut set_sibling(&stage, 3), 72);
    assert!(said.contains("monitoring.env.sops"), "{said}");
    let said = says(stage.locked(3).args(["restore", SIBLING, "--accept"]), 72);
    assert!(said.contains("monitoring.env.sops"), "{said}");
    assert_eq!(stage.state().as_deref(), Some("quarantined"));
    silent(stage.locked(3).args(["restore", FILE]));
    silent(&mut set_sibling(&stage, 3));
}

#[test]
fn what_was_held_by_hand_beside_the_bad_file_is_not_quarantined_with_it() {
    let stage = Stage::new();
    let path = stage.stand_in(": > \"$file\"; kill -9 $$");
    ends(stage.set(2, &["-r", "server:web-1"], "A", "1").env("PATH", path), 72);
    silent(stage.locked(3).args(["-n", "-r", "server:web-1", "true"]));
    assert_eq!(stage.state().as_deref(), Some("quarantined"));
    silent(stage.locked(3).args(["restore", FILE]));
    assert_eq!(stage.state(), None);
}

#[test]
fn the_sound_one_of_two_files_is_not_quarantined_with_the_bad_one() {
    let stage = Stage::new();
    let other = "secrets/other.env.sops";
    stage.world.encrypted(other, "A=1\n", "dotenv");
    // The first is emptied, the second written as it should be.
    let path = stage.stand_in(": > \"$file\"; exec \"$real\" set --input-type dotenv --output-type dotenv secrets/other.env.sops '[\"B\"]' '\"2\"'");
    let said = says(stage.locked(2).args(["-v", "sops", "updatekeys", "-y", FILE, other]).env("PATH", path), 72);
    assert!(said.contains("QUARANTINED: sops:monitoring: "), "{said}");
    assert!(said.contains("sops:monitoring quarantined, sops:other released as completed, one receipt"), "{said}");
    silent(stage.locked(3).args(["-n", "-r", "sops:other", "true"]));
    says(stage.locked(3).args(["-n", "-r", RESOURCE, "true"]), 72);
    silent(stage.locked(3).args(["restore", FILE]));
    assert_eq!(stage.state(), None);
}

#[test]
fn whoever_takes_over_from_a_killed_command_answers_for_the_files_of_what_they_take() {
    let stage = Stage::new();
    let other = "secrets/other.env.sops";
    stage.world.encrypted(other, "A=1\n", "dotenv");
    let half = half_way(&stage);
    let held = Held::start(stage.locked(2).args(["sops", "updatekeys", "-y", FILE, other]).env("PATH", half));
    kill_everything(&stage, &held);
    // The other file is as it was: its next writer is not stopped by what is bad beside it.
    let set = |file: &str| {
        let mut command = stage.locked(3);
        command.args(["sops", "set", "--input-type", "dotenv", "--output-type", "dotenv", file, "[\"B\"]", "\"2\""]);
        command
    };
    silent(&mut set(other));
    let said = says(&mut set(FILE), 72);
    assert!(said.contains("the last writer died without settling"), "{said}");
    silent(stage.locked(3).args(["restore", FILE]));
    silent(&mut set(FILE));
}

#[test]
fn two_files_that_one_command_left_bad_are_each_named_and_restored() {
    let stage = Stage::new();
    let other = "secrets/other.env.sops";
    stage.world.encrypted(other, "A=1\n", "dotenv");
    let path = stage.stand_in(&format!(": > \"$file\"; : > {other}; exit 1"));
    ends(stage.locked(2).args(["sops", "updatekeys", "-y", FILE, other]).env("PATH", path), 72);
    for (file, resource) in [(FILE, RESOURCE), (other, "sops:other")] {
        let said = says(stage.locked(3).args(["-n", "-r", resource, "true"]), 72);
        assert!(said.ends_with(&format!("next:  locked restore {file}\n")), "{said}");
        let output = ends(stage.locked(3).args(["restore", file]), 0);
        assert!(text(&output.stdout).starts_with("restored "), "{output:?}");
        silent(stage.locked(3).args(["-n", "-r", resource, "true"]));
    }
    assert_eq!(stage.state(), None);
}

#[test]
fn of_a_file_that_is_not_quarantined_nothing_else_is_said() {
    let stage = Stage::new();
    fs::write(stage.world.work().join("plain.yaml"), "a: 1\n").expect("file");
    for file in ["plain.yaml", "no-such.yaml"] {
        let said = says(stage.locked(1).args(["restore", file]), 72);
        assert!(said.starts_with(&format!("REFUSED: {file} is not restored: ")), "{said}");
        assert_eq!(stage.state(), None, "{file}");
    }
}

#[test]
fn what_is_no_regular_file_is_neither_waited_for_nor_called_sound() {
    let stage = Stage::new();
    for file in ["/dev/zero", "/dev/null", "secrets"] {
        let said = says(stage.locked(1).args(["restore", file]), 64);
        assert!(said.starts_with(&format!("REFUSED: {file} is no regular file\n")), "{said}");
    }
    assert_eq!(stage.state(), None);
}

/// The only copy is the one from before: `--from proven` would lead nowhere.
#[test]
fn the_way_to_throw_plaintext_away_names_a_version_that_there_is() {
    let stage = Stage::new();
    ends(stage.locked(1).args(["sops", "decrypt"]).args(super::stage::DOTENV).args(["-i", FILE]), 0);
    stage.let_leases_expire();
    ends(&mut stage.set(2, &["-n"], "A", "1"), 72);
    let said = says(stage.locked(2).args(["restore", FILE]), 72);
    assert!(
        said.contains("retry: yes, after the next step; or with --from before, which throws this plaintext away\n"),
        "{said}"
    );
    silent(stage.locked(2).args(["restore", FILE, "--from", "before"]));
    assert_eq!(stage.keys(), ["FIRST=one", "SECOND=two"]);
}
