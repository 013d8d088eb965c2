//! What happens between the request and the program: nothing of it may let a second writer in, or lose what was held.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::symlink;

use super::stage::{DOTENV, FILE, RESOURCE, Stage, ends, says, silent, until};

/// `current -> releases/2` while the writer of `releases/1` waits: it holds no lease on what it would write now.
#[test]
fn a_link_that_is_turned_while_one_waits_leads_to_no_write_without_a_lease() {
    let stage = Stage::new();
    let work = stage.world.work();
    for name in ["one.yaml", "two.yaml"] {
        stage.world.encrypted(name, "a: 1\n", "yaml");
    }
    let link = work.join("current.yaml");
    symlink("one.yaml", &link).expect("link");
    let two = fs::read(work.join("two.yaml")).expect("file");
    let held = stage.hold(1, &["-r", "sops:one"]);
    let mut waits = stage.locked(2);
    waits.args(["--wait", "10m", "sops", "set", "current.yaml", "[\"b\"]", "\"1\""]);
    let waiter = std::thread::spawn(move || says(&mut waits, 75));
    until("it waits in line", || (stage.status().first()?["waiters"] == 1).then_some(()));
    fs::remove_file(&link).expect("removed");
    symlink("two.yaml", &link).expect("link");
    held.let_go();
    let said = waiter.join().expect("refused");
    assert!(said.contains("BLOCKED: current.yaml leads to another file now"), "{said}");
    assert!(fs::read(work.join("two.yaml")).expect("file") == two, "it was written without a lease");
    assert_eq!(stage.state(), None, "the lease went back");
    silent(stage.locked(2).args(["-n", "sops", "set", "current.yaml", "[\"b\"]", "\"1\""]));
    assert_eq!(stage.history()[0]["resource"], "sops:two");
}

/// One file of the name is open as plaintext; the next command of the session, on another file of that name, cannot be
/// run. Others must not be let in at the plaintext.
#[test]
fn a_command_that_could_not_be_run_does_not_give_an_open_edit_away() {
    let stage = Stage::new();
    let sibling = "secrets/monitoring.yaml";
    stage.world.encrypted(sibling, "a: 1\n", "yaml");
    silent(stage.locked(1).args(["sops", "set", sibling, "[\"a\"]", "\"2\""]));
    ends(stage.locked(1).args(["sops", "decrypt"]).args(DOTENV).args(["-i", FILE]), 0);
    // No copy can be kept any more.
    let chains: Vec<_> = fs::read_dir(stage.world.state().join("copies")).expect("copies").collect();
    for chain in chains.into_iter().map(|entry| entry.expect("entry").path()) {
        fs::remove_dir_all(&chain).expect("chain");
        fs::write(&chain, "").expect("no directory");
    }
    ends(stage.locked(1).args(["-n", "sops", "set", sibling, "[\"b\"]", "\"1\""]), 69);
    assert_eq!(stage.state().as_deref(), Some("kept"), "the edit is open still");
    ends(stage.locked(2).args(["-n", "-r", RESOURCE, "true"]), 75);
    silent(stage.locked(1).args(["sops", "encrypt"]).args(DOTENV).args(["-i", FILE]));
    assert_eq!(stage.state(), None);
}
