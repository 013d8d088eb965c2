//! kill -9 around a write: what was written and never settled is proven before the next one starts.
#![forbid(unsafe_code)]

use crate::world::apart::{sees_every_process, this_test};
use crate::world::processes::kill;

use super::killed::Whom;
use super::sops::Sops;
use super::stage::Run;

#[test]
fn killed_during_the_canary_the_files_are_proven_and_the_next_one_gets_in() {
    if !sees_every_process(this_test!()) {
        return;
    }
    for whom in [Whom::Wrapper, Whom::Keeper, Whom::Both] {
        let sops = Sops::new();
        sops.stay("before-decrypt");
        let one = Run::of(sops.set(&[], "B", "2"));
        sops.came_to("before-decrypt");
        whom.kill(&one);
        sops.go_on("before-decrypt");
        let _whatever_it_says = one.ends();
        sops.stage.is_empty_soon();
        let next = Run::of(sops.set(&["--wait", "50s"], "C", "3")).ends();
        assert_eq!((next.code, next.said.as_str()), (Some(0), ""), "{whom:?}");
        assert_eq!(sops.plain(), "A=1\nB=2\nC=3\n", "{whom:?}");
        let chain = sops.stage.number("select count(*) from receipts");
        assert_eq!(chain, 2, "{whom:?}: both writes have a receipt, whoever left it");
    }
}

/// What is done without a command below it (a restore, an adoption) lives and dies like a command: nobody waits for its time.
#[test]
fn a_restore_that_is_killed_keeps_nobody_waiting() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let sops = Sops::new();
    assert_eq!(Run::of(sops.set(&[], "B", "2")).ends().code, Some(0));
    let whole = std::fs::read_to_string(&sops.file).expect("the file");
    for verb in ["restore", "adopt"] {
        let text = if verb == "restore" { whole.replace("ENC[", "EN[") } else { whole.clone() };
        std::fs::write(&sops.file, text).expect("written");
        let start = || {
            let mut command = sops.locked();
            command.args(["--wait", "50s", verb]).arg(&sops.file);
            sops.stage.prepare(&mut command, verb);
            Run::of(command)
        };
        sops.stay("before-decrypt");
        let killed = start();
        sops.came_to("before-decrypt");
        assert_eq!(sops.stage.leases(), 1, "{verb}");
        kill(killed.wrapper());
        let _killed = killed.ends();
        sops.go_on("before-decrypt");
        sops.stage.is_empty_soon();
        let next = start().ends();
        assert_eq!(next.code, Some(0), "{verb}: {}", next.said);
        assert_eq!(sops.plain(), "A=1\nB=2\n", "{verb}");
        let live = std::fs::read_dir(sops.stage.world.state().join("live")).expect("live").count();
        assert!(live <= 2, "{verb}: only those of the dead are left");
    }
}

#[test]
fn an_unsettled_write_is_proven_before_the_next_one_starts() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let sops = Sops::new();
    sops.unsettled_write();
    let next = Run::of(sops.set(&["--wait", "50s"], "C", "3")).ends();
    assert_eq!((next.code, next.said.as_str()), (Some(0), ""));
    let words = sops.words();
    let order: Vec<&str> = words.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(order, ["set", "decrypt", "set", "decrypt"], "proof, write, canary");
    assert_eq!(sops.stage.number("select count(*) from receipts where kind = 'recovered'"), 1);
}

#[test]
fn a_proof_that_outlasts_the_grant_starts_nothing_when_the_lease_was_lost_meanwhile() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let sops = Sops::new();
    sops.unsettled_write();
    sops.stay("before-decrypt");
    let slow = Run::of(sops.set(&["--ttl", "3s", "--on-lost", "echo told: $LOCKED_LOST_CAUSE"], "C", "3"));
    sops.came_to("before-decrypt");
    // Its first grant ends while it proves, and another takes the lease and proves too.
    let next = Run::of(sops.set(&["--wait", "50s"], "D", "4"));
    sops.came_to("before-decrypt");
    sops.stay("before-set");
    sops.go_on("before-decrypt");
    sops.came_to("before-set");
    let ended = slow.ends();
    assert_eq!(ended.code, Some(77), "{}", ended.said);
    assert!(ended.said.contains("told: gone"), "{}", ended.said);
    sops.go_on("before-set");
    assert_eq!(next.ends().code, Some(0));
    assert_eq!(sops.plain(), "A=1\nB=2\nD=4\n");
    assert_eq!(sops.words().lines().filter(|line| line.starts_with("set ")).count(), 2, "the loser was not started");
    sops.stage.is_empty_soon();
}

#[test]
fn a_proof_that_outlasts_the_grant_is_no_reason_to_stop_when_nobody_came() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let sops = Sops::new();
    sops.unsettled_write();
    sops.stay("before-decrypt");
    let slow = Run::of(sops.set(&["--ttl", "3s"], "C", "3"));
    sops.came_to("before-decrypt");
    let board = sops.stage.world.status();
    sops.stage.world.has_expired(board[0]["resource"].as_str().expect("the file's name"));
    sops.go_on("before-decrypt");
    let ended = slow.ends();
    assert_eq!((ended.code, ended.said.as_str()), (Some(0), ""));
    assert_eq!(sops.plain(), "A=1\nB=2\nC=3\n");
}
