//! A lease is taken away while its command runs: nothing of the tree stays, whatever sessions and groups it made.
#![forbid(unsafe_code)]

use crate::world::processes::lives;

use super::log;
use super::stage::Stage;

/// A shell with a child in its group, one in a session of its own, and one forked twice.
const TREE: &str = "$ME & setsid $ME & sh -c 'setsid $ME & exit' & wait; wait; $ME";

fn taken_away_by(statement: &str) {
    let stage = Stage::new();
    let one = stage.start_shell("one", &["--ttl", "3s", "-r", "test:x"], TREE);
    crate::world::ends::so("the whole tree lives", || stage.lives().len() >= 3);
    let tree: Vec<u32> = stage.lives().iter().map(|life| life.pid).collect();
    assert_eq!(stage.sql(statement), 1);
    let ended = one.ends();
    assert_eq!(ended.code, Some(77), "{statement}: {}", ended.said);
    assert!(tree.into_iter().all(|pid| !lives(pid)), "{statement}: something is left");
    stage.is_empty_soon();
    stage.next_gets_in("next", &["--wait", "50s", "-r", "test:x"]);
}

#[test]
fn its_row_has_ended() {
    taken_away_by("update leases set ended_at = 1, ended_as = 'stolen' where ended_at is null");
}

#[test]
fn it_is_marked_for_stealing() {
    taken_away_by("update leases set revoked = 1 where ended_at is null");
}

#[test]
fn it_is_another_grant_now_and_that_one_is_left_alone() {
    let stage = Stage::new();
    let one = stage.start("one", &["--ttl", "3s", "-r", "test:x"]);
    stage.alive("one");
    let other = "update leases set grant_id = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', key_hash = 'other', \
                 session = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb', label = 'thief@ws-2', expires_ms = expires_ms + 600000 where ended_at is null";
    assert_eq!(stage.sql(other), 1);
    let ended = one.ends();
    assert_eq!(ended.code, Some(77));
    assert!(ended.said.contains("is not ours any more; bbbbbbbb (thief@ws-2) has it now"), "{}", ended.said);
    stage.is_empty_soon();
    assert_eq!(stage.leases(), 1, "the new holder has it still");
    let busy = stage.start("busy", &["-n", "-r", "test:x"]).ends();
    assert_eq!(busy.code, Some(75), "{}", busy.said);
    assert!(!stage.has_begun("busy"));
    log::check(&stage.log());
}
