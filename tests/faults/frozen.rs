//! Wrapper, keeper or child stand still. (Wrapper and keeper both frozen while the child runs on is excluded by the
//! design; what the next one on the same machine does about it is tested in `leftovers`.)
#![forbid(unsafe_code)]

use std::time::Duration;

use super::actor::{self, FOR, ID, LOG};
use super::log;
use super::processes::{freeze, is_halted, lives, so, thaw, until};
use super::stage::Stage;

const ONE: [&str; 4] = ["--ttl", "1s", "-r", "test:x"];
const NEXT: [&str; 6] = ["--ttl", "1s", "--wait", "20s", "-r", "test:x"];

fn pass(span: Duration) {
    std::thread::sleep(span);
}

#[test]
fn the_checker_catches_two_that_run_without_locked() {
    let stage = Stage::new();
    let bare = |id: &str, token: &str| {
        let words = actor::words();
        let mut command = stage.world.command(&words[0]);
        command.args(&words[1..]).env(LOG, stage.log()).env(ID, id).env(FOR, "300");
        command.env("LOCKED_RESOURCES", "test:x").env("LOCKED_TOKENS", token).stdout(std::process::Stdio::null());
        command.spawn().expect("starts")
    };
    for mut child in [bare("a", "1"), bare("b", "2")] {
        assert!(child.wait().expect("ends").success());
    }
    assert_eq!(log::overlaps(&stage.lives()).len(), 1, "{:?}", stage.lives());
}

#[test]
fn a_wrapper_frozen_past_its_ttl_loses_nothing() {
    let stage = Stage::new();
    let one = stage.start("one", &ONE);
    let child = stage.alive("one");
    freeze(one.wrapper());
    let mut next = stage.start("next", &NEXT);
    pass(Duration::from_millis(3_000));
    assert!(lives(child) && !stage.has_begun("next"), "the keeper renews");
    thaw(one.wrapper());
    stage.raise("next");
    pass(Duration::from_millis(300));
    assert!(lives(child) && !next.has_ended(), "what the keeper said meanwhile is heard before the clock is judged");
    stage.raise("one");
    let ended = one.ends();
    assert_eq!((ended.code, ended.said.as_str()), (Some(0), ""), "it never noticed");
    assert_eq!(next.ends().code, Some(0));
    assert!(log::check(&stage.log()).iter().all(|life| life.ended));
}

#[test]
fn a_frozen_keeper_costs_the_lease_and_nothing_else() {
    let stage = Stage::new();
    let one = stage.start("one", &ONE);
    let child = stage.alive("one");
    freeze(one.keeper());
    let next = stage.start("next", &NEXT);
    stage.raise("next");
    let ended = one.ends();
    assert_eq!(ended.code, Some(77), "{}", ended.said);
    assert!(!lives(child));
    assert_eq!(next.ends().code, Some(0));
    log::check(&stage.log());
    stage.is_empty_soon();
}

#[test]
fn a_keeper_frozen_after_the_childs_end_does_not_hold_up_the_wrapper() {
    let stage = Stage::new();
    let one = stage.start_shell("one", &["--ttl", "10s", "-r", "test:x"], "$ME; kill -STOP $PPID");
    stage.alive("one");
    stage.raise("one");
    // The keeper tells of the end and stands still before it is dismissed, or before it can tell.
    let ended = one.ends();
    assert!(matches!(ended.code, Some(0 | 77)), "{ended:?}");
    stage.is_empty_soon();
}

#[test]
fn a_child_stopped_for_a_ttl_is_stopped_for_good() {
    let stage = Stage::new();
    // Its shell stops itself, as with Ctrl-Z; a descendant in a session of its own goes on.
    let line = "setsid $ME & kill -STOP $$; $ME";
    let mut one = stage.start_shell("one", &["--ttl", "2s", "-r", "test:x"], line);
    let beating = stage.alive("one");
    let next = stage.start("next", &["--ttl", "2s", "--wait", "30s", "-r", "test:x"]);
    stage.raise("next");
    so("the wrapper stops with its job", || is_halted(one.wrapper()) || one.has_ended());
    let ended = one.ends();
    assert_eq!(ended.code, Some(77), "a job that was stopped for good has ended for its caller too: {}", ended.said);
    assert!(!lives(beating));
    assert_eq!(next.ends().code, Some(0));
    log::check(&stage.log());
    stage.is_empty_soon();
}

#[test]
fn a_child_killed_while_it_is_stopped_ends_its_wrapper() {
    let stage = Stage::new();
    let one = stage.start_shell("one", &["--ttl", "30s", "-r", "test:x"], "$ME & kill -STOP $$");
    stage.alive("one");
    so("the wrapper stops with its job", || is_halted(one.wrapper()));
    let shell = until("the shell", || super::processes::children(one.keeper()).into_iter().find(|&pid| is_halted(pid)));
    stage.raise("one");
    super::processes::kill(shell);
    assert_eq!(one.ends().code, None, "dead by the signal, as the program was");
    stage.is_empty_soon();
}

#[test]
fn a_child_that_is_continued_by_itself_takes_its_wrapper_along() {
    let stage = Stage::new();
    let one = stage.start("one", &["--ttl", "30s", "-r", "test:x"]);
    let child = stage.alive("one");
    freeze(child);
    so("the wrapper stops with its job", || is_halted(one.wrapper()));
    thaw(child);
    stage.raise("one");
    assert_eq!(one.ends().code, Some(0));
    stage.is_empty_soon();
}

/// The child does not run yet, so this is not among what the design excludes.
#[test]
fn a_go_that_comes_after_the_lease_was_lost_starts_nothing() {
    let stage = Stage::new();
    let first = stage.start("first", &["-r", "test:x"]).begins(&stage, "first");
    let begun = stage.flag("begun");
    let one = stage.start_shell("one", &NEXT, &format!(": > {}", begun.display()));
    so("it stands in line", || stage.tickets() == 1);
    freeze(one.keeper());
    stage.raise("first");
    so("the grant", || stage.number("select count(*) from leases where ttl_ms = 1000") == 1);
    freeze(one.wrapper());
    assert_eq!(first.ends().code, Some(0));
    let next = stage.start("next", &NEXT).begins(&stage, "next");
    let (keeper, wrapper) = (one.keeper(), one.wrapper());
    thaw(keeper);
    thaw(wrapper);
    let ended = one.ends();
    assert_eq!(ended.code, Some(77), "{}", ended.said);
    assert!(!begun.exists(), "nothing was started");
    stage.raise("next");
    assert_eq!(next.ends().code, Some(0));
    log::check(&stage.log());
}

/// Every renew is told to the wrapper; a wrapper that does not listen fills the socket in the end.
#[test]
fn a_keeper_does_not_wait_for_a_wrapper_that_does_not_listen() {
    let stage = Stage::new();
    let one = stage.start("one", &["--ttl", "1s", "--heartbeat", "10ms", "-r", "test:x"]).begins(&stage, "one");
    freeze(one.wrapper());
    let next = stage.start("next", &NEXT);
    stage.raise("next");
    pass(Duration::from_millis(6_000));
    assert!(!stage.has_begun("next"), "the keeper goes on renewing");
    thaw(one.wrapper());
    pass(Duration::from_millis(500));
    assert!(!stage.has_begun("next"), "the wrapper has heard the last renew");
    stage.raise("one");
    assert_eq!(one.ends().code, Some(0));
    assert_eq!(next.ends().code, Some(0));
    log::check(&stage.log());
}
