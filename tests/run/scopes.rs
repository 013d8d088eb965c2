//! Who is in whose way: two checkouts of one repository always, two repositories never.
#![forbid(unsafe_code)]

use std::path::Path;

use super::stage::{FILE, RESOURCE, Stage, says, silent};

fn clone(stage: &Stage, origin: &str, name: &str) -> std::path::PathBuf {
    stage.world.git(stage.world.root(), &["clone", "-q", origin, name]);
    std::fs::canonicalize(stage.world.root()).expect("root").join(name)
}

#[track_caller]
fn blocked(stage: &Stage, cwd: &Path) {
    let said = says(stage.set(2, &["-n"], "A", "1").current_dir(cwd), 75);
    assert!(said.starts_with(&format!("BLOCKED: {RESOURCE} is held by 01010101 (")), "{said}");
}

#[test]
fn two_clones_of_one_origin_are_in_each_others_way() {
    let stage = Stage::new();
    let origin = stage.world.work().display().to_string();
    let (one, other) = (clone(&stage, &origin, "one"), clone(&stage, &format!("file://{origin}"), "other"));
    let held = stage.hold_in(&one, 1, &["-r", RESOURCE]);
    blocked(&stage, &other);
    blocked(&stage, &other.join("secrets/.."));
    held.let_go();
    silent(stage.set(2, &["-n"], "A", "1").current_dir(&other));
}

#[test]
fn two_worktrees_of_one_repository_are_in_each_others_way() {
    let stage = Stage::new();
    let side = stage.world.root().join("side");
    stage.world.git(&stage.world.work(), &["worktree", "add", "-q", "-b", "side", side.to_str().expect("UTF-8")]);
    let held = stage.hold_in(&side, 1, &["-r", RESOURCE]);
    blocked(&stage, &stage.world.work());
    held.let_go();
    silent(stage.set(2, &["-n"], "A", "1").current_dir(&side));
}

#[test]
fn two_repositories_with_the_same_stem_are_not() {
    let stage = Stage::new();
    let other = stage.world.root().join("unrelated");
    std::fs::create_dir_all(other.join("secrets")).expect("directory");
    std::fs::copy(stage.file(), other.join(FILE)).expect("copied");
    stage.world.git(&other, &["init", "-q"]);
    let held = stage.hold(1, &["-r", RESOURCE]);
    silent(stage.set(2, &["-n"], "A", "1").current_dir(&other));
    blocked(&stage, &stage.world.work());
    held.let_go();
}

#[test]
fn one_file_is_one_resource_from_every_cwd_link_and_spelling() {
    let stage = Stage::new();
    let work = stage.world.work();
    std::os::unix::fs::symlink(&work, stage.world.root().join("alias")).expect("link");
    std::os::unix::fs::symlink(stage.file(), stage.world.root().join("elsewhere.env")).expect("link");
    let held = stage.hold(1, &["-r", RESOURCE]);
    for (cwd, file) in [
        (work.join("secrets"), "monitoring.env.sops"),
        (work.join("secrets"), ".././secrets//monitoring.env.sops"),
        (stage.world.root().join("alias"), FILE),
        (stage.world.root().to_owned(), "elsewhere.env"),
        (stage.world.root().to_owned(), "work/secrets/monitoring.env.sops"),
    ] {
        let said = says(stage.locked(2).current_dir(cwd).args(["-n", "sops", "rotate", "-i", file]), 75);
        assert!(said.starts_with(&format!("BLOCKED: {RESOURCE} ")), "{file}: {said}");
    }
    held.let_go();
}
