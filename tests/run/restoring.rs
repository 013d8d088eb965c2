//! `locked restore`: what it brings back, what it accepts, and what it never does.
#![forbid(unsafe_code)]

use std::fs;

use super::stage::{FILE, RESOURCE, Stage, ends, says, silent, text};

/// A file that a killed sops left empty, after one proven write. The answer is the proven content.
fn emptied(stage: &Stage) -> Vec<u8> {
    ends(&mut stage.set(1, &[], "PROVEN", "1"), 0);
    let proven = stage.content();
    ends(stage.set(2, &[], "A", "1").env("PATH", stage.stand_in(": > \"$file\"; kill -9 $$")), 72);
    proven
}

#[test]
fn a_version_can_be_chosen() {
    let stage = Stage::new();
    let head = stage.content();
    for (from, words) in
        [("head", "HEAD"), ("proven", "the last proven copy of "), ("before", "the copy from before the write of ")]
    {
        let proven = emptied(&stage);
        let said = silent(stage.locked(3).args(["restore", FILE, "--from", from]));
        assert!(said.starts_with(&format!("restored {FILE} from {words}")), "{said}");
        match from {
            "head" => assert_eq!(stage.content(), head),
            "proven" => assert_eq!(stage.content(), proven),
            _ => assert!(!stage.content().is_empty()),
        }
        assert_eq!(stage.state(), None, "{from}");
        ends(&mut stage.set(4, &["-n"], "NEXT", "1"), 0);
        stage.world.git(&stage.world.work(), &["checkout", "-q", "--", FILE]);
    }
    let said = silent(stage.locked(3).args(["explain", "--", "sops", "decrypt", FILE]));
    assert!(said.starts_with("decision: pass"));
}

/// What a killed sops left empty comes back as it was just before, and not as another branch or worktree has it.
fn comes_back(stage: &Stage, cwd: &std::path::Path) {
    let file = cwd.join(FILE);
    let before = fs::read(&file).expect("file");
    let path = stage.stand_in(&format!(": > '{}'; kill -9 $$", file.display()));
    ends(stage.set(2, &["--accept-stale"], "A", "1").current_dir(cwd).env("PATH", path), 72);
    silent(stage.locked(3).args(["restore", FILE]).current_dir(cwd));
    assert!(fs::read(&file).expect("file") == before, "another version was brought back");
}

#[test]
fn the_version_of_this_worktree_comes_back_and_not_that_of_another() {
    let stage = Stage::new();
    let (work, other) = (stage.world.work(), stage.world.root().join("other"));
    stage.world.git(&work, &["worktree", "add", "-q", "-b", "feature", other.to_str().expect("UTF-8")]);
    silent(stage.set(1, &[], "FEATURE", "1").current_dir(&other));
    // That another branch has a newer one is said.
    ends(&mut stage.set(1, &[], "MAIN", "1"), 0);
    comes_back(&stage, &other);
    comes_back(&stage, &work);
}

#[test]
fn the_version_of_this_branch_comes_back_after_a_checkout() {
    let stage = Stage::new();
    silent(&mut stage.set(1, &[], "ONE", "1"));
    stage.commit("one");
    silent(&mut stage.set(1, &[], "TWO", "1"));
    stage.commit("two");
    stage.world.git(&stage.world.work(), &["checkout", "-q", "HEAD~1"]);
    comes_back(&stage, &stage.world.work());
}

#[test]
fn what_was_written_without_a_lease_since_the_last_proof_comes_back_too() {
    let stage = Stage::new();
    silent(&mut stage.set(1, &[], "ONE", "1"));
    let bare =
        stage.world.sops().args(["set"]).args(super::stage::DOTENV).arg(FILE).args(["[\"BARE\"]", "\"1\""]).status();
    assert!(bare.expect("sops").success());
    comes_back(&stage, &stage.world.work());
}

#[test]
fn a_mended_file_is_accepted_when_it_is_sound_and_only_then() {
    let stage = Stage::new();
    let proven = emptied(&stage);
    let said = says(stage.locked(3).args(["restore", FILE, "--accept"]), 72);
    assert!(said.starts_with(&format!("QUARANTINED: {FILE} stays quarantined: the file is empty\n")), "{said}");
    fs::write(stage.file(), "FIRST=plain\n").expect("file");
    let said = says(stage.locked(3).args(["restore", FILE, "--accept"]), 72);
    assert!(said.contains("plaintext"), "{said}");
    assert_eq!(stage.state().as_deref(), Some("quarantined"));
    fs::write(stage.file(), &proven).expect("file");
    let said = silent(stage.locked(3).args(["restore", FILE, "--accept", "--json"]));
    let answer: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((&answer["resource"], &answer["version"]), (&RESOURCE.into(), &"as it is".into()), "{said}");
    assert_eq!(stage.state(), None);
    assert_eq!(stage.receipts(), ["proven", "adopted"]);
    silent(&mut stage.set(4, &["-n"], "NEXT", "1"));
}

#[test]
fn a_sound_file_is_never_overwritten() {
    let stage = Stage::new();
    let proven = emptied(&stage);
    fs::write(stage.file(), &proven).expect("file");
    let said = says(stage.locked(3).args(["restore", FILE]), 72);
    assert!(said.starts_with(&format!("REFUSED: {FILE} is a sound SOPS file now and is not overwritten\n")), "{said}");
    assert!(said.ends_with(&format!("next:  locked restore {FILE} --accept\n")), "{said}");
    assert_eq!(stage.content(), proven);
    assert_eq!(stage.state().as_deref(), Some("quarantined"), "a look alone ends nothing");
    // Nor one that never was bad.
    let other = Stage::new();
    ends(other.locked(1).args(["restore", FILE]), 0);
    assert_eq!(other.state(), None);
}

#[test]
fn a_second_checkout_ends_a_quarantine_with_its_own_sound_copy() {
    let stage = Stage::new();
    let origin = stage.world.work().display().to_string();
    let (one, other) = (stage.world.root().join("one"), stage.world.root().join("other"));
    for place in [&one, &other] {
        stage.world.git(stage.world.root(), &["clone", "-q", &origin, place.to_str().expect("UTF-8")]);
    }
    let path = stage.stand_in(&format!(": > '{}'; kill -9 $$", one.join(FILE).display()));
    ends(stage.set(2, &[], "A", "1").current_dir(&one).env("PATH", path), 72);
    // From there one learns where the bad file is: host and whole path.
    let said = says(stage.set(3, &["-n"], "B", "1").current_dir(&other), 72);
    let host = text(&fs::read("/proc/sys/kernel/hostname").expect("host"));
    let place = format!("{}:{}", host.trim(), fs::canonicalize(&one).expect("one").join(FILE).display());
    assert!(
        said.starts_with(&format!("QUARANTINED: {RESOURCE} must not be written: {place}: the file is empty\n")),
        "{said}"
    );
    ends(stage.locked(3).args(["restore", FILE]).current_dir(&other), 72);
    silent(stage.locked(3).args(["restore", FILE, "--accept"]).current_dir(&other));
    silent(stage.set(3, &["-n"], "B", "1").current_dir(&other));
}

#[test]
fn a_restore_works_with_the_store_down_and_the_quarantine_is_ended_later() {
    let stage = Stage::new();
    let proven = emptied(&stage);
    let state = stage.world.state();
    let database = state.join("locked.db");
    let good = fs::read(&database).expect("database");
    fs::write(&database, vec![0xA5; good.len()]).expect("damaged");
    let output = ends(stage.locked(3).args(["restore", FILE]), 0);
    assert!(text(&output.stdout).starts_with(&format!("restored {FILE} from the last proven copy")), "{output:?}");
    assert!(text(&output.stderr).contains("--accept"), "the rest is named: {}", text(&output.stderr));
    assert_eq!(stage.content(), proven);
    fs::write(&database, &good).expect("mended");
    assert_eq!(stage.state().as_deref(), Some("quarantined"));
    silent(stage.locked(3).args(["restore", FILE, "--accept"]));
    silent(&mut stage.set(4, &["-n"], "NEXT", "1"));
}

#[test]
fn a_restore_works_without_any_state_directory_from_head() {
    let stage = Stage::new();
    let head = stage.content();
    emptied(&stage);
    // And of a file that is not there at all.
    fs::remove_file(stage.file()).expect("removed");
    let nowhere = stage.world.root().join("key.txt");
    let output = ends(stage.locked(3).args(["restore", FILE]).env("LOCKED_STATE_DIR", &nowhere), 0);
    assert!(text(&output.stdout).starts_with(&format!("restored {FILE} from HEAD")), "{output:?}");
    assert_eq!(stage.content(), head);
}

#[test]
fn a_restore_waits_for_nobody_who_is_still_writing() {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", RESOURCE]);
    fs::write(stage.file(), "").expect("file");
    let said = says(stage.locked(2).args(["-n", "restore", FILE]), 75);
    assert!(said.starts_with("BLOCKED: "), "{said}");
    assert!(stage.content().is_empty());
    held.let_go();
    silent(stage.locked(2).args(["restore", FILE]));
}

#[test]
fn a_quarantine_can_be_neither_released_nor_taken_by_its_own_session() {
    let stage = Stage::new();
    emptied(&stage);
    let said = says(stage.locked(2).args(["release", RESOURCE]), 72);
    assert!(said.starts_with(&format!("QUARANTINED: {RESOURCE} cannot be released: ")), "{said}");
    ends(&mut stage.set(2, &[], "A", "1"), 72);
    ends(stage.locked(2).args(["acquire", RESOURCE]), 72);
    ends(stage.locked(2).args(["-r", RESOURCE, "true"]), 72);
    stage.let_leases_expire();
    ends(&mut stage.set(2, &[], "A", "1"), 72);
}

/// Every file below the copies that holds this content.
fn copies_of(stage: &Stage, content: &[u8]) -> Vec<std::path::PathBuf> {
    let chains =
        fs::read_dir(stage.world.state().join("copies")).expect("copies").map(|chain| chain.expect("chain").path());
    let files = chains.flat_map(|chain| fs::read_dir(chain).expect("chain").map(|copy| copy.expect("copy").path()));
    files.filter(|copy| fs::read(copy).is_ok_and(|found| found == content)).collect()
}

#[test]
fn what_no_copy_is_left_of_is_said_to_be_lost() {
    let stage = Stage::new();
    ends(&mut stage.set(1, &[], "ONE", "1"), 0);
    let older = stage.content();
    let newest = emptied(&stage);
    let copies = copies_of(&stage, &newest);
    assert!(!copies.is_empty(), "there was one");
    copies.into_iter().for_each(|copy| fs::remove_file(copy).expect("removed"));
    let said = silent(stage.locked(3).args(["restore", FILE]));
    assert!(said.contains("; what 01010101 (") && said.contains(" is lost: there is no copy of it here"), "{said}");
    assert_eq!(stage.content(), older);
}
