//! The store stands still or goes away while a command runs.
#![forbid(unsafe_code)]

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use locked::clock::{Clock as _, SystemClock};

use crate::world::board;
use crate::world::ends::so;
use crate::world::processes::lives;

use super::actor;
use super::log;
use super::stage::{Run, Stage};

const TTL: [&str; 4] = ["--ttl", "2s", "-r", "test:x"];

/// As short as keeps its lease on a machine that does much else: the program may be 2 s late at first, and then 3 s.
pub(crate) const STEADY: [&str; 10] =
    ["--ttl", "4s", "--heartbeat", "1s", "--renew-deadline", "3s", "--grace", "100ms", "-r", "test:x"];
pub(crate) const STEADY_TTL: Duration = Duration::from_secs(4);

/// The deadline is sixteen heartbeats away, once the first renew has come: the first grant is short.
const PATIENT: [&str; 6] = ["--ttl", "24s", "--heartbeat", "1s", "-r", "test:x"];
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Waits until two renews of [`PATIENT`] are overdue by the store's own clock. `database` was open before the store
/// was in trouble.
fn renews_in_vain(database: &rusqlite::Connection) {
    let (clock, before) = (SystemClock::new(), board::ends_at(database, "test:x"));
    let overdue = u128::try_from(before).expect("ms") - 24_000 + 2 * HEARTBEAT.as_millis();
    so("two renews are overdue", || clock.now().0.as_millis() > overdue);
    assert_eq!(board::ends_at(database, "test:x"), before, "none was granted");
}

/// Somebody else holds the file until the guard falls: SQLite's lock, which nobody refuses and nobody gets.
fn frozen(stage: &Stage) -> rusqlite::Connection {
    let hand = stage.world.database();
    hand.execute_batch("begin exclusive").expect("exclusive");
    hand
}

#[test]
fn a_frozen_store_stops_the_child_before_the_ttl() {
    let stage = Stage::new();
    let one = stage.start("one", &TTL);
    let child = stage.alive("one");
    let frozen = frozen(&stage);
    let others_from = board::ends_at(&frozen, "test:x");
    let ended = one.ends();
    assert_eq!(ended.code, Some(77));
    assert!(ended.said.contains("could not be renewed before its deadline"), "{}", ended.said);
    assert!(!lives(child));
    // The child writes down the store's own clock.
    let last = i64::try_from(stage.lives()[0].last_ns / 1_000_000).expect("ms");
    assert!(last < others_from, "it lived at {last}, and others might have come from {others_from} on");
    frozen.execute_batch("rollback").expect("thawed");
    stage.next_gets_in("next", &["--wait", "50s", "-r", "test:x"]);
    log::check(&stage.log());
    stage.is_empty_soon();
}

#[test]
fn a_store_frozen_for_less_than_the_deadline_kills_nobody() {
    let stage = Stage::new();
    let one = stage.start("one", &PATIENT);
    stage.alive("one");
    stage.world.is_renewed_for("test:x", HEARTBEAT);
    for _ in 0..2 {
        let frozen = frozen(&stage);
        renews_in_vain(&frozen);
        frozen.execute_batch("rollback").expect("thawed");
        stage.world.is_renewed_for("test:x", HEARTBEAT);
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
    // Root may read what nobody may; this root may not.
    let bounds = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
    let front = if rustix::process::geteuid().is_root() { &bounds[..] } else { &["env"] };
    let mut command = stage.world.command(front[0]);
    command.args(&front[1..]).arg(env!("CARGO_BIN_EXE_locked")).args(PATIENT).args(actor::program());
    stage.prepare(&mut command, "one");
    let one = Run::of(command);
    stage.alive("one");
    stage.world.is_renewed_for("test:x", HEARTBEAT);
    let mode = |mode| std::fs::set_permissions(stage.store(), std::fs::Permissions::from_mode(mode)).expect("mode");
    // Who has the file open already may go on reading: it lets go of a store that keeps it waiting.
    let keeper = one.keeper();
    let database = frozen(&stage);
    mode(0o000);
    so("the keeper has the store's file open no more", || {
        let open = std::fs::read_dir(format!("/proc/{keeper}/fd")).expect("it lives");
        !open.flatten().any(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == stage.store()))
    });
    database.execute_batch("rollback").expect("thawed");
    renews_in_vain(&database);
    mode(0o600);
    stage.world.is_renewed_for("test:x", HEARTBEAT);
    stage.raise("one");
    assert_eq!(one.ends().code, Some(0));
}

#[test]
fn a_child_that_runs_for_three_ttls_keeps_its_lease() {
    let stage = Stage::new();
    let one = stage.start("one", &STEADY);
    stage.alive("one");
    let next = stage.start("next", &["--wait", "10m", "-r", "test:x"]);
    stage.raise("next");
    so("it stands in line", || stage.tickets() == 1);
    stage.world.is_renewed_for("test:x", 3 * STEADY_TTL);
    assert!(!stage.has_begun("next"));
    stage.raise("one");
    assert_eq!(one.ends().code, Some(0));
    assert_eq!(next.ends().code, Some(0));
    assert!(log::check(&stage.log()).iter().all(|life| life.ended));
}
