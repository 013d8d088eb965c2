//! Fair waiting: one ticket per request over all its resources, the oldest first, nobody barges.

use std::time::Duration;

use locked::store::Request;

use super::World;
use crate::store::cast::{LIMIT, SILENCE, actor, busy, granted, kept, release, settled, take};

pub(crate) fn the_oldest_request_goes_first_and_sees_its_place(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    let (first, second) = (bob.waits_for(&["a"]), eve.waits_for(&["a"]));
    assert_eq!(busy(&mut *store, &first).1.len(), 0, "next in line");
    let (_, ahead) = busy(&mut *store, &second);
    assert_eq!(ahead.iter().map(|it| it.grant).collect::<Vec<_>>(), [first.grant]);
    assert!(ahead[0].holder.contains("bob") && ahead[0].holder.contains(&bob.session.short()));
    release(&mut *store, &held);
    let (blockers, ahead) = busy(&mut *store, &second);
    assert!(blockers.is_empty() && ahead.len() == 1, "free, but bob was first");
    let held = take(&mut *store, &first);
    busy(&mut *store, &second);
    release(&mut *store, &held);
    take(&mut *store, &second);
}

pub(crate) fn a_single_try_does_not_barge_and_leaves_no_ticket(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    busy(&mut *store, &eve.asks(&["a"]));
    let waiting = bob.waits_for(&["a"]);
    assert!(busy(&mut *store, &waiting).1.is_empty(), "eve's try left no ticket");
    release(&mut *store, &held);
    let (blockers, ahead) = busy(&mut *store, &eve.asks(&["a"]));
    assert!(blockers.is_empty() && ahead.len() == 1);
    take(&mut *store, &waiting);
}

pub(crate) fn a_younger_request_waits_for_an_older_one_over_a_set(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let held = take(&mut *store, &ana.asks(&["y"]));
    let set = bob.waits_for(&["x", "y"]);
    busy(&mut *store, &set);
    let (blockers, ahead) = busy(&mut *store, &eve.waits_for(&["x"]));
    assert!(blockers.is_empty() && ahead[0].grant == set.grant, "x is free, and bob needs it with y");
    release(&mut *store, &held);
    take(&mut *store, &set);
}

pub(crate) fn disjoint_requests_do_not_wait_for_each_other(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    take(&mut *store, &ana.asks(&["y"]));
    busy(&mut *store, &bob.waits_for(&["y", "z"]));
    take(&mut *store, &eve.asks(&["x"]));
}

pub(crate) fn a_silent_waiter_is_skipped_and_loses_its_place(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    let silent = bob.waits_for(&["a"]);
    busy(&mut *store, &silent);
    world.pass(SILENCE + Duration::from_millis(1));
    release(&mut *store, &held);
    let held = take(&mut *store, &eve.waits_for(&["a"]));
    let third = ana.waits_for(&["a"]);
    busy(&mut *store, &third);
    let (_, ahead) = busy(&mut *store, &silent);
    assert_eq!(ahead[0].grant, third.grant, "bob is heard again, at the end");
    release(&mut *store, &held);
    take(&mut *store, &third);
}

pub(crate) fn a_waiter_that_is_heard_keeps_its_place(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let held = take(&mut *store, &ana.holds(&["a"]));
    let (first, second) = (bob.waits_for(&["a"]), eve.waits_for(&["a"]));
    busy(&mut *store, &first);
    for _ in 0..10 {
        busy(&mut *store, &second);
        world.pass(SILENCE / 2);
        assert!(busy(&mut *store, &first).1.is_empty());
    }
    release(&mut *store, &held);
    assert_eq!(busy(&mut *store, &second).1[0].grant, first.grant);
    take(&mut *store, &first);
}

pub(crate) fn a_waiter_that_leaves_or_is_proven_gone_blocks_nobody(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    let (leaves, dies) = (bob.waits_for(&["a"]), bob.waits_for(&["a"]));
    busy(&mut *store, &leaves);
    busy(&mut *store, &dies);
    release(&mut *store, &held);
    assert_eq!(busy(&mut *store, &eve.asks(&["a"])).1.len(), 2);
    store.leave_queue(leaves.grant, LIMIT).expect("answer");
    store.leave_queue(leaves.grant, LIMIT).expect("nothing happens when there is none");
    assert_eq!(busy(&mut *store, &eve.asks(&["a"])).1.len(), 1);
    take(&mut *store, &Request { gone: vec![dies.grant], ..eve.asks(&["a"]) });
}

pub(crate) fn the_session_s_own_command_passes_those_who_wait_for_the_session(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    take(&mut *store, &ana.holds(&["a"]));
    let waiting = bob.waits_for(&["a", "b"]);
    busy(&mut *store, &waiting);
    let held = take(&mut *store, &ana.asks(&["a", "b"]));
    release(&mut *store, &held);
    busy(&mut *store, &waiting);
    assert!(!busy(&mut *store, &ana.asks(&["b"])).1.is_empty(), "but where it adopts nothing, it waits like anyone");
    release(&mut *store, &ana.holding(&["a"]));
    take(&mut *store, &waiting);
}

pub(crate) fn what_anybody_may_take_goes_to_the_oldest(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    let waiting = bob.waits_for(&["a"]);
    busy(&mut *store, &waiting);
    settled(&mut *store, &held, kept(true));
    assert_eq!(busy(&mut *store, &eve.asks(&["a"])).1.len(), 1);
    assert_eq!(busy(&mut *store, &ana.asks(&["a"])).1.len(), 1, "its own session too");
    assert!(granted(&mut *store, &waiting).adopted.is_empty());
}
