//! The verification that the decision record asks for, with two processes, over both stores.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Stdio;

use super::stage::{Held, ISSUE, ROTATION, Stage, ends, says, silent, text};

#[test]
fn two_who_rotate_one_secret_in_the_embedded_store() {
    verify(&Stage::new());
}

#[test]
fn two_who_rotate_one_secret_on_a_server() {
    verify(&Stage::on_server("two_who_rotate"));
}

fn verify(stage: &Stage) {
    a_second_one_is_denied_and_told_who(stage);
    when_the_first_has_closed_the_second_gets_it(stage);
    of_two_reclaimers_exactly_one_wins(stage);
    who_was_reclaimed_aborts_at_the_last_look(stage);
    a_closed_issue_aborts(stage);
}

/// The row is there before the program is started, and nobody waits to rotate once more.
fn a_second_one_is_denied_and_told_who(stage: &Stage) {
    let look = format!("'{}' status --json > seen; echo up; cat", env!("CARGO_BIN_EXE_locked"));
    let first = Held::start(&mut stage.rotates(1, &["--issue", ISSUE, "--consumers-ok"], &look));
    let seen = fs::read_to_string(stage.world.work().join("seen")).expect("seen");
    assert!(seen.contains(ROTATION) && seen.contains(" for acme/infra#5925\""), "{seen}");
    for mut second in [stage.rotates(2, &[], "touch ran"), stage.locked(2)] {
        if second.get_args().next().is_none() {
            second.args(["acquire", ROTATION, "--issue", ISSUE]);
        }
        let said = says(&mut second, 75);
        assert!(said.starts_with("BLOCKED: rotation:API_KEY is held by 01010101 (") && said.contains(ISSUE), "{said}");
        assert!(said.contains("two new values would replace each other"), "{said}");
        assert!(said.contains("retry: yes, when it has ended, if the secret still needs another new value"), "{said}");
    }
    assert!(!stage.is_there("ran"));
    // Another secret is nobody's business here.
    silent(stage.locked(2).args(["--secret", "API_KEY_2", "--consumers-ok", "true"]));
    first.let_go();
}

fn when_the_first_has_closed_the_second_gets_it(stage: &Stage) {
    let said = silent(stage.locked(1).args(["acquire", ROTATION, "--operation", "mongosh updateUser"]));
    assert!(said.starts_with("acquired rotation:API_KEY for 30m"), "{said}");
    says(stage.locked(2).args(["acquire", ROTATION]), 75);
    silent(stage.locked(1).args(["release", ROTATION, "--as", "failed", "--note", "the server was down"]));
    silent(stage.locked(2).args(["acquire", ROTATION]));
    silent(stage.locked(2).args(["release", ROTATION, "--as", "completed", "--consumers-ok"]));
    let history = stage.history();
    let ends: Vec<_> = history.iter().take(2).map(|row| (row["ended_as"].as_str(), row["note"].as_str())).collect();
    assert_eq!(ends[1], (Some("failed"), Some("the server was down")));
    assert_eq!(ends[0].0, Some("completed"));
    let accepted = ends[0].1.expect("a note");
    assert_eq!(accepted, "not written: secrets/app.env.sops, secrets/n8n.yaml");
}

/// A crashed, with a row as old as its TTL.
fn of_two_reclaimers_exactly_one_wins(stage: &Stage) {
    for _ in 0..4 {
        silent(stage.locked(1).args(["acquire", ROTATION]));
        stage.back_date();
        let both: Vec<_> = [2, 3]
            .into_iter()
            .map(|session| {
                let mut command = stage.locked(session);
                command.args(["acquire", ROTATION]).stdout(Stdio::piped()).stderr(Stdio::piped());
                command.spawn().expect("it starts")
            })
            .collect();
        let outputs: Vec<_> = both.into_iter().map(|child| child.wait_with_output().expect("it ends")).collect();
        let won: Vec<_> = (0..2).filter(|&at| outputs[at].status.code() == Some(0)).collect();
        let [winner] = won[..] else { panic!("{outputs:?}") };
        let loser = &outputs[1 - winner];
        let name = if winner == 0 { "02020202" } else { "03030303" };
        // It does not try again.
        assert_eq!(loser.status.code(), Some(75), "{loser:?}");
        assert!(text(&loser.stderr).starts_with(&format!("BLOCKED: {ROTATION} is held by {name} (")), "{loser:?}");
        let history = stage.history();
        let crashed = &history[0];
        assert_eq!((&crashed["holder"], &crashed["ended_as"]), (&"01010101".into(), &"expired".into()));
        let note = crashed["note"].as_str().expect("a note");
        assert!(note.starts_with(&format!("presumed crashed, reclaimed by {name} (")), "{note}");
        let winner = if winner == 0 { 2 } else { 3 };
        silent(stage.locked(winner).args(["release", ROTATION, "--as", "failed"]));
    }
}

fn who_was_reclaimed_aborts_at_the_last_look(stage: &Stage) {
    let json = silent(stage.locked(1).args(["acquire", ROTATION, "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let token = json["acquired"][0]["token"].as_i64().expect("a token").to_string();
    let check = |token: &str| {
        let mut command = stage.locked(1);
        command.args(["check", ROTATION, "--token", token]);
        command
    };
    silent(&mut check(&token));
    // Slow, but nobody was here: the look gives the write a whole TTL.
    stage.back_date();
    silent(&mut check(&token));
    says(stage.locked(2).args(["acquire", ROTATION]), 75);
    stage.back_date();
    silent(stage.locked(2).args(["acquire", ROTATION]));
    let said = says(&mut check(&token), 77);
    assert!(said.starts_with("REFUSED: rotation:API_KEY is held by 02020202 ("), "{said}");
    assert!(said.contains("now; this session's ended as expired (presumed crashed, reclaimed by 02020202 ("), "{said}");
    assert!(said.contains("(reconcile)\nnext:  locked history rotation:API_KEY"), "{said}");
    silent(stage.locked(2).args(["release", ROTATION, "--as", "failed"]));
    let said = says(stage.locked(1).args(["check", ROTATION]), 77);
    assert!(said.contains("is not this session's any more: it ended as expired (presumed crashed, "), "{said}");
    // What the session holds anew is another right than the one that was lost.
    silent(stage.locked(1).args(["acquire", ROTATION]));
    says(&mut check(&token), 77);
    silent(stage.locked(1).args(["check", ROTATION]));
    silent(stage.locked(1).args(["release", ROTATION, "--as", "failed"]));
}

fn a_closed_issue_aborts(stage: &Stage) {
    for (state, status, word) in [
        ("CLOSED", 79, "acme/infra#5925 is closed"),
        ("MERGED", 79, "acme/infra#5925 is closed"),
        ("none", 80, "whether acme/infra#5925 is still open is not known: gh ended with status 1"),
        ("login", 80, "whether acme/infra#5925 is still open is not known: gh is not logged in (gh auth login)"),
        ("what", 80, "whether acme/infra#5925 is still open is not known: what gh answered is no state of an issue"),
    ] {
        stage.issue_is("OPEN");
        silent(stage.locked(1).args(["acquire", ROTATION, "--issue", ISSUE]));
        silent(stage.locked(1).args(["check", ROTATION]));
        stage.issue_is(state);
        // The issue is known from the hold.
        let said = says(stage.locked(1).args(["check", ROTATION]), status);
        assert!(said.starts_with(&format!("REFUSED: {word}")) && said.contains("; do not write"), "{said}");
        silent(stage.locked(1).args(["release", ROTATION, "--as", "failed"]));
        let said = says(stage.locked(1).args(["acquire", ROTATION, "--issue", ISSUE]), status);
        assert!(said.contains(word) && said.contains("nothing is held"), "{said}");
        let said = says(&mut stage.rotates(1, &["--issue", ISSUE], "touch ran"), status);
        assert!(said.contains(word) && said.contains("nothing was run"), "{said}");
        assert_eq!(stage.status().len(), 0, "{state}: nothing stays held");
    }
    assert!(!stage.is_there("ran"));
}

#[test]
fn a_store_that_does_not_answer_denies_and_what_is_forced_is_told_later() {
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", ROTATION, "--issue", ISSUE]));
    let file = stage.world.state().join("locked.db");
    fs::rename(&file, file.with_extension("away")).expect("away");
    fs::create_dir(&file).expect("in the way");
    for words in [&["acquire", ROTATION][..], &["check", ROTATION], &["--secret", "API_KEY", "touch", "ran"]] {
        let said = says(stage.locked(2).args(words), 69);
        assert!(said.contains("only the store knows who holds what; nothing was run"), "{words:?}: {said}");
    }
    assert!(!stage.is_there("ran"));
    // The issue counts also where the store is passed over.
    stage.issue_is("CLOSED");
    let force = ["--force", "--reason", "asked everybody"];
    says(&mut stage.rotates(2, &[&force[..], &["--issue", ISSUE]].concat(), "touch ran"), 79);
    stage.issue_is("OPEN");
    let said = says(&mut stage.rotates(2, &[&force[..], &["--issue", ISSUE]].concat(), "touch forced"), 0);
    assert!(said.contains("runs without a lease, by force (asked everybody)"), "{said}");
    assert!(stage.is_there("forced") && !stage.is_there("ran"));
    // A hold between commands, too: nobody has it, and a person is to see to it.
    let said = says(stage.locked(2).args(force).args(["acquire", ROTATION]), 0);
    assert!(said.starts_with(&format!("locked: {ROTATION} is not held, by force (asked everybody): ")), "{said}");
    fs::remove_dir(&file).expect("out of the way");
    fs::rename(file.with_extension("away"), &file).expect("back");
    ends(stage.locked(3).args(["-r", "server:x", "true"]), 0);
    let history = stage.history();
    let is_forced =
        |note: &serde_json::Value| note.as_str().is_some_and(|note| note.starts_with("forced: asked everybody"));
    let forced = history.iter().filter(|row| is_forced(&row["note"]) && row["holder"] == "02020202");
    let mut ends: Vec<_> = forced.map(|row| (row["resource"].as_str(), row["ended_as"].as_str())).collect();
    ends.sort_unstable();
    assert_eq!(ends, [(Some(ROTATION), Some("failed")), (Some(ROTATION), Some("human-action"))]);
    assert!(silent(stage.locked(3).args(["status", "--duties"])).contains("forced: asked everybody"));
}
