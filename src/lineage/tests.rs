use std::collections::BTreeMap;

use crate::store::StoredReceipt;
use crate::terms::{Digest, FencingToken, Scope};

use super::{Base, Case, Note, OUT_OF_SIGHT_MS, Verdict, Way, Whereabouts, World, judge, knows};

mod many;

const NOW: i64 = 1_795_000_000_000;

/// A link `base>new@branch`, `-` for no base; `!` at its end: of another host; `~`: of another work tree. `=new@branch` is a
/// word that accepts a version.
fn link(text: &str) -> StoredReceipt {
    let (versions, branch) = text.split_once('@').expect("a branch");
    let accepted = versions.strip_prefix('=');
    let (base, new) = accepted.map_or_else(|| versions.split_once('>').expect("an arrow"), |new| ("-", new));
    let branch_name = branch.trim_end_matches(['!', '~']);
    let digest = |text: &str| Digest::of(text.as_bytes());
    StoredReceipt {
        scope: Scope("s".to_owned()),
        path: "p".to_owned(),
        base: (base != "-").then(|| digest(base)),
        new: digest(new),
        blob: None,
        branch: (!branch_name.is_empty()).then(|| branch_name.to_owned()),
        host: if branch.ends_with('!') { "far" } else { "here" }.to_owned(),
        host_id: None,
        worktree: Some(if branch.ends_with(['!', '~']) { "/other" } else { "/own" }.to_owned()),
        token: FencingToken(1),
        holder: "ana".to_owned(),
        kind: if accepted.is_some() { "accepted" } else { "proven" }.to_owned(),
        at: NOW,
    }
}

/// What the world says of versions by name; what it is not asked about it does not know.
#[derive(Default)]
struct Told {
    by_git: bool,
    at_head: bool,
    places: BTreeMap<Digest, Whereabouts>,
    asked: usize,
    /// What it was told of each version that it was asked about.
    moved_on: Vec<bool>,
}

impl World for Told {
    fn came_by_git(&mut self) -> bool {
        self.asked += 1;
        self.by_git
    }

    fn is_at_head(&mut self) -> bool {
        self.at_head
    }

    fn whereabouts(&mut self, receipt: &StoredReceipt, moved_on: bool) -> Whereabouts {
        self.asked += 1;
        self.moved_on.push(moved_on);
        self.places.get(&receipt.new).cloned().expect("it is not asked about this one")
    }
}

fn ahead() -> Whereabouts {
    Whereabouts::Ahead(Way::Merge("origin/main".to_owned()))
}

fn elsewhere() -> Whereabouts {
    Whereabouts::Elsewhere("topic".to_owned())
}

fn nowhere() -> Whereabouts {
    Whereabouts::Nowhere
}

fn unseen(ours: bool) -> Whereabouts {
    Whereabouts::OutOfSight { ours, fetched: true, way: Way::Pull { from: None, diverged: false } }
}

fn unasked() -> Whereabouts {
    Whereabouts::OutOfSight { ours: true, fetched: false, way: Way::Pull { from: None, diverged: false } }
}

/// `chain` oldest first.
fn verdict(chain: &str, version: &str, base: Base<'_>, world: &mut Told, later_ms: i64) -> String {
    let mut chain: Vec<_> = chain.split_whitespace().map(link).collect();
    chain.reverse();
    let version = (version != "-").then(|| Digest::of(version.as_bytes()));
    let case = Case {
        chain: &chain,
        version: version.as_ref(),
        base,
        host: "here",
        worktree: Some("/own"),
        now_ms: NOW + later_ms,
    };
    let name = |receipt: &StoredReceipt| {
        let is = |letter: &char| Digest::of(letter.to_string().as_bytes()) == receipt.new;
        ('a'..='z').find(is).expect("a letter")
    };
    match judge(&case, world) {
        Verdict::Unknown => "unknown".to_owned(),
        Verdict::Stale { newer, way } => match way {
            Way::ReadAgain => format!("read again {}", name(newer)),
            Way::Git(_) => format!("no git {}", name(newer)),
            _ => format!("stale {}", name(newer)),
        },
        Verdict::Go(notes) => {
            let told = notes.iter().map(|note| match note {
                Note::Discarded(receipt) => format!(" discarded {}", name(receipt)),
                Note::Diverged(receipt, _) => format!(" diverged {}", name(receipt)),
            });
            format!("go{}", told.collect::<String>())
        }
    }
}

#[test]
fn every_row_of_the_table() {
    type Places = &'static [(&'static str, fn() -> Whereabouts)];
    let table: [(&str, &str, Places, bool, i64, &str); 32] = [
        // No chain, the newest.
        ("", "a", &[], false, 0, "go"),
        ("", "-", &[], false, 0, "go"),
        ("->a@main a>b@main", "b", &[], false, 0, "go"),
        // Unknown.
        ("->a@main", "x", &[], false, 0, "unknown"),
        ("->a@main", "x", &[], true, 0, "go"),
        // Older, and the newest …
        ("a>b@main~", "a", &[("b", || Whereabouts::Nowhere)], false, 0, "go discarded b"),
        ("a>b@main!", "a", &[("b", || unseen(true))], false, 0, "stale b"),
        ("a>b@main!", "a", &[("b", || unseen(true))], false, OUT_OF_SIGHT_MS - 1, "stale b"),
        ("a>b@main!", "a", &[("b", || unseen(true))], false, OUT_OF_SIGHT_MS, "go discarded b"),
        ("a>b@main!", "a", &[("b", unasked)], false, OUT_OF_SIGHT_MS, "stale b"),
        ("a>b@topic!", "a", &[("b", || unseen(false))], false, 0, "go diverged b"),
        // Its writer's file has gone on, to another branch that is out of sight or is there to be seen.
        ("a>b@main! b>c@topic!", "a", &[("c", || unseen(false)), ("b", || unseen(true))], false, 0, "stale b"),
        ("a>b@main! b>c@topic!", "a", &[("c", elsewhere), ("b", unasked)], false, 0, "stale b"),
        ("a>b@main! a>c@topic!", "a", &[("c", elsewhere), ("b", || unseen(true))], false, 0, "stale b"),
        ("a>b@main", "a", &[("b", || Whereabouts::Behind)], false, 0, "go"),
        ("a>b@topic~", "a", &[("b", elsewhere)], false, 0, "go diverged b"),
        ("a>b@main~", "a", &[("b", ahead)], false, 0, "stale b"),
        ("a>b@main~", "a", &[("b", || Whereabouts::Untold("no git".to_owned()))], false, 0, "no git b"),
        // What lies before the newest may be lost as well.
        ("a>b@main~ b>c@main~", "a", &[("c", || Whereabouts::Nowhere), ("b", ahead)], false, 0, "stale b"),
        ("a>b@main~ a>c@topic~", "a", &[("c", elsewhere), ("b", ahead)], false, 0, "stale b"),
        (
            "a>b@x~ b>c@x~",
            "a",
            &[("c", || Whereabouts::Nowhere), ("b", elsewhere)],
            false,
            0,
            "go diverged b discarded c",
        ),
        // What the newest was built on is in it.
        ("a>b@main b>c@main", "a", &[("c", || Whereabouts::Behind)], false, 0, "go"),
        (
            "a>b@main! b>c@main!",
            "a",
            &[("c", elsewhere), ("b", || unseen(true))],
            false,
            0,
            "go diverged c discarded b",
        ),
        // Only what came after it, and after the last time that it was made.
        ("a>b@main b>a@main a>c@main~", "a", &[("c", ahead)], false, 0, "stale c"),
        ("->a@main a>b@main b>a@main", "a", &[], false, 0, "go"),
        // A base of two branches.
        (
            "a>b@topic~ a>c@main~",
            "a",
            &[("c", || Whereabouts::Nowhere), ("b", elsewhere)],
            false,
            0,
            "go diverged b discarded c",
        ),
        ("a>b@main~ a>c@topic~", "b", &[("c", elsewhere)], false, 0, "go diverged c"),
        // Who has accepted an older version has done so for himself.
        ("a>b@main~ =a@topic~ a>c@topic~", "a", &[("c", elsewhere), ("b", ahead)], false, 0, "stale b"),
        ("a>b@main =a@topic~ a>c@topic~", "b", &[("c", elsewhere)], false, 0, "go diverged c"),
        // No file: whatever there ever was came after that.
        ("->a@main a>b@main", "-", &[("b", || Whereabouts::Behind)], false, 0, "go"),
        ("->a@main~ a>b@main~", "-", &[("b", ahead)], false, 0, "stale b"),
        ("->a@main~", "-", &[("a", || Whereabouts::Nowhere)], false, 0, "go discarded a"),
    ];
    for (chain, version, places, by_git, later, expected) in table {
        let places = places.iter().map(|(name, place)| (Digest::of(name.as_bytes()), place())).collect();
        let mut world = Told { by_git, places, ..Told::default() };
        assert_eq!(verdict(chain, version, Base::File, &mut world, later), expected, "{chain:?} at {version}");
    }
}

#[test]
fn what_is_put_over_a_file_takes_back_one_s_own_versions_and_nobody_else_s() {
    type Places = &'static [(&'static str, fn() -> Whereabouts)];
    // Every link is ana's. What is put there is `a`; what it is put over, by whom, and where the newer ones are.
    let table: [(&str, &str, &str, Places, &str); 8] = [
        ("a>b@main", "b", "ben", &[("b", nowhere)], "read again b"),
        ("a>b@main", "b", "ana", &[("b", nowhere)], "go discarded b"),
        ("a>b@main", "b", "ben", &[("b", || Whereabouts::Behind)], "go"),
        ("a>b@main", "b", "ana", &[("b", ahead)], "stale b"),
        ("a>b@main b>c@main", "c", "ben", &[("c", elsewhere), ("b", nowhere)], "read again b"),
        // What is not in the file at hand is not lost with it.
        ("a>b@main", "a", "ben", &[("b", nowhere)], "go discarded b"),
        ("a>b@main a>c@main", "c", "ana", &[("c", nowhere), ("b", nowhere)], "go discarded c"),
        ("a>b@main!", "b", "ben", &[("b", || unseen(true))], "read again b"),
    ];
    for (chain, over, by, places, expected) in table {
        let places = places.iter().map(|(name, place)| (Digest::of(name.as_bytes()), place())).collect();
        let mut world = Told { places, ..Told::default() };
        let over = Digest::of(over.as_bytes());
        let base = Base::Put { over: Some(&over), by };
        assert_eq!(verdict(chain, "a", base, &mut world, 0), expected, "{chain:?} over {over:?} by {by}");
    }
}

#[test]
fn the_usual_case_asks_nobody() {
    for (chain, version) in [("", "a"), ("->a@main", "a"), ("->a@main a>b@main~", "b")] {
        let mut world = Told::default();
        assert_eq!(verdict(chain, version, Base::File, &mut world, 0), "go");
        assert_eq!(world.asked, 0, "{chain:?}");
    }
}

#[test]
fn plaintext_that_was_read_earlier_is_stale_as_soon_as_the_file_has_gone_on() {
    type Places = &'static [(&'static str, fn() -> Whereabouts)];
    let table: [(&str, &str, Places, &str); 7] = [
        ("->a@main", "a", &[], "go"),
        // Into this very file: nobody need be asked.
        ("->a@main a>b@main", "a", &[], "read again b"),
        // It came here from elsewhere: no revert.
        ("->a@main a>b@main~", "a", &[("b", || Whereabouts::Behind)], "read again b"),
        ("->a@main a>b@main~", "a", &[("b", ahead)], "stale b"),
        ("->a@main a>b@topic~", "a", &[("b", elsewhere)], "go diverged b"),
        ("->a@main a>b@main~", "a", &[("b", || Whereabouts::Nowhere)], "go discarded b"),
        // Whether it came by git does not matter: the file may hold another one by now.
        ("->a@main", "x", &[], "unknown"),
    ];
    for (chain, version, places, expected) in table {
        let places = places.iter().map(|(name, place)| (Digest::of(name.as_bytes()), place())).collect();
        let mut world = Told { by_git: true, places, ..Told::default() };
        assert_eq!(verdict(chain, version, Base::Read, &mut world, 0), expected, "{chain:?} at {version}");
    }
}

#[test]
fn what_was_read_and_belongs_here_is_no_older_than_what_git_keeps_elsewhere() {
    type Places = &'static [(&'static str, fn() -> Whereabouts)];
    // The version that was read is what HEAD has; the other one was written into this very file.
    let table: [(Places, &str); 5] = [
        (&[("b", elsewhere)], "go diverged b"),
        (&[("b", || Whereabouts::Behind)], "go"),
        (&[("b", ahead)], "stale b"),
        // Whether it was discarded before the reading or lies below the plaintext nobody can tell.
        (&[("b", nowhere)], "read again b"),
        (&[("b", || unseen(true))], "read again b"),
    ];
    for (places, expected) in table {
        let places = places.iter().map(|(name, place)| (Digest::of(name.as_bytes()), place())).collect();
        let mut world = Told { at_head: true, places, ..Told::default() };
        assert_eq!(verdict("->a@main a>b@main", "a", Base::Read, &mut world, 0), expected);
    }
}

#[test]
fn a_chain_knows_what_was_a_result_or_a_base() {
    let chain = ["b>c@main", "a>b@main"].map(link);
    for (version, known) in [("a", true), ("b", true), ("c", true), ("d", false), ("-", false)] {
        assert_eq!(knows(&chain, &Digest::of(version.as_bytes())), known, "{version}");
    }
    assert!(!knows(&[], &Digest::of(b"a")));
}

#[test]
fn a_day_out_of_sight_is_a_day() {
    assert_eq!(OUT_OF_SIGHT_MS, 86_400_000);
}

/// A file has gone on to a version that was made from its own, in that very work tree of that very host.
#[test]
fn whether_its_writer_s_file_has_gone_on_is_told_by_host_and_work_tree() {
    for (chain, expected) in [
        ("a>b@main~ b>c@main~", true),
        ("a>b@main! b>c@main!", true),
        ("a>b@main~ b>c@main!", false),
        ("a>b@main~ b>c@main", false),
        ("a>b@main~ a>c@main~", false),
    ] {
        let places = ["b", "c"].map(|name| (Digest::of(name.as_bytes()), elsewhere())).into();
        let mut world = Told { places, ..Told::default() };
        assert_eq!(verdict(chain, "a", Base::File, &mut world, 0), "go diverged c");
        assert_eq!(world.moved_on, [false, expected], "{chain:?}: the newest first");
    }
}
