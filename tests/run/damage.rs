//! Writers that die half-way: what they leave is found, by themselves or by the next one, and brought back.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Stdio;

use crate::world::ends::so;
use crate::world::processes;

use super::stage::{self, FILE, RESOURCE, Stage, ends, says, silent, until};

/// Quarantined as it should be: the next is refused with the reason, the board shows it, `restore` brings the version
/// back that was proven last, and then the next one goes.
#[track_caller]
fn refused_then_restored(stage: &Stage, proven: &[u8], by: &str) {
    assert_eq!(stage.state().as_deref(), Some("quarantined"), "{by}");
    let refusal = says(&mut stage.set(8, &[], "NEXT", "x"), 72);
    assert!(refusal.starts_with(&format!("QUARANTINED: {RESOURCE} must not be written: ")), "{by}: {refusal}");
    assert!(refusal.contains("the file is empty") && refusal.contains("locked restore "), "{by}: {refusal}");
    assert!(stage.content().is_empty(), "{by}: nothing was run");
    let board = silent(stage.world.locked().arg("status"));
    assert!(board.contains("quarantined") && board.contains("the file is empty"), "{by}: {board}");
    let said = silent(stage.locked(9).args(["restore", FILE]));
    assert!(said.starts_with(&format!("restored {FILE} from the last proven copy")), "{by}: {said}");
    assert_eq!(stage.content(), proven, "{by}");
    assert_eq!(stage.state(), None, "{by}");
    silent(&mut stage.set(8, &[], "NEXT", "x"));
    assert!(stage.keys().contains(&"NEXT=x".to_owned()), "{by}");
}

fn proven(stage: &Stage) -> Vec<u8> {
    silent(&mut stage.set(1, &[], "PROVEN", "1"));
    stage.content()
}

#[test]
fn a_sops_that_is_killed_half_way_is_quarantined_at_once() {
    let stage = Stage::new();
    let proven = proven(&stage);
    let path = stage.stand_in(": > \"$file\"; kill -9 $$");
    let refusal = says(stage.set(2, &[], "A", "1").env("PATH", &path), 72);
    assert!(refusal.contains(&format!("QUARANTINED: {RESOURCE}: {FILE}: the file is empty")), "{refusal}");
    refused_then_restored(&stage, &proven, "the child was killed");
}

/// A stand-in that empties the file, says so, and stays until it is killed.
pub(crate) fn half_way(stage: &Stage) -> std::ffi::OsString {
    stage.stand_in(": > \"$file\"; echo up; exec sleep 600")
}

#[test]
fn a_wrapper_that_is_killed_has_its_damage_found_by_the_keeper() {
    let stage = Stage::new();
    let proven = proven(&stage);
    let held = stage::Held::start(stage.set(2, &[], "A", "1").env("PATH", half_way(&stage)));
    let tree = processes::tree_below(held.pid());
    processes::kill(held.pid());
    so("the whole tree is gone", || !tree.iter().any(|pid| processes::lives(*pid)));
    refused_then_restored(&stage, &proven, "the wrapper was killed");
}

#[test]
fn wrapper_and_keeper_that_are_killed_have_their_damage_found_by_the_next() {
    let stage = Stage::new();
    let proven = proven(&stage);
    let held = stage::Held::start(stage.set(2, &[], "A", "1").env("PATH", half_way(&stage)));
    kill_everything(&stage, &held);
    let refusal = says(&mut stage.set(3, &[], "B", "1"), 72);
    assert!(refusal.starts_with(&format!("QUARANTINED: {RESOURCE}: ")), "{refusal}");
    assert!(refusal.contains("the file is empty") && refusal.contains("nothing was run"), "{refusal}");
    refused_then_restored(&stage, &proven, "wrapper and keeper were killed");
}

#[test]
fn the_program_dies_with_wrapper_and_keeper() {
    let stage = Stage::new();
    let held = stage::Held::start(stage.set(2, &[], "A", "1").env("PATH", half_way(&stage)));
    let tree = processes::tree_below(held.pid());
    assert!(tree.len() >= 2, "keeper and program: {tree:?}");
    // The keeper first: it is the only child of the wrapper; the program gets its parent-death signal.
    kill_everything(&stage, &held);
    so("the program is gone", || !tree.iter().any(|pid| processes::lives(*pid)));
}

/// Stopped first, so that neither can act on the other's death. That they are gone is proven at once by who can see every
/// process; others wait for the lease to end, and here it ends.
pub(crate) fn kill_everything(stage: &Stage, held: &stage::Held) {
    let keepers = processes::children(held.pid());
    assert_eq!(keepers.len(), 1, "the keeper");
    let all: Vec<u32> = keepers.into_iter().chain([held.pid()]).collect();
    for pid in &all {
        processes::freeze(*pid);
    }
    for pid in &all {
        processes::kill(*pid);
    }
    so("both are gone", || !all.iter().any(|pid| processes::lives(*pid)));
    if !rustix::process::geteuid().is_root() {
        stage.let_leases_expire();
    }
}

#[test]
fn a_sound_write_of_one_who_died_is_recovered_and_the_next_goes_on() {
    let stage = Stage::new();
    silent(&mut stage.set(1, &[], "PROVEN", "1"));
    // The write is done and sound; only nobody could say so any more.
    let path = stage.stand_in("\"$real\" \"$@\" && echo up && exec sleep 600");
    let held = stage::Held::start(stage.set(2, &[], "DONE", "1").env("PATH", &path));
    kill_everything(&stage, &held);
    silent(&mut stage.set(3, &[], "NEXT", "1"));
    let keys = stage.keys();
    for key in ["PROVEN=1", "DONE=1", "NEXT=1"] {
        assert!(keys.contains(&key.to_owned()), "{key} in {keys:?}");
    }
    let history = stage.history();
    let ended: Vec<_> = history.iter().map(|lease| lease["ended_as"].as_str().unwrap_or_default()).collect();
    assert_eq!(ended, ["completed", "expired", "completed"], "{history:?}");
    assert_eq!(stage.receipts(), ["proven", "recovered", "proven"]);
}

#[test]
fn an_unchanged_file_of_one_who_died_is_no_matter() {
    let stage = Stage::new();
    let path = stage.stand_in("echo up; exec sleep 600");
    let held = stage::Held::start(stage.set(2, &[], "A", "1").env("PATH", &path));
    kill_everything(&stage, &held);
    silent(&mut stage.set(3, &[], "B", "1"));
    assert_eq!(stage.state(), None);
}

#[test]
fn a_wrapper_that_dies_while_it_waits_leaves_no_place_in_the_queue() {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", RESOURCE]);
    let mut waiting = stage.set(2, &["--wait", "10m"], "A", "1").stderr(Stdio::null()).spawn().expect("starts");
    until("it waits", || (stage.status().first()?["waiters"] == 1).then_some(()));
    processes::kill(waiting.id());
    waiting.wait().expect("reaped");
    until("its ticket is gone", || (stage.status().first()?["waiters"] == 0).then_some(()));
    held.let_go();
    silent(&mut stage.set(3, &["-n"], "B", "1"));
}

#[test]
fn a_restored_file_keeps_its_inode_mode_and_links() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let stage = Stage::new();
    let proven = proven(&stage);
    fs::set_permissions(stage.file(), fs::Permissions::from_mode(0o640)).expect("mode");
    fs::hard_link(stage.file(), stage.world.root().join("other-name")).expect("link");
    let before = fs::metadata(stage.file()).expect("file");
    let path = stage.stand_in(": > \"$file\"; kill -9 $$");
    ends(stage.set(2, &[], "A", "1").env("PATH", &path), 72);
    silent(stage.locked(2).args(["restore", FILE]));
    let after = fs::metadata(stage.file()).expect("file");
    assert_eq!((after.ino(), after.mode(), after.nlink()), (before.ino(), before.mode(), 2));
    assert_eq!(fs::read(stage.world.root().join("other-name")).expect("other"), proven);
    let aside = stage::files_below(&stage.world.state());
    let aside = aside.iter().filter(|path| path.extension().is_some_and(|ending| ending == "bad"));
    assert_eq!(aside.count(), 1, "what was bad is put aside, not deleted");
}
