//! `stale = "ask"`: what is left behind belongs to nobody before a person has said so.

use locked::store::{
    Became, Ended, Ending, Forced, ForcedEnd, Holding, LeaseState, LeaseView, Renewal, Request, Store,
};
use locked::terms::GrantId;

use super::World;
use super::theft::{theft, took, was_stolen};
use crate::store::cast::{
    Actor, FIRST, LIMIT, TTL, actor, busy, file, granted, kept, release, resource, settled, take,
};

/// The request, asking a person about all that it wants.
fn asking(request: Request) -> Request {
    Request { ask: request.resources.clone(), ..request }
}

/// The one lease in the way of a request, which has run out and asks.
#[track_caller]
fn asks(store: &mut dyn Store, request: &Request) -> LeaseView {
    let (blockers, _) = busy(store, request);
    let [blocker] = &blockers[..] else { panic!("{blockers:?}") };
    assert_eq!((blocker.lease.state, blocker.lease.ask), (LeaseState::Expired, true), "{blocker:?}");
    assert!(!blocker.reclaimable_when_gone, "a proof would be for nothing");
    blocker.lease.clone()
}

/// A person says so, and the thief has it at once.
#[track_caller]
fn is_cleared(store: &mut dyn Store, by: &Actor, name: &str) -> locked::store::Granted {
    assert_ne!(took(store, &[name], &theft(by)), [Became::Told], "nobody is waited for");
    let granted = granted(store, &by.holds(&[name]));
    was_stolen(store, name);
    granted
}

pub(crate) fn one_that_asks_is_nobody_s_until_a_person_says_so(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let both = Request { ask: vec![resource("a")], files: vec![file("a.env", "1")], ..ana.asks(&["a", "b"]) };
    let held = take(&mut *store, &both);
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
    assert_eq!((blockers[0].lease.state, blockers[0].lease.ask), (LeaseState::Held, true), "seen before it is stale");
    world.pass(FIRST);
    asks(&mut *store, &bob.asks(&["a"]));
    assert!(matches!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(_)), "its holder lives after all");
    world.pass(TTL * 100);
    let waits = bob.waits_for(&["a"]);
    asks(&mut *store, &waits);
    take(&mut *store, &eve.asks(&["b"]));
    asks(&mut *store, &waits);
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Gone, "b is lost, and so are both");
    let cleared = took(&mut *store, &["a"], &theft(&eve));
    assert_eq!(cleared, [Became::Free]);
    // Who has waited is next, when the person does not take it.
    let owed = granted(&mut *store, &waits).unsettled;
    assert_eq!(owed[0].files, [file("a.env", "1")], "its files are proven as ever");
    was_stolen(&mut *store, "a");
}

pub(crate) fn a_proof_that_its_holder_is_gone_frees_nothing(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let crashed = asking(ana.asks(&["a"]));
    take(&mut *store, &crashed);
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
    assert!(blockers[0].reclaimable_when_gone, "that it is gone is worth to be known");
    for _proof in 0..2 {
        let lease = asks(&mut *store, &Request { gone: vec![crashed.grant], ..bob.asks(&["a"]) });
        assert!(lease.reason.is_some_and(|reason| reason.contains("proven gone by") && reason.contains("bob")));
    }
    is_cleared(&mut *store, &eve, "a");
}

pub(crate) fn its_own_session_goes_on_with_it(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    for (name, request) in [("a", ana.asks(&["a"])), ("b", ana.holds(&["b"]))] {
        let request = asking(Request { files: vec![file(name, "1")], ..request });
        take(&mut *store, &request);
        world.pass(TTL);
        asks(&mut *store, &bob.asks(&[name]));
        let owed = granted(&mut *store, &ana.asks(&[name])).unsettled;
        assert_eq!(owed[0].files, [file(name, "1")]);
    }
}

pub(crate) fn what_others_might_take_they_may_not(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    for takeable in [false, true] {
        let held = take(&mut *store, &asking(ana.asks(&["a"])));
        settled(&mut *store, &held, kept(takeable));
        let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
        assert_eq!(blockers[0].lease.state, LeaseState::Kept);
        world.pass(TTL);
        asks(&mut *store, &bob.asks(&["a"]));
        is_cleared(&mut *store, &eve, "a");
        release(&mut *store, &eve.holding(&["a"]));
        let held = take(&mut *store, &asking(ana.asks(&["a"])));
        settled(&mut *store, &held, kept(takeable));
        let next = take(&mut *store, &ana.asks(&["a"]));
        release(&mut *store, &next);
    }
}

pub(crate) fn a_hold_that_asks_asks_when_it_is_handed_back(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    take(&mut *store, &asking(ana.holds(&["a"])));
    let command = take(&mut *store, &ana.asks(&["a"]));
    release(&mut *store, &command);
    world.pass(TTL);
    asks(&mut *store, &bob.asks(&["a"]));
    // And while a command has it.
    let hold = take(&mut *store, &asking(ana.holds(&["a"])));
    assert!(matches!(store.renew(&hold, LIMIT).expect("answer"), Renewal::Renewed(_)));
    take(&mut *store, &ana.asks(&["a"]));
    world.pass(TTL);
    asks(&mut *store, &bob.asks(&["a"]));
}

pub(crate) fn what_asks_below_a_holder_asks_for_the_holder(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let outer = ana.asks(&["a"]);
    let held = take(&mut *store, &outer);
    let inner = asking(Request { within: Some(outer.grant), ..ana.asks(&["a"]) });
    take(&mut *store, &inner);
    // The holder goes before it: who goes on with the lease asks still.
    settled(&mut *store, &held, Ending::Release(Ended::Failed));
    world.pass(TTL);
    asks(&mut *store, &bob.asks(&["a"]));
}

pub(crate) fn a_remote_effect_is_given_its_time_and_then_a_person_is_asked(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let crashed = asking(Request { remote: true, ..ana.asks(&["a"]) });
    take(&mut *store, &crashed);
    let (blockers, _) = busy(&mut *store, &Request { gone: vec![crashed.grant], ..bob.asks(&["a"]) });
    assert_eq!(blockers[0].lease.state, LeaseState::Remote);
    assert_eq!(took(&mut *store, &["a"], &theft(&eve)), [Became::Told], "a person's word does not end the effect");
    busy(&mut *store, &eve.holds(&["a"]));
    world.pass(TTL);
    granted(&mut *store, &eve.holds(&["a"]));
    was_stolen(&mut *store, "a");
    release(&mut *store, &eve.holding(&["a"]));
    // Nobody says so: it stays.
    let crashed = asking(Request { remote: true, ..ana.asks(&["a"]) });
    take(&mut *store, &crashed);
    busy(&mut *store, &Request { gone: vec![crashed.grant], ..bob.asks(&["a"]) });
    world.pass(TTL * 3);
    asks(&mut *store, &bob.asks(&["a"]));
}

pub(crate) fn what_its_holder_has_released_asks_nobody(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let held = take(&mut *store, &asking(ana.asks(&["a"])));
    release(&mut *store, &held);
    let next = take(&mut *store, &bob.asks(&["a"]));
    let live = store.leases(None, LIMIT).expect("answer");
    assert!(!live[0].ask, "and the next one asks for itself");
    release(&mut *store, &next);
    // A command below died, and its holder is done: what it left is proven by the next, whoever that is.
    let outer = asking(ana.asks(&["a"]));
    let held = take(&mut *store, &outer);
    let below = |request: Request| Request { within: Some(outer.grant), ..request };
    let dead = below(Request { files: vec![file("a.env", "1")], ..ana.asks(&["a"]) });
    take(&mut *store, &dead);
    let beside: Holding = take(&mut *store, &below(Request { gone: vec![dead.grant], ..ana.asks(&["a"]) }));
    release(&mut *store, &beside);
    release(&mut *store, &held);
    let owed = granted(&mut *store, &bob.asks(&["a"])).unsettled;
    assert_eq!(owed[0].files, [file("a.env", "1")]);
}

pub(crate) fn a_forced_run_does_not_take_the_question_away(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    take(&mut *store, &asking(ana.asks(&["a"])));
    world.pass(TTL);
    let forced = Forced {
        grant: GrantId::random(),
        owner: bob.asks(&["a"]).owner,
        resources: vec![resource("a")],
        reason: "incident".to_owned(),
        began_at: 1,
        ended_at: 2,
        files: Vec::new(),
        receipts: Vec::new(),
        end: ForcedEnd::Lingers { reason: "process 1 runs on".to_owned(), lasts: TTL },
        apart: Vec::new(),
    };
    store.record_forced(&forced, LIMIT).expect("recorded");
    world.pass(TTL * 2);
    asks(&mut *store, &ana.asks(&["a"]));
    is_cleared(&mut *store, &eve, "a");
}

pub(crate) fn a_reboot_asks_too(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    take(&mut *store, &asking(ana.asks(&["a"])));
    if world.reboot() {
        asks(&mut *world.store(), &bob.asks(&["a"]));
    }
}
