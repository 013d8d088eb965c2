//! Who is a suspect, and what clears one without a look at what it holds.

use super::*;
use crate::audit::change::Commit;

fn receipt(base: Option<&str>, new: &str, token: i64) -> Written {
    let base = base.map(str::to_owned);
    Written { base, new: new.to_owned(), blob: Some(format!("blob {new}")), token, at: token * 10_000 }
}

fn wanted(new: &str, before: &[&str]) -> Wanted {
    let version = |of: &&str| Version { blob: format!("blob {of}"), digest: None };
    Wanted {
        path: b"x".to_vec(),
        blob: format!("blob {new}"),
        digest: None,
        odd: None,
        commit: Some(("c".to_owned(), 0)),
        before: before.iter().map(version).collect(),
    }
}

/// a → b → c, and beside them a → d (later) → f, and a new beginning e.
fn chain() -> Vec<Written> {
    let links = [(None, "a"), (Some("a"), "b"), (Some("b"), "c"), (Some("a"), "d"), (None, "e"), (Some("d"), "f")];
    links.into_iter().zip(1..).map(|((base, new), token)| receipt(base, new, token)).collect()
}

#[test]
fn a_write_that_had_not_seen_what_it_replaces_is_suspected() {
    let chain = chain();
    for (new, before, expected) in [
        ("b", &["a"][..], None),
        ("c", &["a"], None),
        ("d", &["c"], Some((4, 3))),
        ("b", &["c"], Some((2, 3))),
        ("e", &["c"], None),
        ("c", &["unknown"], None),
        // What replaces nothing can replace nothing wrongly.
        ("c", &[], None),
        ("c", &["b", "d"], None),
        ("b", &["c", "d"], Some((2, 4))),
        ("f", &["c"], Some((6, 3))),
    ] {
        let found = Suspect::of(&wanted(new, before), &chain).map(|suspect| suspect.finding(Lost(None)).wrong);
        let wrong = expected.map(|(token, replaced)| Wrong::Stale { token, replaced, lost: None });
        assert_eq!(found, wrong, "{new} on {before:?}");
    }
}

#[test]
fn a_commit_that_is_older_than_what_it_stands_on_was_made_anew_there() {
    // c is of second 30, d of 40, g of 50, f of 60; b is in c and in g.
    let chain = [chain(), vec![receipt(Some("b"), "g", 5)]].concat();
    for (new, before, written, anew) in [
        // Written between d and g, with d in it.
        ("d", "g", 45, true),
        ("d", "g", 49, true),
        // Nobody had d yet.
        ("d", "g", 39, false),
        // g was there already.
        ("d", "g", 50, false),
        ("d", "g", 99, false),
        // Another change has gone into that commit since.
        ("f", "g", 45, true),
        ("f", "g", 39, false),
        // One line, which went back.
        ("b", "c", 25, false),
    ] {
        let commit = Commit { id: "c".to_owned(), at: 100, written, parents: Vec::new(), changes: Vec::new() };
        let (wanted, history) = (wanted(new, &[before]), [commit]);
        let suspect = Suspect::of(&wanted, &chain).expect("a suspect");
        assert_eq!(suspect.was_made_anew(&Line::of(&history)), anew, "{new} on {before}, written at {written}");
    }
}

#[test]
fn two_versions_part_at_the_nearest_that_is_in_both() {
    let chain = chain();
    for (own, other, expected) in [
        ("f", "c", Some("a")),
        ("c", "f", Some("a")),
        ("c", "b", Some("b")),
        ("b", "c", Some("b")),
        ("f", "e", None),
        ("f", "unknown", None),
    ] {
        assert_eq!(parting(own, other, &chain), expected, "{own} and {other}");
    }
}

#[test]
fn what_has_come_of_a_commit_are_its_last_descendants() {
    let commit = |id: &str, parents: &[&str]| Commit {
        id: id.to_owned(),
        at: 0,
        written: 0,
        parents: parents.iter().map(|it| (*it).to_owned()).collect(),
        changes: Vec::new(),
    };
    let history = [
        commit("a", &["out"]),
        commit("b", &["a"]),
        commit("c", &["a"]),
        commit("m", &["b", "c"]),
        commit("x", &["out"]),
    ];
    let line = Line::of(&history);
    for (of, tips) in [("a", &["m"][..]), ("c", &["m"]), ("m", &["m"]), ("x", &["x"])] {
        assert_eq!(line.tips_of(of), tips, "{of}");
    }
}
