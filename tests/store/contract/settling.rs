//! Settling: by whom, once, whole; and the receipts that it leaves.

use locked::store::{Ended, Ending, Holding, LeaseState, Release, Renewal, Request, Settlement};
use locked::terms::{FencingToken, LeaseKey, Scope};

use super::World;
use crate::store::cast::{
    LIMIT, TTL, actor, bad, busy, file, granted, kept, receipt, release, resource, settle, settled, take,
};

const DONE: Ending = Ending::Release(Ended::Completed);

pub(crate) fn the_same_settling_twice_is_released_twice(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    for (ending, name) in [(DONE, "a"), (kept(false), "b"), (kept(true), "c"), (bad(), "d")] {
        let held = take(&mut *store, &ana.asks(&[name]));
        assert_eq!(settle(&mut *store, &held, ending.clone()), Release::Released);
        assert_eq!(settle(&mut *world.store(), &held, ending), Release::Released, "{name}");
    }
    let held = take(&mut *store, &ana.asks(&["e"]));
    settled(&mut *store, &held, kept(true));
    let successor = take(&mut *store, &bob.asks(&["e"]));
    assert_eq!(settle(&mut *store, &held, kept(true)), Release::Released, "its word was heard before bob came");
    assert!(matches!(store.renew(&successor, LIMIT), Ok(Renewal::Renewed(_))), "and bob does not notice");
}

pub(crate) fn a_reclaimed_lease_is_not_ours_to_settle(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    world.pass(TTL);
    assert_eq!(settle(&mut *store, &held, kept(false)), Release::Released, "expired, but nobody took it");
    world.pass(TTL);
    let held = take(&mut *store, &ana.asks(&["a"]));
    world.pass(TTL);
    let successor = take(&mut *store, &bob.asks(&["a"]));
    for ending in [DONE, kept(true), bad()] {
        assert_eq!(settle(&mut *store, &held, ending), Release::NotOurs);
    }
    release(&mut *store, &successor);
}

pub(crate) fn a_wrong_key_or_token_settles_nothing(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let request = ana.asks(&["a"]);
    let token = granted(&mut *store, &request).tokens[0].1;
    let by = |key: LeaseKey, token: FencingToken, name: &str| Holding::Grant {
        grant: request.grant,
        key,
        resources: vec![(resource(name), token)],
    };
    let other = LeaseKey::random().expect("randomness");
    let wrong = [
        by(other, token, "a"),
        by(request.key.clone(), FencingToken(token.0 - 1), "a"),
        by(request.key.clone(), token, "b"),
        Holding::Grant { grant: request.grant, key: request.key.clone(), resources: vec![] },
        bob.holding(&["a"]),
        ana.holding(&["a"]),
    ];
    for holding in &wrong {
        assert_eq!(settle(&mut *store, holding, DONE), Release::NotOurs, "{holding:?}");
    }
    busy(&mut *store, &bob.asks(&["a"]));
}

pub(crate) fn a_set_is_settled_whole_or_not_at_all(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let held = take(&mut *store, &ana.asks(&["a", "b"]));
    world.pass(TTL);
    take(&mut *store, &bob.asks(&["b"]));
    let settlement = Settlement::whole(bad(), vec![receipt("a", "a.env", "1", "2")]);
    assert_eq!(store.settle(&held, &settlement, LIMIT).expect("answer"), Release::NotOurs);
    assert!(store.receipts(&resource("a").scope, "a.env", LIMIT).expect("answer").is_empty(), "no receipt either");
    take(&mut *store, &bob.asks(&["a"]));
}

pub(crate) fn an_open_edit_is_renewed_and_ended_by_its_keeper(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    settled(&mut *store, &held, kept(false));
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(TTL));
    world.pass(TTL - std::time::Duration::from_secs(1));
    busy(&mut *store, &bob.asks(&["a"]));
    assert_eq!(settle(&mut *store, &held, DONE), Release::Released);
    take(&mut *store, &bob.asks(&["a"]));
}

pub(crate) fn receipts_form_a_chain_and_come_once(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    let scope = resource("a").scope;
    for (base, new) in [("1", "2"), ("2", "3"), ("3", "1"), ("1", "2")] {
        let held = take(&mut *store, &ana.asks(&["a", "b"]));
        let receipts = vec![receipt("a", "a.env", base, new), receipt("b", "b.env", base, new)];
        let settlement = Settlement::whole(DONE, receipts);
        for _sent in 0..2 {
            assert_eq!(store.settle(&held, &settlement, LIMIT).expect("answer"), Release::Released);
        }
    }
    let chain = store.receipts(&scope, "a.env", LIMIT).expect("answer");
    assert_eq!(chain.len(), 4, "each once, and coming back to a version is a link of its own");
    for pair in chain.windows(2) {
        assert_eq!(pair[0].base.as_ref(), Some(&pair[1].new), "newest first");
        assert!(pair[0].token > pair[1].token);
    }
    let newest = &chain[0];
    assert_eq!(
        (newest.kind.as_str(), newest.host.as_str(), newest.branch.as_deref()),
        ("proven", "ws-1", Some("main"))
    );
    assert!(newest.holder.contains("ana") && newest.holder.contains(&ana.session.short()));
    assert!(!newest.holder.contains(&ana.session.whole()));
    assert!(store.receipts(&Scope("elsewhere".to_owned()), "a.env", LIMIT).expect("answer").is_empty());
    let held = take(&mut *store, &ana.asks(&["a"]));
    let repeated = Settlement::whole(kept(false), vec![receipt("a", "a.env", "2", "4")]);
    for _sent in 0..2 {
        assert_eq!(store.settle(&held, &repeated, LIMIT).expect("answer"), Release::Released);
    }
    assert_eq!(store.receipts(&scope, "a.env", LIMIT).expect("answer").len(), 5, "also while the lease lives on");
}

pub(crate) fn what_may_run_on_lets_nobody_in_for_one_ttl_and_is_proven_again(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let asked = Request { files: vec![file("a.env", "1")], ..ana.asks(&["a"]) };
    let held = take(&mut *store, &asked);
    let ending = Ending::Linger { reason: "process 123 could not be stopped".to_owned() };
    for _sent in 0..2 {
        assert_eq!(settle(&mut *store, &held, ending.clone()), Release::Released);
    }
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Gone);
    for request in [ana.asks(&["a"]), bob.asks(&["a"]), Request { gone: vec![asked.grant], ..bob.asks(&["a"]) }] {
        let (blockers, _) = busy(&mut *store, &request);
        let lease = &blockers[0].lease;
        assert_eq!((lease.state, lease.expires_in), (LeaseState::Remote, Some(TTL)), "{}", request.owner.label);
        assert_eq!(lease.reason.as_deref(), Some("process 123 could not be stopped"));
        assert!(!blockers[0].reclaimable_when_gone);
    }
    assert_eq!(settle(&mut *store, &ana.holding(&["a"]), DONE), Release::NotOurs, "nothing to release either");
    world.pass(TTL);
    let granted = granted(&mut *store, &bob.asks(&["a"]));
    assert_eq!(granted.unsettled[0].files, [file("a.env", "1")]);
}

pub(crate) fn a_lost_answer_to_a_settling_apart_does_not_end_the_hold_that_it_gave_back(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    take(&mut *store, &ana.holds(&["a", "b"]));
    let held = take(&mut *store, &ana.asks(&["a", "b"]));
    let settlement = Settlement { ending: DONE, apart: vec![(resource("b"), bad())], receipts: Vec::new(), note: None };
    for _sent in 0..3 {
        assert_eq!(store.settle(&held, &settlement, LIMIT).expect("answer"), Release::Released);
        busy(&mut *store, &bob.asks(&["a"]));
    }
}

pub(crate) fn what_ends_apart_does_not_take_the_rest_of_the_set_along(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let held = take(&mut *store, &ana.asks(&["a", "b"]));
    let receipts = vec![receipt("b", "b.env", "1", "2")];
    let settlement = Settlement { ending: DONE, apart: vec![(resource("a"), bad())], receipts, note: None };
    for _sent in 0..2 {
        assert_eq!(store.settle(&held, &settlement, LIMIT).expect("answer"), Release::Released);
    }
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
    assert_eq!(blockers[0].lease.state, LeaseState::Quarantined);
    take(&mut *store, &bob.asks(&["b"]));
    assert_eq!(store.receipts(&resource("b").scope, "b.env", LIMIT).expect("answer").len(), 1);
}

pub(crate) fn what_stays_apart_stays_with_its_session_and_the_rest_is_anybody_s(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    for (ending, apart) in [(DONE, kept(false)), (kept(true), kept(false)), (kept(false), DONE)] {
        let held = take(&mut *store, &ana.asks(&["a", "b"]));
        let settlement = Settlement {
            ending: ending.clone(),
            apart: vec![(resource("b"), apart.clone())],
            receipts: vec![],
            note: None,
        };
        // The second time as after a lost answer.
        for _sent in 0..2 {
            assert_eq!(store.settle(&held, &settlement, LIMIT).expect("answer"), Release::Released);
        }
        let (free, stays) = if apart == DONE { ("b", "a") } else { ("a", "b") };
        let (blockers, _) = busy(&mut *store, &bob.asks(&[stays]));
        assert_eq!((blockers[0].lease.state, blockers[0].lease.takeable), (LeaseState::Kept, false), "{ending:?}");
        let taken = take(&mut *store, &bob.asks(&[free]));
        release(&mut *store, &taken);
        let goes_on = take(&mut *store, &ana.asks(&["a", "b"]));
        release(&mut *store, &goes_on);
    }
}
