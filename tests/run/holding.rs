//! Leases over several commands: `acquire` to `release`, and open edits.
#![forbid(unsafe_code)]

use std::fs;

use super::stage::{DOTENV, FILE, RESOURCE, Stage, contains, ends, says, silent};

#[test]
fn an_explicit_hold_is_its_sessions_until_it_is_released() {
    let stage = Stage::new();
    let said = silent(stage.locked(1).args(["acquire", RESOURCE, "--operation", "rotation", "--ttl", "10m"]));
    assert_eq!(said, format!("acquired {RESOURCE} for 10m\n"));
    let said = silent(stage.locked(1).args(["acquire", RESOURCE]));
    assert!(said.ends_with("(this session held it already)\n"), "{said}");
    let said = says(&mut stage.set(2, &["-n"], "A", "1"), 75);
    assert!(said.contains("why:   held between commands since "), "{said}");
    for _ in 0..2 {
        silent(&mut stage.set(1, &["-n"], "A", "1"));
        let status = stage.status();
        assert_eq!(
            (&status[0]["explicit"], &status[0]["state"]),
            (&true.into(), &"held".into()),
            "given back: {status:?}"
        );
    }
    // A failure of one command does not end the hold either.
    ends(stage.set(1, &[], "A", "1").env("PATH", stage.stand_in("exit 3")), 3);
    ends(&mut stage.set(2, &["-n"], "A", "1"), 75);
    silent(stage.locked(1).args(["renew", RESOURCE]));
    for verb in ["renew", "release", "check"] {
        let said = says(stage.locked(2).args([verb, RESOURCE]), 77);
        assert!(said.starts_with(&format!("REFUSED: {RESOURCE} is held by 01010101 (")), "{verb}: {said}");
    }
    silent(stage.locked(1).args(["check", RESOURCE]));
    silent(stage.locked(1).args(["release", RESOURCE, "--as", "human-action"]));
    assert_eq!(stage.history()[0]["ended_as"], "human-action");
    ends(stage.locked(1).args(["check", RESOURCE]), 77);
    ends(stage.locked(1).args(["release", RESOURCE]), 77);
    silent(&mut stage.set(2, &["-n"], "B", "1"));
}

#[test]
fn several_resources_are_acquired_all_or_none() {
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", "server:b"]));
    let said = says(stage.locked(2).args(["acquire", "-n", "server:c", "server:b", "server:a"]), 75);
    assert!(said.starts_with("BLOCKED: server:b is held by "), "{said}");
    assert_eq!(stage.status().len(), 1, "neither a nor c is held");
    silent(stage.locked(1).args(["release", "server:b"]));
    let said = silent(stage.locked(2).args(["acquire", "-n", "server:c", "server:b", "server:a"]));
    assert_eq!(said.lines().count(), 3);
    let said = silent(stage.locked(2).args(["release", "server:a", "server:b", "server:c", "--json"]));
    assert!(said.contains("\"released\""), "{said}");
}

#[test]
fn a_wrapped_command_can_check_that_it_still_holds() {
    let stage = Stage::new();
    let check = format!("'{}' check {RESOURCE}", env!("CARGO_BIN_EXE_locked"));
    // Under the command's own session, and under another one: the tokens speak.
    silent(stage.locked(1).args(["-r", RESOURCE, "sh", "-c", &check]));
    silent(stage.locked(1).args([
        "-r",
        RESOURCE,
        "sh",
        "-c",
        &format!("LOCKED_SESSION={} {check}", super::stage::uuid(2)),
    ]));
    let stale = format!("LOCKED_TOKENS=1 LOCKED_SESSION={} {check}", super::stage::uuid(2));
    ends(stage.locked(1).args(["-r", RESOURCE, "sh", "-c", &stale]), 77);
    let other = check.replace("monitoring", "other");
    ends(stage.locked(1).args(["-r", RESOURCE, "sh", "-c", &other]), 77);
}

#[test]
fn the_program_finds_what_it_holds_in_its_environment() {
    let stage = Stage::new();
    let script = "echo \"$LOCKED_RESOURCES|$LOCKED_TOKENS|$LOCKED_LEASE|$LOCKED_HOLDER\"";
    let said = silent(stage.locked(1).args(["-r", "x:b", "-r", "x:a", "sh", "-c", script]));
    let parts: Vec<&str> = said.trim().split('|').collect();
    assert_eq!((parts[0], parts[3]), ("x:a x:b", "01010101"), "{said}");
    let tokens: Vec<i64> = parts[1].split(' ').map(|token| token.parse().expect("a number")).collect();
    assert_eq!(tokens.len(), 2);
    assert_eq!(parts[2].len(), 36, "{said}");
    let later = silent(stage.locked(1).args(["-r", "x:a", "sh", "-c", "echo $LOCKED_TOKENS"]));
    assert!(later.trim().parse::<i64>().expect("a number") > tokens[0], "tokens grow");
}

#[test]
fn what_is_held_together_is_given_back_in_reverse() {
    let stage = Stage::new();
    silent(stage.locked(1).args(["-r", "zone:T", "-r", "zone:M", "-r", "zone:D", "true"]));
    silent(stage.locked(1).args(["-r", "zone:A", "true"]));
    let history = silent(stage.locked(1).args(["history", "--json"]));
    let history: serde_json::Value = serde_json::from_str(&history).expect("JSON");
    let names = history.as_array().expect("a list").iter().map(|lease| lease["resource"].as_str().expect("a name"));
    // Newest first: of those that were held together, D was taken first and ended last.
    assert_eq!(names.collect::<Vec<_>>(), ["zone:A", "zone:D", "zone:M", "zone:T"]);
}

fn in_place(stage: &Stage, session: u32, word: &str) -> std::process::Command {
    let mut command = stage.locked(session);
    command.args(["-n", "sops", word, "-i"]).args(DOTENV).arg(FILE);
    command
}

#[test]
fn an_open_edit_belongs_to_its_session_until_the_file_is_sops_again() {
    let stage = Stage::new();
    let said = says(&mut in_place(&stage, 1, "decrypt"), 0);
    assert_eq!(
        said,
        format!(
            "locked: {FILE} is plaintext now; {RESOURCE} stays with this session until `sops encrypt -i` has made it SOPS again\n"
        )
    );
    assert_eq!(stage.state().as_deref(), Some("kept"));
    let said = says(&mut in_place(&stage, 2, "encrypt"), 75);
    assert!(said.contains(&format!("{FILE} is plaintext (an open edit)")), "{said}");
    fs::write(stage.file(), "FIRST=changed\nTHIRD=three\n").expect("edit");
    silent(&mut in_place(&stage, 1, "encrypt"));
    assert_eq!(stage.keys(), ["FIRST=changed", "THIRD=three"]);
    assert_eq!(stage.state(), None);
    silent(&mut stage.set(2, &["-n"], "A", "1"));
}

#[test]
fn a_hold_is_not_released_over_an_open_edit() {
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", RESOURCE]));
    ends(&mut in_place(&stage, 1, "decrypt"), 0);
    let said = says(stage.locked(1).args(["release", RESOURCE]), 72);
    let file = fs::canonicalize(stage.file()).expect("file").display().to_string();
    assert!(
        said.starts_with(&format!("REFUSED: {RESOURCE} is not released: {file} is plaintext (an open edit)\n")),
        "{said}"
    );
    assert_eq!(stage.state().as_deref(), Some("kept"));
    silent(stage.locked(1).args(["release", RESOURCE, "--as", "human-action"]));
    assert_eq!(stage.state(), None, "a person's word counts");
}

#[test]
fn a_failing_command_in_between_does_not_end_an_open_edit() {
    let stage = Stage::new();
    ends(&mut in_place(&stage, 1, "decrypt"), 0);
    let output = in_place(&stage, 1, "rotate").output().expect("runs");
    assert!(!output.status.success(), "sops cannot rotate plaintext");
    ends(&mut in_place(&stage, 2, "encrypt"), 75);
    // Nor does one that has nothing to do with the file.
    silent(stage.locked(1).args(["-r", RESOURCE, "true"]));
    ends(&mut in_place(&stage, 2, "encrypt"), 75);
    silent(&mut in_place(&stage, 1, "encrypt"));
    silent(&mut stage.set(2, &["-n"], "A", "1"));
}

#[test]
fn an_open_edit_that_expires_as_plaintext_is_quarantined_not_free() {
    let stage = Stage::new();
    for in_between in [false, true] {
        ends(&mut in_place(&stage, 1, "decrypt"), 0);
        if in_between {
            assert!(!in_place(&stage, 1, "rotate").status().expect("runs").success());
        }
        stage.let_leases_expire();
        let said = says(&mut in_place(&stage, 2, "encrypt"), 72);
        assert!(said.starts_with(&format!("QUARANTINED: {RESOURCE}: ")) && said.contains("plaintext"), "{said}");
        assert!(contains(&stage.content(), "FIRST=one"), "nothing was run");
        // Restoring would throw the edit away: that needs a word.
        let said = says(stage.locked(2).args(["restore", FILE]), 72);
        assert!(said.contains("plaintext"), "{said}");
        assert!(contains(&stage.content(), "FIRST=one"), "plaintext is not thrown away");
        silent(stage.locked(2).args(["restore", FILE, "--from", "before"]));
        assert_eq!(stage.keys(), ["FIRST=one", "SECOND=two"]);
    }
}

#[test]
fn an_acquired_edit_goes_back_to_the_hold_when_it_is_closed() {
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", RESOURCE]));
    ends(&mut in_place(&stage, 1, "decrypt"), 0);
    silent(&mut in_place(&stage, 1, "encrypt"));
    assert_eq!(stage.status()[0]["explicit"], true);
    ends(&mut in_place(&stage, 2, "rotate"), 75);
    silent(stage.locked(1).args(["release", RESOURCE]));
}
