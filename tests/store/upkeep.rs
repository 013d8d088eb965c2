//! What a store's owner does with it: prune, raise the epoch, move. The same for both stores.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use locked::store::{
    Acquisition, Cargo, Discharge, Ended, Ending, HistoryFilter, Holding, Prune, Pruned, Release, Renewal, Request,
    Settlement, Store, StoreError, Upkeep,
};

use super::cast::{LIMIT, actor, bad, granted, receipt, release, resource, settled, take};
use super::contract::World;
use super::postgres::lab::{Lab, Way};
use super::sqlite::Embedded;
use crate::world::ends::until;

const DAY: Duration = Duration::from_secs(86_400);

fn care(store: &mut (dyn Store + Send)) -> &mut dyn Upkeep {
    store.upkeep().expect("it has a ledger")
}

/// One proven write after the other on this file, each by a lease of its own.
fn writes(world: &dyn World, name: &str, path: &str, versions: std::ops::Range<u32>) {
    let mut store = world.store();
    for version in versions {
        let held = take(&mut *store, &actor("ana").asks(&[name]));
        let left = receipt(name, path, &version.to_string(), &(version + 1).to_string());
        let settlement = Settlement::whole(Ending::Release(Ended::Completed), vec![left]);
        assert_eq!(store.settle(&held, &settlement, LIMIT).expect("answer"), Release::Released);
        world.pass(Duration::from_secs(1));
    }
}

/// A lease that is over at once.
fn goes_by(store: &mut dyn Store, who: &str, name: &str) {
    let held = take(store, &actor(who).asks(&[name]));
    release(store, &held);
}

fn past(store: &mut dyn Store, name: &str) -> usize {
    let name = Some(resource(name).name.to_string());
    store.history(&HistoryFilter { name, limit: Some(1_000), ..HistoryFilter::default() }, LIMIT).expect("answer").len()
}

/// The digests of a chain, newest first.
fn chain(store: &mut dyn Store, path: &str) -> Vec<String> {
    let receipts = store.receipts(&resource("a").scope, path, LIMIT).expect("answer");
    receipts.iter().map(|it| it.new.to_string()).collect()
}

fn versions(of: impl IntoIterator<Item = u32>) -> Vec<String> {
    of.into_iter().map(|it| locked::terms::Digest::of(it.to_string().as_bytes()).to_string()).collect()
}

fn prune_takes_what_is_old_and_leaves_the_last_the_living_and_the_counters(world: &dyn World) {
    let mut store = world.store();
    let ana = actor("ana");
    writes(world, "a", "a.env", 0..12);
    writes(world, "b", "b.env", 0..2);
    let held = take(&mut *store, &ana.asks(&["c"]));
    let quarantined = take(&mut *store, &ana.asks(&["d"]));
    settled(&mut *store, &quarantined, bad());
    world.pass(200 * DAY);
    writes(world, "a", "a.env", 12..14);
    let before = granted(&mut *store, &actor("eve").asks(&["b"])).tokens[0].1;
    let what = Prune { older_than: 180 * DAY, keep: 3, dry_run: true };
    // Of fourteen ended leases of a the last three stay; b has two; c, d and eve's live.
    let expected = Pruned { leases: 11, receipts: 11, left: 5 };
    assert_eq!(care(&mut *store).prune(&what, LIMIT).expect("counted"), expected);
    assert_eq!((past(&mut *store, "a"), past(&mut *store, "b")), (14, 2), "a dry run takes nothing");
    assert_eq!(care(&mut *store).prune(&Prune { dry_run: false, ..what }, LIMIT).expect("pruned"), expected);
    assert_eq!((past(&mut *store, "a"), past(&mut *store, "b")), (3, 2));
    assert_eq!(chain(&mut *store, "a.env"), versions([14, 13, 12]));
    assert_eq!(chain(&mut *store, "b.env"), versions([2, 1]));
    assert_eq!(store.leases(None, LIMIT).expect("answer").len(), 3);
    assert!(matches!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(_)), "nobody took it");
    let again = care(&mut *store).prune(&Prune { dry_run: false, ..what }, LIMIT).expect("pruned");
    assert_eq!((again.leases, again.receipts), (0, 0));
    // Also with nothing kept, the end of a chain, the counters and what nobody has done yet stay.
    let duty = take(&mut *store, &ana.asks(&["e"]));
    settled(&mut *store, &duty, Ending::Release(Ended::HumanAction));
    let all = Prune { older_than: DAY, keep: 0, dry_run: false };
    world.pass(2 * DAY);
    care(&mut *store).prune(&all, LIMIT).expect("pruned");
    assert_eq!((past(&mut *store, "a"), past(&mut *store, "b"), past(&mut *store, "e")), (0, 0, 1));
    assert_eq!(chain(&mut *store, "a.env"), versions([14]));
    let token = granted(&mut *store, &actor("bob").asks(&["b"])).tokens[0].1;
    assert!(token > before);
}

/// A counter that fell would be read as one that began anew.
fn what_was_pruned_stays_counted(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    writes(world, "a", "a.env", 0..5);
    let held = take(&mut *store, &ana.asks(&["b"]));
    let waits = bob.waits_for(&["b"]);
    assert!(matches!(store.acquire(&waits, LIMIT).expect("answer"), Acquisition::Busy { .. }));
    settled(&mut *store, &held, bad());
    let restores = Request { claim: locked::store::Claim::Restore, ..ana.asks(&["b"]) };
    store.leave_queue(waits.grant, LIMIT).expect("left");
    let held = take(&mut *store, &restores);
    release(&mut *store, &held);
    let figures = |store: &mut dyn Store| store.board().expect("a board").figures(LIMIT).expect("answer");
    let held = take(&mut *store, &ana.asks(&["c"]));
    settled(&mut *store, &held, Ending::Release(Ended::HumanAction));
    let before = figures(&mut *store);
    assert_eq!((before.completed, before.failed, before.waits, before.quarantines), (6, 1, 1, 1), "{before:?}");
    // A duty that is done was left to a person all the same.
    let done = Discharge { session: bob.session, label: "bob".to_owned(), ended: Ended::Completed, note: None };
    assert_eq!(store.discharge(&resource("c"), &done, LIMIT).expect("answer"), 1);
    assert_eq!(store.discharge(&resource("c"), &done, LIMIT).expect("answer"), 0, "once");
    assert_eq!((before.human_action, figures(&mut *store)), (1, before.clone()));
    world.pass(2 * DAY);
    for _ in 0..2 {
        care(&mut *store).prune(&Prune { older_than: DAY, keep: 0, dry_run: false }, LIMIT).expect("pruned");
        assert_eq!((past(&mut *store, "a"), figures(&mut *store)), (0, before.clone()));
    }
}

#[test]
fn what_was_pruned_stays_counted_everywhere() {
    what_was_pruned_stays_counted(&embedded());
    what_was_pruned_stays_counted(&server());
}

/// Who has joined and left is remembered as long as the lease is.
fn what_is_remembered_of_a_lease_is_pruned_with_it(world: &dyn World, left: impl Fn() -> i64) {
    let (mut store, ana) = (world.store(), actor("ana"));
    let outer = ana.asks(&["a"]);
    let held = take(&mut *store, &outer);
    let joined = take(&mut *store, &Request { within: Some(outer.grant), ..ana.asks(&["a"]) });
    release(&mut *store, &joined);
    release(&mut *store, &held);
    world.pass(2 * DAY);
    for (keep, expected) in [(1, 1), (0, 0)] {
        care(&mut *store).prune(&Prune { older_than: DAY, keep, dry_run: false }, LIMIT).expect("pruned");
        assert_eq!(left(), expected, "the last {keep} stay");
    }
}

#[test]
fn what_is_remembered_of_a_lease_is_pruned_with_it_everywhere() {
    let file = embedded();
    what_is_remembered_of_a_lease_is_pruned_with_it(&file, || {
        file.raw().query_row("select count(*) from left_joins", [], |row| row.get(0)).expect("counted")
    });
    let lab = server();
    what_is_remembered_of_a_lease_is_pruned_with_it(&lab, || {
        let counted = lab.cluster().sql(&format!("select count(*) from {}.left_joins", lab.schema()));
        counted[0][0].parse().expect("a number")
    });
}

fn a_new_epoch_is_above_every_token_and_loses_no_lease(world: &dyn World) {
    let mut store = world.store();
    let first = care(&mut *store).about(LIMIT).expect("answer");
    assert_eq!((first.epoch, first.moved), (1, None));
    let held = take(&mut *store, &actor("ana").asks(&["a"]));
    writes(world, "b", "b.env", 0..1);
    let seen = 7_000_000_000_000_000;
    let raised = care(&mut *store).raise_epoch(Some(seen), LIMIT).expect("raised");
    assert!(raised.epoch == 2 && raised.above > seen && raised.resources == 2, "{raised:?}");
    let next = granted(&mut *store, &actor("bob").asks(&["b", "never-seen"])).tokens;
    assert!(next.iter().all(|(_, token)| token.0 > raised.above), "{next:?}");
    assert!(matches!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(_)));
    release(&mut *store, &held);
    let again = care(&mut *store).raise_epoch(None, LIMIT).expect("raised");
    assert!(again.epoch == 3 && again.above > next[1].1.0, "{again:?}");
    // Counters that are lost now are no way back.
    world.lose_tokens();
    let token = granted(&mut *store, &actor("eve").asks(&["a"])).tokens[0].1;
    assert!(token.0 > again.above);
}

fn all_at_once(store: &mut dyn Upkeep, to: &mut dyn Upkeep) -> u64 {
    let mut taken = 0;
    for what in Cargo::ALL {
        let rows = store.load(what, 0, LIMIT).expect("loaded");
        assert!(store.load(what, rows.len() as u64, LIMIT).expect("loaded").is_empty());
        taken += to.unload(what, &rows, LIMIT).expect("unloaded");
    }
    taken
}

fn a_store_moves_when_nothing_lives_in_it_and_grants_nothing_afterwards(from: &dyn World, to: &dyn World) {
    let (mut here, mut there) = (from.store(), to.store());
    writes(from, "a", "a.env", 0..3);
    let token = granted(&mut *here, &actor("ana").asks(&["b"])).tokens[0].1;
    let id = care(&mut *there).about(LIMIT).expect("answer").store_id;
    let living = care(&mut *here).leave_for("over there", &id, LIMIT).expect("answer");
    assert_eq!(living.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["sops:b"]);
    assert_eq!(living[0].state, "held");
    goes_by(&mut *here, "bob", "c");
    from.pass(DAY);
    goes_by(&mut *here, "eve", "b");
    assert_eq!(care(&mut *here).leave_for("over there", &id, LIMIT).expect("answer"), []);
    let refused = here.acquire(&actor("ana").asks(&["a"]), LIMIT).expect_err("it has moved");
    assert!(matches!(&refused, StoreError::Refused { why, .. } if why.contains("moved to over there")), "{refused}");
    let faults = care(&mut *here).faults(LIMIT).expect("answer");
    assert!(faults.iter().any(|fault| fault.contains("moved to over there")), "{faults:?}");

    all_at_once(care(&mut *here), care(&mut *there));
    assert_eq!((past(&mut *there, "a"), past(&mut *there, "b")), (3, past(&mut *here, "b")));
    assert_eq!(chain(&mut *there, "a.env"), versions([3, 2, 1]));
    let seen = |store: &mut dyn Store| {
        let filter = HistoryFilter { limit: Some(1_000), ..HistoryFilter::default() };
        let past = store.history(&filter, LIMIT).expect("answer");
        past.iter()
            .map(|it| {
                let (at, ended) = ((it.acquired_at, it.ended_at), it.ended_as);
                (it.resource.clone(), it.token, it.session, at, ended, it.note.clone(), it.receipt.clone())
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(seen(&mut *there), seen(&mut *here), "nothing is lost on the way");
    let before = seen(&mut *there);
    all_at_once(care(&mut *here), care(&mut *there));
    assert_eq!(seen(&mut *there), before, "what comes twice is there once");
    let next = granted(&mut *there, &actor("ana").asks(&["b"])).tokens[0].1;
    assert!(next > token);
    care(&mut *here).come_back(LIMIT).expect("back");
    goes_by(&mut *here, "ana", "a");
}

/// Whoever was granted something before the move is seen by it, and nobody is granted anything after it.
fn a_move_and_a_grant_never_miss_each_other(world: &dyn World) {
    let (granted, moved) = (AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|threads| {
        for number in 0..4 {
            let (granted, moved) = (&granted, &moved);
            threads.spawn(move || {
                let mut store = world.store();
                loop {
                    let over = moved.load(Ordering::SeqCst);
                    let request = actor("busy").asks(&[&format!("r{}", number % 2)]);
                    match store.acquire(&request, LIMIT) {
                        Ok(Acquisition::Granted(got)) => {
                            assert!(!over, "granted after the move");
                            granted.fetch_add(1, Ordering::SeqCst);
                            let held = Holding::Grant { grant: request.grant, key: request.key, resources: got.tokens };
                            release(&mut *store, &held);
                        }
                        Ok(Acquisition::Busy { .. }) => {}
                        Err(StoreError::Refused { why, .. }) => {
                            assert!(why.contains("moved"), "{why}");
                            break;
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        let mut store = world.store();
        until("some are granted", || (granted.load(Ordering::SeqCst) > 20).then_some(()));
        until("none lives for a moment", || {
            care(&mut *store).leave_for("over there", "x", LIMIT).expect("answer").is_empty().then_some(())
        });
        moved.store(true, Ordering::SeqCst);
        assert_eq!(store.leases(None, LIMIT).expect("answer").len(), 0);
    });
}

/// Two machines move to one store, the second after the first has gone on there.
fn what_comes_later_finds_its_place_in_the_chain(from: &dyn World, to: &dyn World) {
    let (mut here, mut there) = (from.store(), to.store());
    writes(from, "a", "a.env", 0..2);
    // Both clocks begin on about the same day; the target is later from here.
    to.pass(400 * DAY);
    writes(to, "a", "a.env", 10..12);
    writes(to, "z", "z.env", 10..12);
    all_at_once(care(&mut *here), care(&mut *there));
    assert_eq!(chain(&mut *there, "a.env"), versions([12, 11, 2, 1]));
    assert_eq!(chain(&mut *there, "z.env"), versions([12, 11]));
    writes(to, "a", "a.env", 12..13);
    assert_eq!(chain(&mut *there, "a.env"), versions([13, 12, 11, 2, 1]));
}

fn embedded() -> Embedded {
    Embedded::new()
}

fn server() -> Lab {
    Lab::alone(Way::Direct)
}

macro_rules! for_both {
    ($($promise:ident;)*) => {$(mod $promise {
        #[test]
        fn embedded() {
            super::$promise(&super::embedded());
        }

        #[test]
        fn on_the_server() {
            super::$promise(&super::server());
        }
    })*};
}
for_both! {
    prune_takes_what_is_old_and_leaves_the_last_the_living_and_the_counters;
    a_new_epoch_is_above_every_token_and_loses_no_lease;
    a_move_and_a_grant_never_miss_each_other;
}

macro_rules! for_every_way {
    ($($promise:ident;)*) => {$(mod $promise {
        #[test]
        fn from_the_embedded_store_to_the_server() {
            super::$promise(&super::embedded(), &super::server());
        }

        #[test]
        fn from_the_server_to_an_embedded_store() {
            super::$promise(&super::server(), &super::embedded());
        }

        #[test]
        fn from_server_to_server() {
            super::$promise(&super::server(), &super::server());
        }

        #[test]
        fn from_file_to_file() {
            super::$promise(&super::embedded(), &super::embedded());
        }
    })*};
}
for_every_way! {
    a_store_moves_when_nothing_lives_in_it_and_grants_nothing_afterwards;
    what_comes_later_finds_its_place_in_the_chain;
}
