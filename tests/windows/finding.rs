//! Which program is meant: by PATH and PATHEXT, and never from where we or the caller happen to be.

use super::stage::{Stage, good};

#[test]
fn a_name_is_looked_for_on_path_with_every_extension() {
    let stage = Stage::new().with("exits");
    let found = |word: &str| stage.ran(&[word, "7"]).status.code();
    assert_eq!(found("exits"), Some(7));
    assert_eq!(found("exits.exe"), Some(7));
    assert_eq!(found("EXITS"), Some(7));
    let typed = stage.at("bin/exits").display().to_string();
    assert_eq!(found(&typed), Some(7), "a path without its extension");
    // An extension that PATHEXT does not name is none of a program.
    let output = stage.locked(&["exits", "7"]).env("PATHEXT", ".COM").output().expect("locked runs");
    assert_eq!(output.status.code(), Some(127));
}

#[test]
fn neither_the_working_directory_nor_our_own_is_looked_into() {
    let stage = Stage::new();
    stage.put("exits", "repo/exits.exe");
    stage.put("exits", "home/exits.exe");
    std::fs::copy(env!("CARGO_BIN_EXE_locked"), stage.at("home/locked.exe")).expect("copied");
    for path in ["", ".", ";", "bin;."] {
        let mut command = stage.command(stage.at("home/locked.exe"));
        let output = command.args(["exits", "7"]).env("PATH", path).output().expect("locked runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(127), "{path:?}: {said}");
    }
}

#[test]
fn rules_know_a_program_by_its_name_whatever_its_letters_and_its_extension() {
    let stage = Stage::new().with("sops");
    stage.secret("secrets/monitoring.env.sops");
    for word in ["sops", "sops.exe", "SOPS.EXE", "Sops"] {
        let text = good(&stage.ran(&["explain", "--json", "--", word, "rotate", "-i", "secrets/monitoring.env.sops"]));
        assert!(text.contains("sops:monitoring") && text.contains("sops.rotate"), "{word}: {text}");
    }
}
