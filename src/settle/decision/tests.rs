//! What is asked of a decision, and what becomes of it, where no outcome of a command is needed for that.
#![forbid(unsafe_code)]

use super::*;
use crate::terms::{ResourceName, Scope};

const HOUR: Duration = Duration::from_secs(3600);

fn resource(name: &str) -> Resource {
    Resource { name: ResourceName::of("sops", name.as_bytes()), scope: Scope::global() }
}

fn keep(reason: &str, takeable: bool) -> Ending {
    Ending::Keep { reason: reason.to_owned(), keep_for: HOUR, takeable }
}

fn elsewhere() -> Ending {
    Ending::Elsewhere { reason: "elsewhere".to_owned(), keep_for: HOUR }
}

fn linger() -> Ending {
    Ending::Linger { reason: "lingers".to_owned() }
}

fn quarantine() -> Ending {
    Ending::Quarantine { reason: "bad".to_owned() }
}

const DONE: Ending = Ending::Release(Ended::Completed);
const FAILED: Ending = Ending::Release(Ended::Failed);

/// Its own ending, and those that stand apart, of `a`, `b` …
fn of(own: Ending, apart: &[Ending]) -> Decision {
    let names = ["a", "b", "c", "d"].map(resource);
    Decision { apart: names.into_iter().zip(apart.iter().cloned()).collect(), ..Decision::new(own, Exit::OK, None) }
}

fn telling(tellings: Vec<Telling>) -> Decision {
    Decision { tellings, ..of(DONE, &[]) }
}

fn kept(names: &[&str], keep_for: Duration) -> Telling {
    Telling::Kept { resources: names.iter().map(|name| resource(name)).collect(), wrote: true, keep_for }
}

fn unproven(stays: Option<(&[&str], Duration)>) -> Telling {
    let stays = stays.map(|(names, lasts)| (names.iter().map(|name| resource(name)).collect(), lasts));
    Telling::Unproven { why: "curl".to_owned(), stays }
}

fn consumers(name: &str, keep_for: Duration) -> Telling {
    Telling::Consumers { resource: resource(name), consumers: Unwritten::default(), keep_for }
}

fn open_edit() -> Telling {
    Telling::OpenEdit { shown: "x".to_owned() }
}

#[test]
fn one_word_after_the_other_goes_to_the_ledger() {
    let noted = of(DONE, &[]).noting("one".to_owned());
    assert_eq!(noted.note.as_deref(), Some("one"));
    assert_eq!(noted.noting("two".to_owned()).note.as_deref(), Some("one; two"));
}

/// What may still run is not let go of, and what is bad stays bad, whatever the store can keep.
#[test]
fn where_nothing_can_be_kept_what_would_be_is_free_again() {
    for (exit, free) in [(Exit::OK, DONE), (Exit::Code(1), FAILED), (Exit::Signal(9), FAILED)] {
        let apart = [elsewhere(), keep("k", true), linger(), quarantine()];
        let decision = Decision { exit, ..of(keep("k", false), &apart) }.unkept();
        assert_eq!(decision, Decision { exit, ..of(free.clone(), &[free.clone(), free, linger(), quarantine()]) });
        for stays in [linger(), quarantine()] {
            assert_eq!(of(stays.clone(), &[]).unkept().ending, stays);
        }
    }
    assert_eq!(of(FAILED, &[DONE]).unkept(), of(FAILED, &[DONE]), "what is released stays so");
}

#[test]
fn where_nothing_can_be_kept_nobody_is_told_that_something_is() {
    let stays = unproven(Some((&["b"], HOUR)));
    let told = telling(vec![kept(&["a"], HOUR), open_edit(), stays, consumers("c", HOUR)]).unkept();
    assert_eq!(told.tellings, [open_edit(), unproven(None)]);
}

#[test]
fn only_what_is_completed_is_held_back() {
    let held = keep(NOT_WRITTEN, false);
    let back = |decision: Decision, name: &str| decision.held_back(&resource(name), Unwritten::default(), HOUR);
    // By the lease's own ending, or by the one that it has apart.
    let own = back(of(DONE, &[FAILED]), "z");
    assert_eq!(own.apart, [(resource("a"), FAILED), (resource("z"), held.clone())]);
    assert_eq!((own.ending, own.tellings), (DONE, vec![consumers("z", HOUR)]));
    let apart = back(of(FAILED, &[FAILED, DONE]), "b");
    assert_eq!(apart.apart, [(resource("a"), FAILED), (resource("b"), held)], "once");
    for (decision, name) in [(of(DONE, &[FAILED]), "a"), (of(FAILED, &[DONE]), "z"), (of(elsewhere(), &[]), "z")] {
        assert_eq!(back(decision.clone(), name), decision, "{name}");
    }
}

#[test]
fn how_long_is_said_of_what_stays_for_a_time() {
    for (said, says) in [
        (kept(&["a"], HOUR), true),
        (unproven(Some((&["a"], HOUR))), true),
        (consumers("a", HOUR), true),
        (unproven(None), false),
        (open_edit(), false),
    ] {
        assert_eq!(telling(vec![open_edit(), said.clone()]).says_how_long(), says, "{said:?}");
    }
    assert!(!of(keep("k", false), &[]).says_how_long());
}

/// `a` stays two hours by the store, `b` two hours and a bit, `c` less than was asked for, and of `d` nothing is known.
#[test]
fn people_are_told_of_the_time_that_the_board_shows() {
    let lasts = |resource: &Resource| match resource.name.as_str() {
        "sops:a" => Some(HOUR * 2),
        "sops:b" => Some(HOUR * 2 + Duration::from_nanos(1)),
        "sops:c" => Some(HOUR / 2),
        _ => None,
    };
    let (two, more) = (HOUR * 2, HOUR * 2 + Duration::from_secs(1));
    let table = [
        (kept(&["a"], HOUR), vec![kept(&["a"], two)]),
        (kept(&["b"], HOUR), vec![kept(&["b"], more)]),
        // Who stays as long as another one is told with it.
        (
            kept(&["d", "a", "c", "b", "a"], HOUR),
            vec![kept(&["d", "c"], HOUR), kept(&["a", "a"], two), kept(&["b"], more)],
        ),
        (unproven(Some((&["a", "b"], HOUR))), vec![unproven(Some((&["a", "b"], two)))]),
        (unproven(Some((&["a", "c"], HOUR))), vec![unproven(Some((&["a", "c"], HOUR)))]),
        (unproven(Some((&[], HOUR))), vec![unproven(Some((&[], HOUR)))]),
        (unproven(None), vec![unproven(None)]),
        (consumers("a", HOUR), vec![consumers("a", two)]),
        (consumers("c", HOUR), vec![consumers("c", HOUR)]),
        (open_edit(), vec![open_edit()]),
    ];
    for (said, told) in table {
        assert_eq!(telling(vec![said.clone()]).lasting(&lasts).tellings, told, "{said:?}");
    }
    // To the moment as long as was asked for, which has fractions: it is left as it was asked for.
    let asked = HOUR + Duration::from_millis(500);
    assert_eq!(telling(vec![kept(&["a"], asked)]).lasting(&|_| Some(asked)).tellings, [kept(&["a"], asked)]);
}

#[test]
fn the_worst_is_found_wherever_it_stands() {
    assert_eq!(of(DONE, &[keep("k", false), quarantine()]).quarantine(), Some("bad"));
    assert_eq!(of(quarantine(), &[DONE]).quarantine(), Some("bad"));
    assert_eq!(of(linger(), &[keep("k", true), elsewhere()]).quarantine(), None);
}

#[test]
fn an_open_edit_is_one_by_the_lease_s_own_ending() {
    let reason = "ws-1:/r/x is plaintext (an open edit)";
    assert!(of(keep(reason, false), &[]).is_open_edit());
    for other in [keep(reason, true), keep("k", false), linger(), DONE] {
        assert!(!of(other.clone(), &[keep(reason, false)]).is_open_edit(), "{other:?}");
    }
}

#[test]
fn why_it_stays_is_said_by_the_lease_s_own_reason_first() {
    for (ending, why) in [
        (keep("k", true), Some("k")),
        (elsewhere(), Some("elsewhere")),
        (linger(), Some("lingers")),
        (quarantine(), Some("bad")),
        (DONE, None),
        (FAILED, None),
    ] {
        assert_eq!(of(ending.clone(), &[]).stays(), why);
        assert_eq!(of(FAILED, &[DONE, ending.clone()]).stays(), why, "of a part");
        assert_eq!(of(ending, &[keep("part", false)]).stays(), why.or(Some("part")));
    }
}

#[test]
fn a_reason_is_of_consumers_by_every_word_of_it() {
    assert!(is_of_consumers("other files have the same key and were not written"));
    assert!(!is_of_consumers("it failed with status 1"));
}
