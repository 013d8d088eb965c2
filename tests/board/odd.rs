//! What nobody should do to the verbs, and some do.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use serde_json::Value;

use crate::run::stage::{ends, json, says, silent, text, uuid};
use crate::world::World;

/// Views show the first eight digits of a session: they let nobody in.
#[test]
fn what_is_shown_of_a_session_opens_nothing() {
    for world in World::both("a_prefix") {
        silent(world.locked_as(1).args(["acquire", "server:a"]));
        let shown = &uuid(1)[..8];
        says(world.locked_as(2).args(["--session", shown, "release", "server:a"]), 64);
        let said = says(world.locked().env("LOCKED_SESSION", shown).args(["release", "server:a"]), 64);
        assert!(said.starts_with("REFUSED: LOCKED_SESSION is not a UUID") && !said.contains(shown), "{said}");
        says(world.locked_as(2).args(["release", "server:a"]), 77);
        assert_eq!(world.status().len(), 1);
        // Who knows the whole is its session; that is recorded as it is.
        silent(world.locked_as(2).args(["--session", &uuid(1).to_uppercase(), "release", "server:a"]));
        let past = &world.history()[0];
        assert_eq!((&past["holder"], &past["ended_as"]), (&"01010101".into(), &"completed".into()));
    }
}

/// A name is shown to others as it was given, or refused.
#[test]
fn names_that_do_not_show_as_they_are_are_refused() {
    let world = World::new();
    for name in ["\u{1b}[31mX", "a\nb", "\u{202e}evil", "zero\u{200b}width", "", " ", &"x".repeat(201)] {
        let said = says(world.locked_as(1).args(["session", "begin", "--name", name]), 64);
        assert!(!said.contains(['\u{1b}', '\u{202e}']) || name.starts_with('\u{202e}'), "{said:?}");
    }
    says(world.locked_as(1).args(["session", "begin", "--name"]).arg(OsStr::from_bytes(b"\xff\xfe")), 64);
    let begun = silent(world.locked_as(1).args(["session", "begin", "--name", "<b>ünï 日本</b>"]));
    assert!(begun.starts_with("begun: <b>ünï 日本</b> 01010101 ("), "{begun}");
    // Bytes that a resource may not have as they are.
    let mut odd = world.locked_as(1);
    silent(odd.arg("acquire").arg(OsStr::from_bytes(b"server:\x1b[2J\xff b")));
    assert_eq!(world.status()[0]["resource"], "server:%1B%5B2J%FF%20b");
}

#[test]
fn spans_and_numbers_that_mean_nothing_are_refused() {
    let world = World::new();
    silent(world.locked_as(1).args(["-r", "server:a", "true"]));
    for since in ["nonsense", "", "1", "1x", "1e3s", "-1h", "99999999999999d", "18446744073709551615s"] {
        says(world.locked().args(["history", &format!("--since={since}")]), 64);
        says(world.locked().args(["status", &format!("--stalled={since}")]), 64);
    }
    assert_eq!(silent(world.locked().args(["history", "--since", "0s"])), "no ended leases\n");
    says(world.locked().args(["history", "--limit=-1"]), 64);
    let all: Vec<Value> = json(world.locked().args(["history", "--limit", "4294967295", "--json"]));
    assert_eq!(all.len(), 1);
}

/// A clock that was wrong, or a row that somebody else has written.
#[test]
fn moments_that_no_clock_has_are_shown_and_break_nothing() {
    let world = World::new();
    silent(world.locked_as(1).args(["session", "begin", "--name", "A"]));
    silent(world.locked_as(1).args(["-r", "server:a", "true"]));
    silent(world.locked_as(1).args(["acquire", "server:b"]));
    let page = world.root().join("page.html");
    for (from, to) in [(i64::MAX, i64::MIN), (i64::MIN, i64::MAX), (0, i64::MAX), (i64::MIN, i64::MIN), (5, 4)] {
        let database = world.database();
        database.execute("update leases set acquired_at = ?1, renewed_at = ?2", [from, to]).expect("written");
        database.execute("update leases set ended_at = ?1 where ended_at is not null", [to]).expect("written");
        database.execute("update sessions set began_at = ?1, seen_at = ?2", [from, to]).expect("written");
        drop(database);
        for words in [
            &["history"][..],
            &["history", "--json", "--since", "1h"],
            &["history", "--timeline"],
            &["history", "--html", page.to_str().expect("UTF-8")],
            &["status"],
            &["status", "--json"],
            &["status", "--format", "prometheus"],
            &["session", "list", "--all"],
        ] {
            ends(world.locked_as(2).args(words), 0);
        }
        assert!(
            [0, 1].contains(
                &world
                    .locked()
                    .args(["status", "--stalled", "1h"])
                    .output()
                    .expect("it runs")
                    .status
                    .code()
                    .expect("a status")
            )
        );
        says(world.locked_as(2).args(["acquire", "server:b", "-n"]), 75);
    }
    silent(world.locked_as(1).args(["renew", "server:b"]));
    silent(world.locked_as(1).args(["release", "server:b"]));
}

/// They confirm what another of them has adopted by then: the session holds it all the same.
#[test]
fn many_acquires_of_one_session_at_once_all_succeed() {
    for world in World::both("many_acquires") {
        let started: Vec<_> = (0..8)
            .map(|_| {
                let mut command = world.locked_as(1);
                command.args(["acquire", "server:a", "server:b", "--wait", "60s"]);
                command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
                command.spawn().expect("it starts")
            })
            .collect();
        for child in started {
            let output = child.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        assert_eq!(world.status().len(), 2);
        says(world.locked_as(2).args(["acquire", "server:b", "-n"]), 75);
    }
}
