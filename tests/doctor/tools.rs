//! The real programs and the keys.

use std::fs;

use crate::world::World;

use super::bed::{Bed, alone, findings, mode, wanted};

#[test]
fn a_sops_that_is_old_strange_slow_or_missing_is_found() {
    let bed = Bed::new();
    let with = |body: &str| {
        let mut command = bed.doctor(&["tools", "--json"]);
        findings(command.env("PATH", bed.path_with("sops", body)))
    };
    wanted(&with("echo 'sops 3.8.1 (latest)'"), ("tools.old", "fault", "install sops 3.9 or newer"));
    wanted(&with("echo hello; read line"), ("tools.unknown-version", "warning", "--version"));
    wanted(
        &with("[ \"$SOPS_DISABLE_VERSION_CHECK\" ] && echo sops 3.11.0; sleep 600 & exit 0"),
        ("tools.version", "ok", ""),
    );
    let hangs = with("exec sleep 600");
    wanted(&hangs, ("tools.hangs", "fault", "--version` waits for"));
    let none = findings(bed.doctor(&["tools", "--json"]).env("PATH", alone(&bed, "other", "exit 0")));
    let none = wanted(&none, ("tools.missing", "fault", "install sops 3.9 or newer"));
    assert!(none["what"].as_str().expect("text").contains("the real sops is not on PATH"), "a shim is none: {none}");
}

#[test]
fn an_identity_that_is_open_missing_or_of_another_is_found() {
    let bed = Bed::new();
    let key = bed.stage.world.key_file();
    mode(&key, 0o644);
    bed.finds(&[], ("keys.mode", "fault", "chmod 600 "));
    mode(&key, 0o600);
    let nowhere = bed.stage.world.root().join("nowhere.txt").display().to_string();
    let found = bed.findings(&["keys"], &[("SOPS_AGE_KEY_FILE", &nowhere)]);
    wanted(&found, ("keys.file", "fault", "unset SOPS_AGE_KEY_FILE"));
    wanted(&found, ("keys.none", "fault", "keys.txt"));
    let stranger = World::new();
    mode(&stranger.key_file(), 0o600);
    let theirs = stranger.key_file().display().to_string();
    bed.finds(&[("SOPS_AGE_KEY_FILE", &theirs)], ("keys.none-opens", "fault", "locked sops updatekeys"));
    bed.finds(
        &[("SOPS_AGE_KEY_FILE", &theirs), ("SOPS_AGE_KEY_CMD", "false")],
        ("keys.unknown", "note", "sops decrypt"),
    );
    let unproven = bed.findings(&["files"], &[("SOPS_AGE_KEY_FILE", &theirs)]);
    wanted(&unproven, ("files.unverified", "note", "locked doctor keys"));
    fs::remove_file(&key).expect("key");
    bed.finds(&[], ("keys.none", "fault", "keys.txt"));
}
