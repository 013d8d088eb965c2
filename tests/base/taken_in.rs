//! Lines that lead somewhere: what a pull from a place takes in, what a clone cannot give, and an edit that its own session has
//! overtaken elsewhere.
#![forbid(unsafe_code)]

use std::path::Path;

use super::stage::{At, FILE, Stage, on_either_store, says};

on_either_store! {
    what_comes_from_a_clone_is_kept_whichever_side_is_taken,
    an_open_edit_is_older_than_what_its_own_session_has_written_elsewhere,
}

/// A key each from one base, the second on a branch that its clone has left: what the first is told to type.
fn told_to_pull(stage: &Stage, a: &Path, b: &Path) -> String {
    stage.sets(1, a, "A1");
    stage.commit(a, "A1");
    says(&mut stage.set_with(2, b, &["--accept-stale"], "B1"), 0);
    stage.commit(b, "B1");
    stage.git(b, &["checkout", "-q", "-b", "other"]);
    stage.refused(1, a).1
}

fn what_comes_from_a_clone_is_kept_whichever_side_is_taken(at: At) {
    for side in ["--ours", "--theirs"] {
        let stage = Stage::new(at);
        let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
        let line = told_to_pull(&stage, &a, &b);
        assert_eq!(line, format!("git pull --no-rebase {} main", b.display()));
        // They meet in the file: git asks.
        let pulled = stage.world.command("sh").current_dir(&a).args(["-c", &line]).output().expect("sh");
        assert!(!pulled.status.success());
        stage.git(&a, &["checkout", "-q", side, "--", FILE]);
        stage.sets(1, &a, if side == "--ours" { "B1" } else { "A1" });
        stage.commit(&a, "merged");
        let mut keys = stage.keys(&a);
        keys.sort();
        assert_eq!(keys, ["A1", "B1", "first"], "{side}");
        assert_eq!(stage.sets(1, &a, "A2"), "", "{side}");
    }
}

/// What is older than both sides, in the middle of a merge, would lose what is taken in.
#[test]
fn an_older_version_in_the_middle_of_a_merge_is_refused() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    let line = told_to_pull(&stage, &a, &b);
    assert!(!stage.world.command("sh").current_dir(&a).args(["-c", &line]).output().expect("sh").status.success());
    stage.git(&a, &["checkout", "-q", "origin/main", "--", FILE]);
    let (said, line) = stage.refused(1, &a);
    assert_eq!(line, "git status", "{said}");
}

#[test]
fn where_both_met_may_be_cut_off() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(1, &a, "A1");
    stage.push(&a);
    let b = stage.clone("b", &["--depth=1"]);
    std::fs::write(b.join("own"), "own\n").expect("a file");
    stage.commit(&b, "own");
    for key in ["A2", "A3"] {
        stage.sets(1, &a, key);
        stage.push(&a);
    }
    stage.git(&b, &["fetch", "-q", "--depth=1"]);
    let (said, line) = stage.refused(2, &b);
    let all = "'+refs/heads/*:refs/remotes/origin/*'";
    assert_eq!(line, format!("git fetch --unshallow origin {all} && git merge origin/main"), "{said}");
    stage.runs(&b, &line);
    assert_eq!(stage.sets(2, &b, "B1"), "");
    assert_eq!(stage.keys(&b), ["first", "A1", "A2", "A3", "B1"]);
}

#[test]
fn nobody_is_sent_to_pull_from_a_clone_without_contents() {
    let stage = Stage::new(At::Here);
    stage.git(&stage.dir("origin.git"), &["config", "uploadpack.allowFilter", "true"]);
    let (part, b) = (stage.clone("part", &["--filter=blob:none"]), stage.clone("b", &[]));
    stage.sets(1, &part, "A1");
    stage.commit(&part, "A1");
    stage.git(&part, &["checkout", "-q", "-b", "other"]);
    let (said, line) = stage.refused(2, &b);
    assert!(said.contains("once it was committed and pushed on") && line == "git pull", "{said}");
    stage.git(&part, &["push", "-q", "origin", "main"]);
    let (_, line) = stage.refused(2, &b);
    stage.runs(&b, &line);
    assert_eq!(stage.sets(2, &b, "B1"), "");
}

fn an_open_edit_is_older_than_what_its_own_session_has_written_elsewhere(at: At) {
    let stage = Stage::new(at);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    let encrypts = |status: i32| says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), status);
    says(stage.locked(1, &a).args(["-n", "sops", "decrypt", "-i", FILE]), 0);
    says(&mut stage.set(1, &b, "B1"), 0);
    stage.push(&b);
    let said = encrypts(74);
    assert!(said.starts_with(&format!("REFUSED: the plaintext for {FILE} is of an older version")), "{said}");
    assert!(std::fs::read_to_string(a.join(FILE)).expect("file").starts_with("first: one"), "it is what it was");
    // Without another writer it goes through, as often as one likes.
    stage.git(&a, &["checkout", "-q", "--", FILE]);
    stage.git(&a, &["pull", "-q"]);
    for _ in 0..2 {
        says(stage.locked(1, &a).args(["-n", "sops", "decrypt", "-i", FILE]), 0);
        encrypts(0);
    }
    assert_eq!(stage.keys(&a), ["first", "B1"]);
}
