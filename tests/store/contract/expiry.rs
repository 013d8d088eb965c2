//! Time: first grants, renews, expiry, reboots, and holders proven gone.

use std::time::Duration;

use locked::store::{Ended, HistoryFilter, Holding, LeaseState, Renewal, Request};
use locked::terms::{FencingToken, LeaseKey};

use super::World;
use crate::store::cast::{FIRST, LIMIT, TTL, actor, bad, busy, granted, kept, resource, settled, take};

const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn a_first_grant_is_short_and_a_renew_gives_the_full_ttl(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    let request = ana.asks(&["a"]);
    assert_eq!(granted(&mut *store, &request).lasts, FIRST);
    let held = take(&mut *store, &request);
    world.pass(FIRST - SECOND);
    busy(&mut *store, &bob.asks(&["a"]));
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(TTL));
    world.pass(TTL - SECOND);
    busy(&mut *store, &bob.asks(&["a"]));
    world.pass(SECOND);
    take(&mut *store, &bob.asks(&["a"]));
    let short = Request { ttl: FIRST / 2, ..ana.asks(&["b"]) };
    assert_eq!(granted(&mut *store, &short).lasts, FIRST / 2, "never more than the TTL");
}

pub(crate) fn the_holder_s_own_ttl_decides_and_the_successor_is_named(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    let long = Request { first_grant: TTL, ..ana.asks(&["a"]) };
    take(&mut *store, &long);
    world.pass(FIRST + SECOND);
    busy(&mut *store, &Request { ttl: SECOND, ..bob.asks(&["a"]) });
    world.pass(TTL);
    assert_eq!(store.leases(None, LIMIT).expect("answer")[0].state, LeaseState::Expired);
    take(&mut *store, &bob.asks(&["a"]));
    let past = store.history(&HistoryFilter::default(), LIMIT).expect("answer");
    assert_eq!((past[0].session, past[0].ended_as), (ana.session, Ended::Expired));
    let note = past[0].note.clone().expect("a note");
    assert_eq!(note, format!("presumed crashed, reclaimed by {} (bob)", bob.session.short()));
}

pub(crate) fn a_renew_of_an_expired_lease_that_nobody_took_succeeds(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    world.pass(TTL * 2);
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(TTL));
    busy(&mut *store, &bob.asks(&["a"]));
    world.pass(TTL * 2);
    take(&mut *store, &bob.asks(&["a"]));
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Gone);
}

pub(crate) fn one_lost_resource_of_a_set_loses_them_all(world: &dyn World) {
    let (mut store, ana, bob, eve) = (world.store(), actor("ana"), actor("bob"), actor("eve"));
    let held = take(&mut *store, &ana.asks(&["a", "b"]));
    world.pass(TTL);
    take(&mut *store, &bob.asks(&["b"]));
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Gone);
    assert_eq!(store.record_files(&held, &[], &[], LIMIT).expect("answer"), Renewal::Gone);
    take(&mut *store, &eve.asks(&["a"]));
}

pub(crate) fn a_wrong_key_or_token_renews_nothing(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    let request = ana.asks(&["a"]);
    let token = granted(&mut *store, &request).tokens[0].1;
    let wrong_key = Holding::Grant {
        grant: request.grant,
        key: LeaseKey::random().expect("randomness"),
        resources: vec![(resource("a"), token)],
    };
    let wrong_token = Holding::Grant {
        grant: request.grant,
        key: request.key.clone(),
        resources: vec![(resource("a"), FencingToken(token.0 + 1))],
    };
    let nothing = Holding::Grant { grant: request.grant, key: request.key.clone(), resources: vec![] };
    for wrong in [wrong_key, wrong_token, nothing] {
        assert_eq!(store.renew(&wrong, LIMIT).expect("answer"), Renewal::Gone);
        assert_eq!(store.record_files(&wrong, &[], &[], LIMIT).expect("answer"), Renewal::Gone);
    }
    world.pass(FIRST);
    take(&mut *store, &bob.asks(&["a"]));
}

pub(crate) fn a_reboot_expires_what_was_held_but_not_a_quarantine(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    take(&mut *store, &ana.holds(&["b"]));
    let broken = take(&mut *store, &ana.asks(&["c"]));
    settled(&mut *store, &broken, bad());
    if !world.reboot() {
        return;
    }
    let mut store = world.store();
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Gone, "its processes are gone");
    take(&mut *store, &bob.asks(&["a"]));
    take(&mut *store, &bob.asks(&["b"]));
    let (blockers, _) = busy(&mut *store, &bob.asks(&["c"]));
    assert!(blockers[0].quarantined());
}

pub(crate) fn a_holder_proven_gone_is_reclaimed_at_once(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    let crashed = ana.asks(&["a"]);
    take(&mut *store, &crashed);
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
    assert_eq!(blockers[0].lease.grant, crashed.grant);
    take(&mut *store, &Request { gone: vec![crashed.grant], ..bob.asks(&["a"]) });
    let past = store.history(&HistoryFilter::default(), LIMIT).expect("answer");
    assert_eq!(past[0].ended_as, Ended::Expired);
    let note = past[0].note.clone().expect("a note");
    assert!(note.contains("proven gone by") && note.contains("bob"), "{note}");
}

pub(crate) fn a_proof_does_not_free_what_rests_with_its_session(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    let explicit = ana.holds(&["a"]);
    take(&mut *store, &explicit);
    let failed = ana.asks(&["b"]);
    let held = take(&mut *store, &failed);
    settled(&mut *store, &held, kept(false));
    let broken = ana.asks(&["c"]);
    let held = take(&mut *store, &broken);
    settled(&mut *store, &held, bad());
    for (name, grant) in [("a", explicit.grant), ("b", failed.grant), ("c", broken.grant)] {
        let (blockers, _) = busy(&mut *store, &Request { gone: vec![grant], ..bob.asks(&[name]) });
        assert!(!blockers[0].reclaimable_when_gone, "{name}");
    }
}

pub(crate) fn a_remote_effect_is_given_one_more_ttl(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    let held = take(&mut *store, &Request { remote: true, first_grant: TTL, ..ana.asks(&["a"]) });
    world.pass(TTL + SECOND);
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
    assert_eq!(blockers[0].lease.state, LeaseState::Remote);
    assert_eq!(blockers[0].lease.expires_in, Some(TTL - SECOND));
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(TTL), "its holder may come back");
    world.pass(TTL * 2);
    take(&mut *store, &bob.asks(&["a"]));
}

pub(crate) fn a_remote_effect_is_given_its_time_after_a_proof_and_over_a_reboot(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    let crashed = Request { remote: true, ..ana.asks(&["a"]) };
    let held = take(&mut *store, &crashed);
    let (blockers, _) = busy(&mut *store, &Request { gone: vec![crashed.grant], ..bob.asks(&["a"]) });
    assert_eq!((blockers[0].lease.state, blockers[0].lease.expires_in), (LeaseState::Remote, Some(TTL)));
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Gone, "proven gone is final");
    world.pass(TTL - SECOND);
    busy(&mut *store, &bob.asks(&["a"]));
    world.pass(SECOND);
    take(&mut *store, &Request { remote: true, ..bob.asks(&["a"]) });
    if !world.reboot() {
        return;
    }
    let mut store = world.store();
    let (blockers, _) = busy(&mut *store, &ana.asks(&["a"]));
    assert_eq!(blockers[0].lease.state, LeaseState::Remote);
    world.pass(TTL);
    take(&mut *store, &ana.asks(&["a"]));
}
