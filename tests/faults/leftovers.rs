//! Wrapper and keeper are both killed, or both frozen, and a descendant in a session of its own lives on. It does not
//! hide (it carries `LOCKED_LEASE`), so the next one on this machine waits for it, until the TTL at most, and then ends
//! it before anything is started. Left out by name, as the design excludes it: a descendant that hides.
#![forbid(unsafe_code)]

use crate::world::apart::{sees_every_process, this_test};
use crate::world::ends::so;
use crate::world::processes::{freeze, kill, lives, thaw};

use super::log;
use super::stage::{Run, Stage};

/// Forked twice, in a session of its own, no parent of ours left above it.
const DAEMON: &str = "sh -c 'setsid $ME & exit'; exec sleep 60";

fn orphaned(ttl: &str) -> (Stage, u32) {
    let stage = Stage::new();
    let one = stage.start_shell("one", &["--ttl", ttl, "-r", "test:x"], DAEMON);
    let daemon = stage.alive("one");
    kill_both(&one);
    let _killed = one.wrapper();
    so("only the daemon lives", || stage.inhabitants() == [daemon]);
    std::mem::forget(one);
    (stage, daemon)
}

/// Frozen first, so that neither can act on the other's death; and the keeper first, since a wrapper's death orphans its
/// group, which the kernel then continues.
fn kill_both(run: &Run) {
    let keeper = run.keeper();
    freeze(keeper);
    freeze(run.wrapper());
    kill(keeper);
    kill(run.wrapper());
}

#[test]
fn a_descendant_that_lives_on_is_waited_for_and_its_end_lets_the_next_one_in_at_once() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let (stage, daemon) = orphaned("10m");
    let busy = stage.start("busy", &["-n", "-r", "test:x"]).ends();
    assert_eq!(busy.code, Some(75), "{}", busy.said);
    // Its wait ends long before the TTL does: what lets it in is the end of the last process.
    let next = stage.start("next", &["--wait", "50s", "-r", "test:x"]);
    so("it stands in line", || stage.tickets() == 1);
    assert!(lives(daemon) && !stage.has_begun("next"));
    stage.raise("next");
    stage.raise("one");
    assert_eq!(next.ends().code, Some(0));
    log::check(&stage.log());
    stage.is_empty_soon();
}

#[test]
fn a_descendant_that_outlives_the_ttl_is_ended_before_the_next_one_starts() {
    let (stage, daemon) = orphaned("3s");
    let next = stage.start("next", &["--wait", "50s", "-r", "test:x"]).begins(&stage, "next");
    assert!(!lives(daemon));
    stage.raise("next");
    assert_eq!(next.ends().code, Some(0));
    log::check(&stage.log());
    assert_eq!(std::fs::read_dir(stage.world.state().join("live")).expect("live").count(), 0, "no litter");
}

#[test]
fn wrapper_and_keeper_both_frozen_past_the_ttl_find_their_tree_ended_by_the_next_one() {
    let stage = Stage::new();
    let one = stage.start_shell("one", &["--ttl", "3s", "-r", "test:x"], "setsid $ME & $ME").begins(&stage, "one");
    let keeper = one.keeper();
    stage.freeze_outside_the_store(keeper);
    freeze(one.wrapper());
    let next = stage.start("next", &["--wait", "50s", "-r", "test:x"]).begins(&stage, "next");
    stage.raise("next");
    thaw(keeper);
    thaw(one.wrapper());
    assert_eq!(next.ends().code, Some(0));
    let ended = one.ends();
    assert!(matches!(ended.code, Some(77) | None), "{ended:?}");
    log::check(&stage.log());
    stage.is_empty_soon();
}

#[test]
fn who_stands_below_a_dead_holder_does_not_end_itself() {
    let stage = Stage::new();
    // The nested command comes when the lease above it has run out, with nobody left who renews it.
    let nested =
        "trap '' TERM; while [ ! -e $GO ]; do sleep 0.02; done; $LOCKED -r test:x --wait 20s true; echo $? > done";
    let line = "setsid sh -c \"$NESTED\" & wait".to_owned();
    let mut command = stage.command("one", &["--ttl", "3s", "-r", "test:x"], &["sh".into(), "-c".into(), line]);
    command.env("NESTED", nested).env("GO", stage.flag("go")).env("LOCKED", env!("CARGO_BIN_EXE_locked"));
    let one = Run::of(command);
    so("the nested shell waits", || stage.inhabitants().len() >= 4);
    kill_both(&one);
    let _killed = one.ends();
    stage.world.has_expired("test:x");
    stage.raise("go");
    let done = stage.world.work().join("done");
    so("it got through", || std::fs::read_to_string(&done).is_ok_and(|text| text == "0\n"));
    stage.is_empty_soon();
}
