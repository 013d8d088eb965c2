//! `decrypt -i` … `encrypt -i` as one open edit: the keeper stays with the plaintext.

use std::path::Path;

use super::stage::{At, FILE, Stage, ends, says, text};
use crate::world::board::install;
use crate::world::ends::until;

fn opened(stage: &Stage, place: &Path) {
    let said = says(stage.locked(1, place).args(["-n", "sops", "decrypt", "-i", FILE]), 0);
    assert!(said.contains("is plaintext now"), "{said}");
}

/// The one lease, when it is in this state.
fn is(stage: &Stage, state: &str) -> serde_json::Value {
    until(&format!("it is {state}"), || {
        let board = stage.world.status();
        board.first().filter(|lease| lease["state"] == state).cloned()
    })
}

fn settings(stage: &Stage, text: &str) {
    let directory = stage.world.root().join("home/.config/locked");
    std::fs::create_dir_all(&directory).expect("directory");
    std::fs::write(directory.join("config.toml"), text).expect("settings");
}

#[test]
fn it_ends_when_the_file_is_sops_again_by_whoever_s_hand() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    opened(&stage, &a);
    assert_eq!(is(&stage, "kept")["plaintext"], true);
    let board = text(&ends(stage.locked(2, &a).arg("status"), 0).stdout);
    let file = a.join(FILE).display().to_string();
    assert!(
        board.contains(&format!("{file} is plaintext (an open edit); encrypt it again: locked sops encrypt -i {file}")),
        "{board}"
    );
    let plain = std::fs::read_to_string(a.join(FILE)).expect("plaintext");
    std::fs::write(a.join(FILE), format!("{plain}EDIT: 1\n")).expect("edited");
    says(stage.world.sops().current_dir(&a).args(["encrypt", "-i", FILE]), 0);
    until("it is free", || stage.world.status().is_empty().then_some(()));
    assert_eq!(stage.kinds(), ["recovered"]);
    assert_eq!(stage.sets(2, &a, "B1"), "", "its version is known");
    assert_eq!(stage.keys(&a), ["first", "EDIT", "B1"]);
}

#[test]
fn thrown_away_it_ends_without_a_receipt() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    opened(&stage, &a);
    stage.git(&a, &["checkout", "-q", "--", FILE]);
    until("it is free", || stage.world.status().is_empty().then_some(()));
    assert_eq!(stage.kinds(), [""; 0]);
}

#[test]
fn when_its_time_is_over_it_is_quarantined_and_not_free() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    settings(&stage, "max_hold = \"2s\"\n");
    opened(&stage, &a);
    let lease = is(&stage, "quarantined");
    assert!(lease["reason"].as_str().expect("a reason").ends_with(": plaintext; its time is over"), "{lease}");
    ends(&mut stage.set(2, &a, "B1"), 72);
}

#[test]
fn when_its_session_has_ended_it_is_quarantined_and_not_free() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    // A program of its own name is the anchor of what it starts.
    let agent = stage.dir("agent");
    install("/bin/sh", &agent, "0755");
    let mut command = stage.world.command(&agent);
    command.current_dir(&a).args([
        "-c",
        "\"$1\" -n sops decrypt -i \"$2\"; true",
        "agent",
        env!("CARGO_BIN_EXE_locked"),
        FILE,
    ]);
    ends(&mut command, 0);
    let lease = is(&stage, "quarantined");
    assert!(lease["reason"].as_str().expect("a reason").ends_with(": plaintext; its session has ended"), "{lease}");
}

#[test]
fn plaintext_that_is_put_over_a_sops_file_is_one_too() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let line = ["-n", "sops", "decrypt", "--output", "secrets/other.sops.yaml", FILE];
    let said = says(stage.locked(1, &a).args(line), 0);
    assert!(said.contains("is plaintext now"), "{said}");
    ends(stage.locked(2, &a).args(["-n", "sops", "encrypt", "-i", "secrets/other.sops.yaml"]), 75);
    assert_eq!(says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", "secrets/other.sops.yaml"]), 0), "");
    assert_eq!(stage.world.status().len(), 0);
}

#[test]
fn its_own_encrypt_ends_it_at_once() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    opened(&stage, &a);
    ends(stage.locked(2, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 75);
    assert_eq!(says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 0), "");
    assert_eq!(stage.world.status().len(), 0);
    assert_eq!(stage.kinds(), ["proven"]);
}

#[test]
fn a_command_in_its_midst_that_is_refused_leaves_it_as_it_was() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    settings(&stage, "max_hold = \"6s\"\n");
    stage.follows(1, &a, &format!("locked sops decrypt {FILE} > ../p.yaml"));
    stage.sets(2, &a, "B1");
    opened(&stage, &a);
    std::fs::copy(stage.dir("p.yaml"), a.join(FILE)).expect("put over");
    says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 74);
    let lease = is(&stage, "kept");
    let reason = lease["reason"].as_str().expect("a reason");
    assert!(lease["plaintext"] == true && reason.ends_with(" is plaintext (an open edit)"), "{lease}");
    let board = text(&ends(stage.locked(2, &a).arg("status"), 0).stdout);
    assert!(board.contains("is plaintext (an open edit); encrypt it again"), "{board}");
    let lease = is(&stage, "quarantined");
    assert!(lease["reason"].as_str().expect("a reason").ends_with(": plaintext; its time is over"), "{lease}");
}
