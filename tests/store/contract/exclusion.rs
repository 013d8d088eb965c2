//! One holder per resource, tokens that grow, sets that are whole.

use std::time::Duration;

use locked::store::{LeaseState, Request};
use locked::terms::{LeaseKey, Scope};

use super::World;
use crate::store::cast::{actor, busy, granted, release, resource, take};

pub(crate) fn a_free_resource_is_granted_and_a_second_contender_is_told_who_has_it(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    let (blockers, ahead) = busy(&mut *world.store(), &bob.asks(&["a"]));
    assert!(ahead.is_empty());
    assert_eq!(blockers.len(), 1);
    let lease = &blockers[0].lease;
    assert_eq!((lease.session, lease.state, lease.explicit), (ana.session, LeaseState::Held, false));
    assert_eq!((lease.label.as_str(), lease.host.as_str(), lease.pid), ("ana", "ws-1", Some(4711)));
    assert_eq!(lease.operation, "ana's command");
    assert!(blockers[0].reclaimable_when_gone);
    release(&mut *store, &held);
    take(&mut *store, &bob.asks(&["a"]));
}

pub(crate) fn two_commands_of_one_session_exclude_each_other(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    let (blockers, _) = busy(&mut *store, &ana.asks(&["a"]));
    assert_eq!(blockers[0].lease.session, ana.session);
    release(&mut *store, &held);
    assert!(granted(&mut *store, &ana.asks(&["a"])).adopted.is_empty());
}

pub(crate) fn a_set_is_granted_whole_or_not_at_all(world: &dyn World) {
    let (mut store, ana, bob, eve) = (world.store(), actor("ana"), actor("bob"), actor("eve"));
    take(&mut *store, &ana.asks(&["b"]));
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a", "b", "c"]));
    assert_eq!(blockers.iter().map(|it| it.lease.resource.clone()).collect::<Vec<_>>(), [resource("b")]);
    let tokens = granted(&mut *store, &eve.asks(&["c", "a"])).tokens;
    let names: Vec<_> = tokens.into_iter().map(|(resource, _)| resource).collect();
    assert_eq!(names, [resource("a"), resource("c")], "nothing stayed with bob; in resource order");
}

pub(crate) fn the_same_name_in_another_scope_is_another_resource(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    take(&mut *store, &ana.asks(&["a"]));
    let mut elsewhere = bob.asks(&["a"]);
    elsewhere.resources[0].scope = Scope("example.org/other".to_owned());
    take(&mut *store, &elsewhere);
}

pub(crate) fn tokens_grow_over_release_expiry_and_lost_counters(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    let mut last = 0;
    let mut next = |request: &Request| {
        let token = granted(&mut *world.store(), request).tokens[0].1.0;
        assert!(token > last, "{token} after {last}");
        last = token;
    };
    for _ in 0..20 {
        let request = ana.asks(&["a"]);
        next(&request);
        let again = take(&mut *store, &request);
        release(&mut *store, &again);
    }
    next(&ana.asks(&["a"]));
    world.pass(Duration::from_secs(3600));
    next(&ana.asks(&["a"]));
    world.lose_tokens();
    world.pass(Duration::from_secs(3600));
    next(&ana.asks(&["a"]));
}

pub(crate) fn a_lost_answer_is_read_back_by_the_same_grant(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    let request = ana.asks(&["a", "b"]);
    let first = granted(&mut *store, &request);
    world.pass(Duration::from_secs(1));
    let again = granted(&mut *world.store(), &request);
    assert_eq!(again.tokens, first.tokens, "no second grant");
    assert!(again.lasts < first.lasts, "and no longer than the first");
}

pub(crate) fn another_key_does_not_read_a_grant_back(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    let request = ana.asks(&["a"]);
    take(&mut *store, &request);
    busy(&mut *store, &Request { key: LeaseKey::random().expect("randomness"), ..request });
}
