//! The store stands still or goes away while a command runs.
#![forbid(unsafe_code)]

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use super::log;
use super::processes::lives;
use super::stage::Stage;

const TTL: [&str; 4] = ["--ttl", "2s", "-r", "test:x"];

/// Somebody else holds the file until the guard falls: SQLite's lock, which nobody refuses and nobody gets.
fn frozen(stage: &Stage) -> rusqlite::Connection {
    let hand = stage.hand();
    hand.execute_batch("begin exclusive").expect("exclusive");
    hand
}

#[test]
fn a_frozen_store_stops_the_child_before_the_ttl() {
    let stage = Stage::new();
    let one = stage.start("one", &TTL);
    let child = stage.alive("one");
    let renewed_before = Instant::now();
    let frozen = frozen(&stage);
    let ended = one.ends();
    let after = renewed_before.elapsed();
    assert_eq!(ended.code, Some(77));
    assert!(ended.said.contains("could not be renewed before its deadline"), "{}", ended.said);
    assert!(!lives(child));
    // The last good renew was sent before the store froze, so the child must have gone within a TTL from here.
    let last = log::lives(&stage.log())[0].last_ns;
    let first = log::lives(&stage.log())[0].first_ns;
    assert!(Duration::from_nanos(u64::try_from(last - first).expect("ns")) < Duration::from_secs(2) + after);
    frozen.execute_batch("rollback").expect("thawed");
    stage.next_gets_in("next", &["--ttl", "2s", "--wait", "10s", "-r", "test:x"]);
    log::check(&stage.log());
    stage.is_empty_soon();
}

#[test]
fn a_store_frozen_for_less_than_the_deadline_kills_nobody() {
    let stage = Stage::new();
    let one = stage.start("one", &["--ttl", "6s", "-r", "test:x"]);
    stage.alive("one");
    for _ in 0..2 {
        // Longer than a heartbeat, shorter than the deadline.
        let frozen = frozen(&stage);
        std::thread::sleep(Duration::from_millis(1_700));
        frozen.execute_batch("rollback").expect("thawed");
        std::thread::sleep(Duration::from_millis(1_200));
    }
    stage.raise("one");
    let ended = one.ends();
    assert_eq!((ended.code, ended.said.as_str()), (Some(0), ""));
}

#[test]
fn a_store_that_is_gone_stops_the_child_whatever_is_in_its_place() {
    type Break = fn(&std::path::Path);
    let breaks: [(&str, Break); 4] = [
        ("a directory in its place", |file| {
            std::fs::rename(file, file.with_extension("away")).expect("away");
            std::fs::create_dir(file).expect("directory");
        }),
        ("nothing in its place", |file| std::fs::rename(file, file.with_extension("away")).expect("away")),
        ("another file in its place", |file| {
            std::fs::rename(file, file.with_extension("away")).expect("away");
            std::fs::write(file, "no database").expect("another");
        }),
        ("no way to it", |file| {
            let parent = file.parent().expect("parent");
            std::fs::rename(parent, parent.with_extension("away")).expect("away");
            std::fs::write(parent, "").expect("a file");
        }),
    ];
    for (how, breaks) in breaks {
        let stage = Stage::new();
        let one = stage.start("one", &TTL);
        let child = stage.alive("one");
        breaks(&stage.store());
        let ended = one.ends();
        assert_eq!(ended.code, Some(77), "{how}: {}", ended.said);
        assert!(!lives(child), "{how}");
        stage.is_empty_soon();
    }
}

#[test]
fn a_store_that_may_not_be_read_for_a_while_kills_nobody() {
    let stage = Stage::new();
    let one = stage.start("one", &["--ttl", "6s", "-r", "test:x"]);
    stage.alive("one");
    let mode = |mode| std::fs::set_permissions(stage.store(), std::fs::Permissions::from_mode(mode)).expect("mode");
    mode(0o000);
    std::thread::sleep(Duration::from_millis(1_700));
    mode(0o600);
    std::thread::sleep(Duration::from_millis(1_200));
    stage.raise("one");
    assert_eq!(one.ends().code, Some(0));
}

#[test]
fn a_child_that_runs_for_three_ttls_keeps_its_lease() {
    let stage = Stage::new();
    let one = stage.start("one", &["--ttl", "1s", "-r", "test:x"]);
    stage.alive("one");
    let next = stage.start("next", &["--ttl", "1s", "--wait", "20s", "-r", "test:x"]);
    stage.raise("next");
    std::thread::sleep(Duration::from_millis(3_300));
    assert!(!stage.has_begun("next"));
    stage.raise("one");
    assert_eq!(one.ends().code, Some(0));
    assert_eq!(next.ends().code, Some(0));
    assert!(log::check(&stage.log()).iter().all(|life| life.ended));
}
