//! Who is a suspect, and what clears one without a look at what it holds.

use super::*;
use crate::audit::change::{Change, Commit, Kind};
use crate::audit::written::tests::{receipt, wanted};

fn commit(id: &str, parents: &[&str], changes: Vec<Change>) -> Commit {
    let parents = parents.iter().map(|it| (*it).to_owned()).collect();
    Commit { id: id.to_owned(), at: 0, written: 0, parents, changes }
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
        let found = Suspect::of(&wanted(new, before, 0), &chain).map(|suspect| suspect.finding(Lost(None)).wrong);
        let wrong = expected.map(|(token, replaced)| Wrong::Stale { token, replaced, lost: None });
        assert_eq!(found, wrong, "{new} on {before:?}");
    }
}

#[test]
fn who_begins_the_chain_anew_upon_it_later_has_decided() {
    for (more, decided) in [
        (&[][..], false),
        (&[(None, "d")], true),
        // Upon what was made from it, or upon something else.
        (&[(None, "f")], true),
        (&[(None, "c")], false),
        (&[(Some("d"), "g")], false),
    ] {
        let later = more.iter().zip(7..).map(|((base, new), token)| receipt(*base, new, token)).collect();
        let chain = [chain(), later].concat();
        let wanted = wanted("d", &["c"], 0);
        // The receipt that begins it anew says nothing of what was before, so it is no suspect at all.
        let is_free = Suspect::of(&wanted, &chain).is_none_or(|suspect| suspect.is_decided());
        assert_eq!(is_free, decided, "{more:?}");
    }
}

#[test]
fn what_a_path_has_had_since_ends_with_what_is_there() {
    let change = |path: &str, blob: &str| Change {
        path: path.as_bytes().to_vec(),
        kind: Kind::File,
        blob: blob.to_owned(),
        before: Vec::new(),
    };
    let history = [
        commit("a", &[], vec![change("x", "1")]),
        commit("b", &["a"], vec![change("x", "2"), change("y", "3")]),
        commit("c", &["b"], vec![change("y", "4")]),
        commit("d", &["c"], vec![change("x", "5")]),
        commit("e", &["a"], vec![change("x", "6")]),
    ];
    let line = Line::of(&history);
    assert_eq!(line.since("b", "d", b"x"), ["2", "5"]);
    assert_eq!(line.since("d", "d", b"x"), ["5"]);
    assert_eq!(line.since("b", "d", b"z"), [""; 0]);
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
    let history = [
        commit("a", &["out"], Vec::new()),
        commit("b", &["a"], Vec::new()),
        commit("c", &["a"], Vec::new()),
        commit("m", &["b", "c"], Vec::new()),
        commit("x", &["out"], Vec::new()),
    ];
    let line = Line::of(&history);
    for (of, tips) in [("a", &["m"][..]), ("c", &["m"]), ("m", &["m"]), ("x", &["x"])] {
        assert_eq!(line.tips_of(of), tips, "{of}");
    }
}
