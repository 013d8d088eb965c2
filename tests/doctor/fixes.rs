//! `--fix`: everything that it can mend at once, each said; then nothing of it is left.

use std::fs;
use std::os::unix::fs::symlink;

use crate::run::stage::{ends, text};

use super::bed::{Bed, mode, wrong};

#[test]
fn what_can_be_mended_is_mended_said_and_gone() {
    let bed = Bed::with_receipt();
    mode(&bed.stage.world.state(), 0o755);
    fs::remove_file(bed.shims().join("sops")).expect("gone");
    fs::remove_file(bed.shims().join("gh")).expect("gone");
    symlink("/opt/gone/locked", bed.shims().join("gh")).expect("dangling");
    mode(&bed.work().join(".git/hooks/pre-commit"), 0o644);
    let before = text(&ends(&mut bed.doctor(&[]), 78).stdout);
    assert!(before.trim_end().ends_with("; locked doctor --fix puts 4 findings right"), "{before}");
    let said = text(&ends(&mut bed.doctor(&["--fix"]), 0).stdout);
    assert_eq!(said.matches("    fixed: ").count(), 4, "{said}");
    let after = bed.findings(&[], &[]);
    assert!(wrong(&after).is_empty(), "{after:#?}");
}

/// What is somebody's own is never touched: settings, files, keys, leases of others.
#[test]
fn what_a_person_must_decide_is_left() {
    let bed = Bed::with_receipt();
    mode(&bed.stage.world.key_file(), 0o644);
    bed.tracked("plain.env.sops", "A=hunter2\n");
    fs::write(bed.work().join(".locked.toml"), "ttl = \"10m\"\n").expect("settings");
    let before = [fs::read(bed.work().join("plain.env.sops")).expect("file"), bed.stage.content()];
    let found = bed.findings(&["--fix"], &[("LOCKED_SESION", "x")]);
    for id in ["keys.mode", "files.plaintext", "settings.ignored", "settings.variable-unknown"] {
        let one = found.iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("{id}: {found:#?}"));
        assert_eq!((&one["fixable"], &one["fixed"]), (&false.into(), &serde_json::Value::Null), "{one:#}");
    }
    let after = [fs::read(bed.work().join("plain.env.sops")).expect("file"), bed.stage.content()];
    assert_eq!(before, after);
}
