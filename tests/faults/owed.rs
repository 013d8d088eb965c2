//! What a writer left bad is found by whoever takes its lease next, also by one that runs no command: a restore, an adoption.
#![forbid(unsafe_code)]

use std::process::Command;

use crate::world::apart::{sees_every_process, this_test};
use crate::world::ends::so;

use super::killed::Whom;
use super::sops::Sops;
use super::stage::Run;

/// Of the bad kind that does not show in the file itself: whole, and nobody of us can read it.
fn dies_after_locking_everybody_out(sops: &Sops) {
    sops.stay("after-set");
    let one = Run::of(sops.set(&[], "B", "2"));
    sops.came_to("after-set");
    sops.locks_everybody_out();
    Whom::Both.kill(&one);
    let _killed = one.ends();
    sops.go_on("after-set");
    sops.stage.is_empty_soon();
}

fn verb(sops: &Sops, words: &[&str]) -> Command {
    let mut command = sops.locked();
    command.args(["--wait", "50s"]).args(words).arg(&sops.file);
    sops.stage.prepare(&mut command, words[0]);
    command
}

#[test]
fn a_restore_brings_back_what_a_dead_writer_made_unreadable() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let sops = Sops::new();
    dies_after_locking_everybody_out(&sops);
    let restore = Run::of(verb(&sops, &["restore"])).ends();
    assert!(restore.code == Some(0), "{}", restore.said);
    assert_eq!((sops.plain().as_str(), sops.stage.leases()), ("A=1\n", 0));
}

/// Nothing that was found bad is forgotten because the restore that found it did nothing.
#[test]
fn a_restore_that_does_nothing_leaves_it_quarantined() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let sops = Sops::new();
    dies_after_locking_everybody_out(&sops);
    let restore = Run::of(verb(&sops, &["restore", "--from", "nowhere"])).ends();
    assert!(restore.code != Some(0), "{}", restore.said);
    let next = Run::of(sops.set(&["--wait", "50s"], "C", "3")).ends();
    assert_eq!(next.code, Some(72), "{}", next.said);
    assert_eq!(Run::of(verb(&sops, &["restore"])).ends().code, Some(0));
    assert_eq!(sops.plain(), "A=1\n");
}

#[test]
fn an_adoption_takes_nothing_that_a_dead_writer_made_unreadable() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let sops = Sops::new();
    dies_after_locking_everybody_out(&sops);
    let adopt = Run::of(verb(&sops, &["adopt"])).ends();
    assert_eq!(adopt.code, Some(72), "{}", adopt.said);
    assert!(
        adopt.said.contains("recipients are missing") && adopt.said.contains("nothing was adopted"),
        "{}",
        adopt.said
    );
    assert_eq!(sops.stage.number("select count(*) from receipts"), 0);
    assert_eq!(Run::of(verb(&sops, &["restore"])).ends().code, Some(0));
    assert_eq!(sops.plain(), "A=1\n");
}

#[test]
fn a_sound_write_of_a_dead_one_has_its_receipt_from_whoever_comes_next() {
    if !sees_every_process(this_test!()) {
        return;
    }
    for words in ["restore", "adopt"] {
        let sops = Sops::new();
        sops.unsettled_write();
        let next = Run::of(verb(&sops, &[words])).ends();
        assert_eq!(next.code, Some(0), "{words}: {}", next.said);
        assert_eq!((sops.plain().as_str(), sops.stage.leases()), ("A=1\nB=2\n", 0), "{words}");
        assert_eq!(sops.stage.number("select count(*) from receipts where kind = 'recovered'"), 1, "{words}");
    }
}

/// The file became bad, and its lease quarantined, while the restore waited.
#[test]
fn a_restore_that_waits_for_the_writer_restores_what_it_leaves() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let sops = Sops::new();
    sops.stay("after-set");
    let writer = Run::of(sops.set(&[], "B", "2"));
    sops.came_to("after-set");
    sops.locks_everybody_out();
    let restore = Run::of(verb(&sops, &["restore"]));
    so("the restore waits", || sops.stage.tickets() > 0);
    sops.go_on("after-set");
    let writer = writer.ends();
    assert_eq!(writer.code, Some(72), "{}", writer.said);
    let restore = restore.ends();
    assert_eq!(restore.code, Some(0), "{}", restore.said);
    assert_eq!((sops.plain().as_str(), sops.stage.leases()), ("A=1\n", 0));
}
