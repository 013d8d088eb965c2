//! Runs that held nothing, told afterwards.

use locked::store::{Claim, Ended, Forced, ForcedEnd, HistoryFilter, LeaseState, Request, Store};
use locked::terms::GrantId;

use super::World;
use crate::store::cast::{
    Actor, LIMIT, TTL, actor, busy, file, granted, kept, receipt, release, resource, settled, take,
};

/// A forced run over `sops:a` that ended so.
fn forced(by: &Actor, end: ForcedEnd) -> Forced {
    Forced {
        grant: GrantId::random(),
        owner: by.asks(&["a"]).owner,
        resources: vec![resource("a")],
        reason: "the store was down".to_owned(),
        began_at: 1_000,
        ended_at: 2_000,
        files: vec![file("a.env", "1")],
        receipts: Vec::new(),
        end,
        apart: Vec::new(),
    }
}

fn bad() -> ForcedEnd {
    ForcedEnd::Quarantine { reason: "ws-1:/repo/a.env: the file is empty".to_owned() }
}

fn tell(store: &mut dyn Store, run: &Forced) {
    store.record_forced(run, LIMIT).expect("the store answers");
}

pub(crate) fn a_forced_run_is_recorded_once_and_stands_in_nobody_s_way(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let held = take(&mut *store, &bob.asks(&["a"]));
    let mut run = forced(&ana, ForcedEnd::Ended(Ended::Completed));
    run.receipts = vec![receipt("a", "a.env", "1", "2")];
    for _told in 0..3 {
        tell(&mut *world.store(), &run);
    }
    let past = store.history(&HistoryFilter::default(), LIMIT).expect("answer");
    assert_eq!(past.len(), 1);
    let row = &past[0];
    assert_eq!(
        (row.ended_as, row.session, row.acquired_at, row.ended_at),
        (Ended::Completed, ana.session, 1_000, 2_000)
    );
    assert_eq!(row.note.as_deref(), Some("forced: the store was down"));
    assert_eq!(store.receipts(&resource("a").scope, "a.env", LIMIT).expect("answer").len(), 1);
    release(&mut *store, &held);
    let granted = granted(&mut *store, &bob.asks(&["a"]));
    assert!(granted.unsettled.is_empty());
    assert!(granted.tokens[0].1 > row.token);
}

pub(crate) fn a_forced_run_that_left_a_file_bad_quarantines_it_whoever_is_there(world: &dyn World) {
    let (ana, bob) = (actor("ana"), actor("bob"));
    let mut store = world.store();
    let in_quarantine = |store: &mut dyn Store, name: &str| {
        let (blockers, _) = busy(store, &bob.asks(&[name]));
        let lease = &blockers[0].lease;
        assert_eq!((lease.state, lease.expires_in), (LeaseState::Quarantined, None), "{name}");
        assert!(lease.reason.as_deref().is_some_and(|it| it.contains("the file is empty")), "{name}: {lease:?}");
    };
    let run = |name: &str| Forced { resources: vec![resource(name)], ..forced(&ana, bad()) };
    // Nobody.
    for _told in 0..2 {
        tell(&mut *store, &run("a"));
    }
    in_quarantine(&mut *store, "a");
    // Somebody runs: they go on.
    let held = take(&mut *store, &bob.asks(&["b"]));
    tell(&mut *store, &run("b"));
    release(&mut *store, &held);
    in_quarantine(&mut *store, "b");
    // Something is kept.
    let held = take(&mut *store, &bob.asks(&["c"]));
    settled(&mut *store, &held, kept(true));
    tell(&mut *store, &run("c"));
    in_quarantine(&mut *store, "c");
    // Somebody is gone without a word.
    take(&mut *store, &bob.asks(&["d"]));
    world.pass(TTL);
    tell(&mut *store, &run("d"));
    in_quarantine(&mut *store, "d");
    assert_eq!(store.leases(None, LIMIT).expect("answer").len(), 4, "one live lease each");
}

pub(crate) fn a_forced_run_that_nobody_saw_end_is_proven_by_the_next(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let run = forced(&ana, ForcedEnd::Unsettled);
    for _told in 0..2 {
        tell(&mut *store, &run);
    }
    let granted = granted(&mut *store, &bob.asks(&["a"]));
    assert_eq!(granted.unsettled.len(), 1);
    assert_eq!(granted.unsettled[0].files, run.files);
    let past = store.history(&HistoryFilter::default(), LIMIT).expect("answer");
    assert!(past[0].note.as_deref().is_some_and(|note| note.starts_with("forced: the store was down")), "{past:?}");
}

pub(crate) fn a_forced_run_that_may_run_on_lets_nobody_in_for_its_time(world: &dyn World) {
    let (ana, bob) = (actor("ana"), actor("bob"));
    let mut store = world.store();
    let end = ForcedEnd::Lingers { reason: "its effect may still be running".to_owned(), lasts: TTL };
    let run = |name: &str| Forced { resources: vec![resource(name)], ..forced(&ana, end.clone()) };
    // Nobody holds it; something is kept; somebody is gone without a word; somebody runs, and goes on.
    let kept_one = take(&mut *store, &bob.asks(&["b"]));
    settled(&mut *store, &kept_one, kept(true));
    take(&mut *store, &bob.asks(&["c"]));
    world.pass(TTL);
    let running = take(&mut *store, &bob.asks(&["d"]));
    let runs: Vec<_> = ["a", "b", "c", "d"].map(run).into();
    for run in runs.iter().chain(&runs) {
        tell(&mut *store, run);
    }
    release(&mut *store, &running);
    for name in ["a", "b", "c", "d"] {
        let (blockers, _) = busy(&mut *store, &bob.asks(&[name]));
        let lease = &blockers[0].lease;
        assert_eq!((lease.state, lease.expires_in), (LeaseState::Remote, Some(TTL)), "{name}");
        assert!(lease.reason.as_deref().is_some_and(|it| it.contains("may still be running")), "{name}: {lease:?}");
    }
    world.pass(TTL);
    for name in ["a", "b", "c", "d"] {
        let owed = granted(&mut *store, &bob.asks(&[name])).unsettled;
        assert!(owed.iter().any(|it| it.files == [file("a.env", "1")]), "{name}: {owed:?}");
    }
}

pub(crate) fn who_restores_is_told_what_a_forced_run_may_have_written_meanwhile(world: &dyn World) {
    let (ana, bob) = (actor("ana"), actor("bob"));
    let mut store = world.store();
    let held = take(&mut *store, &bob.asks(&["a"]));
    settled(&mut *store, &held, crate::store::cast::bad());
    let end = ForcedEnd::Lingers { reason: "its effect may still be running".to_owned(), lasts: TTL };
    tell(&mut *store, &forced(&ana, end));
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
    assert_eq!(blockers[0].lease.state, LeaseState::Quarantined, "it stays what it is");
    let mends = Request { claim: Claim::Restore, ..bob.asks(&["a"]) };
    let owed = granted(&mut *store, &mends).carried;
    assert!(owed.iter().any(|it| it.files == [file("a.env", "1")]), "{owed:?}");
}

pub(crate) fn what_of_a_forced_run_ended_apart_does_not_take_the_rest_along(world: &dyn World) {
    let (ana, bob) = (actor("ana"), actor("bob"));
    let mut store = world.store();
    let run = Forced {
        resources: vec![resource("a"), resource("b")],
        apart: vec![(resource("a"), bad())],
        ..forced(&ana, ForcedEnd::Ended(Ended::Completed))
    };
    for _told in 0..2 {
        tell(&mut *store, &run);
    }
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
    assert_eq!(blockers[0].lease.state, LeaseState::Quarantined);
    take(&mut *store, &bob.asks(&["b"]));
}
