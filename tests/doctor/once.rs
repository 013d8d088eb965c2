//! What was a SOPS file once and is none now, though neither its name nor a rule says that it should be.
#![forbid(unsafe_code)]

use std::fs;

use crate::run::stage::{ends, silent};
use crate::world::next::mixed;

use super::bed::{Bed, wanted, wrong};

const APP: &str = "secrets/app.yaml";
const PLAIN: &str = "db: hunter2\nother: x\n";

/// A file of an ordinary name that was written under a lease and committed, by a rule that means every file.
fn bed() -> Bed {
    let bed = Bed::with_receipt();
    let rules = format!("creation_rules:\n  - age: {}\n", bed.stage.world.recipient());
    bed.tracked(".sops.yaml", &rules);
    bed.stage.world.encrypted(APP, PLAIN, "yaml");
    bed.tracked(APP, &fs::read_to_string(bed.work().join(APP)).expect("file"));
    bed.stage.world.git(&bed.work(), &["commit", "-q", "--no-verify", "-m", "app"]);
    silent(bed.stage.world.locked_as(1).args(["-q", "sops", "set", APP, "[\"db\"]", "\"2\""]));
    bed.stage.world.git(&bed.work(), &["commit", "-q", "--no-verify", "-am", "set"]);
    bed
}

#[test]
fn a_file_that_was_sops_and_is_empty_is_restored_by_the_line_beside_it() {
    let bed = bed();
    assert!(wrong(&bed.findings(&["files"], &[])).is_empty(), "{:#?}", bed.findings(&["files"], &[]));
    for rule in ["", "  - path_regex: secrets/.*\n    age: {}\n"] {
        let rule = format!("creation_rules:\n{rule}  - age: {{}}\n").replace("{}", bed.stage.world.recipient());
        fs::write(bed.work().join(".sops.yaml"), rule).expect("rules");
        fs::write(bed.work().join(APP), "").expect("emptied");
        let found = bed.findings(&["files"], &[]);
        let line = wanted(&found, ("files.empty", "fault", &format!("locked restore {APP}")))["remedy"].clone();
        assert_eq!(wrong(&found), ["files.empty"], "it is told once: {found:#?}");
        let mut typed = bed.stage.world.locked_as(1);
        ends(typed.args(line.as_str().expect("a line").split(' ').skip(1)), 0);
        assert!(wrong(&bed.findings(&["files"], &[])).is_empty());
    }
}

/// Not committed yet, committed past the hook, and where this machine keeps no copies of it: the store has its chain.
#[test]
fn a_file_that_was_sops_and_lies_in_the_open_is_found() {
    let bed = bed();
    fs::write(bed.work().join(APP), PLAIN).expect("decrypted");
    let told = || {
        let found = bed.findings(&["files"], &[]);
        let one = wanted(&found, ("files.plaintext", "fault", &format!("locked sops encrypt -i {APP}")));
        assert!(one["what"].as_str().expect("text").ends_with("and was a SOPS file"), "{one}");
        assert_eq!(wrong(&found), ["files.plaintext"], "{found:#?}");
    };
    told();
    bed.stage.world.git(&bed.work(), &["commit", "-q", "--no-verify", "-am", "decrypted"]);
    told();
    fs::remove_dir_all(bed.stage.world.state().join("copies")).expect("another machine");
    told();
    // What lies in the open and never was one is nobody's business.
    bed.tracked("config.yaml", "a: 1\n");
    told();
}

/// Only the index has it as it was.
#[test]
fn what_only_the_index_has_encrypted_is_found() {
    let bed = Bed::new();
    bed.stage.world.encrypted("new.yaml", PLAIN, "yaml");
    bed.stage.world.git(&bed.work(), &["add", "new.yaml"]);
    fs::write(bed.work().join("new.yaml"), "").expect("emptied");
    let found = bed.findings(&["files"], &[]);
    let one = wanted(&found, ("files.empty", "fault", "new.yaml"));
    assert_eq!(mixed(one["remedy"].as_str().expect("text")), None);
}
