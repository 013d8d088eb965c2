//! Commands below a holder: they join its lease, exclude each other, and never wait in a circle.

use locked::store::{
    Acquisition, Claim, Ended, Ending, Holding, LeaseState, Release, Renewal, Request, Settlement, Store,
};

use super::World;
use crate::store::cast::{
    Actor, LIMIT, TTL, actor, bad, busy, file, granted, kept, receipt, release, resource, settle, settled, take,
};

/// A request of a command that runs under `outer`.
fn below(outer: &Request, request: Request) -> Request {
    Request { within: Some(outer.grant), ..request }
}

fn deadlocks(store: &mut dyn Store, request: &Request) -> bool {
    match store.acquire(request, LIMIT).expect("answer") {
        Acquisition::Granted(granted) => panic!("{}: granted: {granted:?}", request.owner.label),
        Acquisition::Busy { deadlock, .. } => deadlock,
    }
}

fn two() -> (Actor, Actor) {
    (actor("ana"), actor("bob"))
}

pub(crate) fn a_command_below_the_holder_joins_and_siblings_wait(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = two();
    let outer = ana.asks(&["a"]);
    let token = granted(&mut *store, &outer).tokens[0].1;
    let inner = below(&outer, ana.asks(&["a"]));
    let held = take(&mut *store, &inner);
    assert_eq!(granted(&mut *store, &inner).tokens[0].1, token, "one lease, one token, and a lost answer is read back");
    let sibling = below(&outer, ana.asks(&["a"]));
    assert!(!deadlocks(&mut *store, &sibling), "the one beside us will be done");
    let below_inner = below(&inner, ana.asks(&["a"]));
    let deeper = take(&mut *store, &below_inner);
    busy(&mut *store, &below(&inner, ana.asks(&["a"])));
    busy(&mut *store, &bob.asks(&["a"]));
    release(&mut *store, &deeper);
    release(&mut *store, &held);
    let held = take(&mut *store, &sibling);
    release(&mut *store, &held);
}

pub(crate) fn a_join_that_outlives_the_holder_inherits_the_lease(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = two();
    let outer = ana.asks(&["a"]);
    let held = take(&mut *store, &outer);
    let inner = below(&outer, ana.asks(&["a"]));
    let joined = take(&mut *store, &inner);
    release(&mut *store, &held);
    busy(&mut *store, &bob.asks(&["a"]));
    assert!(matches!(store.renew(&joined, LIMIT).expect("answer"), Renewal::Renewed(_)));
    busy(&mut *store, &bob.asks(&["a"]));
    assert_eq!(settle(&mut *store, &held, Ending::Release(Ended::Completed)), Release::Released, "sent twice");
    release(&mut *store, &joined);
    take(&mut *store, &bob.asks(&["a"]));
}

/// The answer to a settling can be lost: asked again it is the same, whatever has become of the lease meanwhile.
pub(crate) fn a_join_that_settles_again_is_told_the_same(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = two();
    let all = [Ending::Release(Ended::Completed), Ending::Release(Ended::Failed), kept(false), kept(true), bad()];
    for (number, ending) in all.into_iter().enumerate() {
        // One is joined, the other is its own.
        let (joined, own) = (format!("a{number}"), format!("b{number}"));
        let outer = ana.asks(&[&joined]);
        let held = take(&mut *store, &outer);
        let inner = below(&outer, ana.asks(&[&joined, &own]));
        let both = take(&mut *store, &inner);
        let settlement = Settlement::whole(ending.clone(), vec![receipt(&joined, &joined, "1", "2")]);
        for _sent in 0..2 {
            assert_eq!(store.settle(&both, &settlement, LIMIT).expect("answer"), Release::Released, "{ending:?}");
        }
        let chain = store.receipts(&resource(&joined).scope, &joined, LIMIT).expect("answer");
        assert_eq!(chain.len(), 1, "{ending:?}");
        assert_eq!(store.renew(&both, LIMIT).expect("answer"), Renewal::Gone, "it has left");
        assert_eq!(store.record_files(&both, &[], &[], LIMIT).expect("answer"), Renewal::Gone);
        assert!(matches!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(_)), "the holder goes on");
        let beside = take(&mut *store, &below(&outer, ana.asks(&[&joined])));
        assert_eq!(settle(&mut *store, &both, ending.clone()), Release::Released, "beside another");
        assert!(matches!(store.renew(&beside, LIMIT).expect("answer"), Renewal::Renewed(_)), "who does not notice");
        release(&mut *store, &beside);
        release(&mut *store, &held);
        let quarantined = ending == bad();
        let next = Request { claim: if quarantined { Claim::Restore } else { Claim::Command }, ..bob.asks(&[&joined]) };
        let after = take(&mut *store, &next);
        assert_eq!(settle(&mut *world.store(), &both, ending.clone()), Release::Released, "after the lease");
        assert!(matches!(store.renew(&after, LIMIT).expect("answer"), Renewal::Renewed(_)));
        let Holding::Grant { grant, resources, .. } = both else { panic!("by its grant") };
        let other = Holding::Grant { grant, key: bob.asks(&[]).key, resources };
        assert_eq!(settle(&mut *store, &other, ending), Release::NotOurs, "by its key alone");
    }
}

pub(crate) fn a_stale_environment_joins_nothing(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = two();
    let outer = ana.asks(&["a"]);
    let held = take(&mut *store, &outer);
    release(&mut *store, &held);
    take(&mut *store, &bob.asks(&["a"]));
    busy(&mut *store, &below(&outer, ana.asks(&["a"])));
    let made_up = below(&ana.asks(&["z"]), ana.asks(&["a"]));
    busy(&mut *store, &made_up);
}

pub(crate) fn other_resources_are_taken_normally_from_below(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = two();
    let outer = ana.asks(&["a"]);
    take(&mut *store, &outer);
    let inner = below(&outer, ana.asks(&["a", "b"]));
    let both = take(&mut *store, &inner);
    busy(&mut *store, &bob.asks(&["b"]));
    // Two steps up: `b` was taken by the inner command, `a` by the outer one.
    let deepest = take(&mut *store, &below(&inner, ana.asks(&["a", "b"])));
    release(&mut *store, &deepest);
    release(&mut *store, &both);
    take(&mut *store, &bob.asks(&["b"]));
    busy(&mut *store, &bob.asks(&["a"]));
}

pub(crate) fn waiting_in_a_circle_is_refused_at_once(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = two();
    let (outer_a, outer_b) = (ana.asks(&["a"]), bob.asks(&["b"]));
    take(&mut *store, &outer_a);
    take(&mut *store, &outer_b);
    let first = below(&outer_a, ana.waits_for(&["b"]));
    assert!(!deadlocks(&mut *store, &first), "the first to ask just waits");
    assert!(deadlocks(&mut *store, &below(&outer_b, bob.waits_for(&["a"]))), "the second closes the circle");
    assert!(!deadlocks(&mut *store, &first), "of a circle only the youngest is refused");
}

pub(crate) fn who_holds_never_waits_behind_those_who_wait_for_it(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = two();
    let outer = ana.asks(&["a"]);
    take(&mut *store, &outer);
    busy(&mut *store, &bob.waits_for(&["a", "b"]));
    take(&mut *store, &below(&outer, ana.asks(&["b"])));
}

pub(crate) fn a_hold_between_commands_is_not_taken_from_below_a_command(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    let outer = ana.asks(&["a"]);
    take(&mut *store, &outer);
    let hold = below(&outer, Request { claim: Claim::Explicit, ..ana.asks(&["a"]) });
    assert!(deadlocks(&mut *store, &hold), "it would wait for its own parent");
}

pub(crate) fn a_bad_file_of_a_join_quarantines_when_the_holder_is_done(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = two();
    let outer = ana.asks(&["a"]);
    let held = take(&mut *store, &outer);
    let joined = take(&mut *store, &below(&outer, ana.asks(&["a"])));
    settled(&mut *store, &joined, bad());
    release(&mut *store, &held);
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
    assert_eq!(blockers[0].lease.state, LeaseState::Quarantined);
}

pub(crate) fn what_a_dead_join_left_is_proven_after_its_holder_is_done(world: &dyn World) {
    let (ana, bob) = two();
    let mut store = world.store();
    for (name, explicit) in [("a", false), ("b", true)] {
        if explicit {
            take(&mut *store, &ana.holds(&[name]));
        }
        let outer = ana.asks(&[name]);
        let held = take(&mut *store, &outer);
        let inner = Request { files: vec![file("a.env", "1")], ..below(&outer, ana.asks(&[name])) };
        take(&mut *store, &inner);
        // One beside it proves it gone, and goes on; then the holder ends well.
        let sibling = Request { gone: vec![inner.grant], ..below(&outer, ana.asks(&[name])) };
        let beside = take(&mut *store, &sibling);
        release(&mut *store, &beside);
        release(&mut *store, &held);
        let next = if explicit { &ana } else { &bob };
        let owed = granted(&mut *store, &next.asks(&[name])).unsettled;
        assert!(owed.iter().any(|it| it.files == [file("a.env", "1")]), "{name}: {owed:?}");
    }
}

pub(crate) fn an_heir_owes_what_its_holder_owed(world: &dyn World) {
    let (ana, bob) = two();
    let mut store = world.store();
    // An earlier command of the session failed over this file.
    let failed = Request { files: vec![file("a.env", "1")], ..ana.asks(&["a"]) };
    let held = take(&mut *store, &failed);
    settled(&mut *store, &held, kept(false));
    let outer = ana.asks(&["a"]);
    let held = take(&mut *store, &outer);
    let joined = take(&mut *store, &below(&outer, ana.asks(&["a"])));
    release(&mut *store, &held);
    release(&mut *store, &joined);
    let owed = granted(&mut *store, &bob.asks(&["a"])).unsettled;
    assert!(owed.iter().any(|it| it.files == [file("a.env", "1")]), "{owed:?}");
}

/// What a nested command leaves running that nobody can stop.
fn stuck() -> Ending {
    Ending::Linger { reason: "process 123 could not be stopped".to_owned() }
}

fn lingers(store: &mut dyn Store, request: &Request) {
    let (blockers, _) = busy(store, request);
    let last = blockers.last().expect("somebody");
    assert_eq!(last.lease.state, LeaseState::Remote, "{blockers:?}");
    assert_eq!(last.lease.reason.as_deref(), Some("process 123 could not be stopped"));
    assert!(!last.reclaimable_when_gone);
}

pub(crate) fn what_may_run_on_below_lets_nobody_in_beside_it_or_after_the_holder(world: &dyn World) {
    let (ana, bob) = two();
    for (name, ending) in [("a", Ending::Release(Ended::Completed)), ("b", kept(true)), ("c", kept(false))] {
        let mut store = world.store();
        let outer = ana.asks(&[name]);
        let held = take(&mut *store, &outer);
        let inner = Request { files: vec![file("a.env", "1")], ..below(&outer, ana.asks(&[name])) };
        let joined = take(&mut *store, &inner);
        for _sent in 0..2 {
            settled(&mut *store, &joined, stuck());
        }
        assert_eq!(store.renew(&joined, LIMIT).expect("answer"), Renewal::Gone);
        assert!(matches!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(_)), "the holder goes on");
        lingers(&mut *store, &below(&outer, ana.asks(&[name])));
        // That its keeper is gone proves nothing of what runs on.
        lingers(&mut *store, &Request { gone: vec![inner.grant], ..below(&outer, ana.asks(&[name])) });
        settled(&mut *store, &held, ending);
        for request in [ana.asks(&[name]), bob.asks(&[name])] {
            lingers(&mut *store, &request);
        }
        // Its keeper still sees it.
        world.pass(TTL / 2);
        settled(&mut *store, &joined, stuck());
        world.pass(TTL / 2);
        lingers(&mut *store, &bob.asks(&[name]));
        world.pass(TTL / 2);
        let owed = granted(&mut *store, &bob.asks(&[name])).unsettled;
        assert!(owed.iter().any(|it| it.files == [file("a.env", "1")]), "{name}: {owed:?}");
    }
}

pub(crate) fn what_ran_on_below_and_has_ended_is_in_nobody_s_way(world: &dyn World) {
    let (ana, bob) = two();
    let mut store = world.store();
    for (name, holder_is_first) in [("a", false), ("b", true)] {
        let outer = ana.asks(&[name]);
        let held = take(&mut *store, &outer);
        let joined = take(&mut *store, &below(&outer, ana.asks(&[name])));
        settled(&mut *store, &joined, stuck());
        let over = |store: &mut dyn Store| settled(store, &joined, Ending::Release(Ended::Failed));
        if holder_is_first {
            release(&mut *store, &held);
            over(&mut *store);
        } else {
            over(&mut *store);
            release(&mut *store, &held);
        }
        take(&mut *store, &bob.asks(&[name]));
    }
}

pub(crate) fn what_runs_on_below_a_dead_holder_is_given_its_time_and_owed(world: &dyn World) {
    let (ana, bob) = two();
    let mut store = world.store();
    let outer = ana.asks(&["a"]);
    take(&mut *store, &outer);
    let inner = Request { files: vec![file("a.env", "1")], ..below(&outer, ana.asks(&["a"])) };
    let joined = take(&mut *store, &inner);
    settled(&mut *store, &joined, stuck());
    let gone = vec![outer.grant, inner.grant];
    busy(&mut *store, &Request { gone, ..bob.asks(&["a"]) });
    // Its keeper lives, and still sees it.
    world.pass(TTL / 2);
    settled(&mut *store, &joined, stuck());
    world.pass(TTL / 2);
    lingers(&mut *store, &bob.asks(&["a"]));
    world.pass(TTL / 2);
    let owed = granted(&mut *store, &bob.asks(&["a"])).unsettled;
    assert!(owed.iter().any(|it| it.files == [file("a.env", "1")]), "{owed:?}");
}

pub(crate) fn a_dead_join_is_reclaimed_and_owed(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = two();
    let outer = ana.asks(&["a"]);
    let held = take(&mut *store, &outer);
    let inner = Request { files: vec![file("a.env", "1")], ..below(&outer, ana.asks(&["a"])) };
    take(&mut *store, &inner);
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
    let gone: Vec<_> = blockers.iter().filter(|it| it.reclaimable_when_gone).map(|it| it.lease.grant).collect();
    assert_eq!(gone, [inner.grant], "the holder's own death would not free it while a command below lives");
    let sibling = Request { gone, ..below(&outer, ana.asks(&["a"])) };
    let next = take(&mut *store, &sibling);
    release(&mut *store, &next);
    // The holder settles in good faith; what the dead command may have left is its debt until then.
    settled(&mut *store, &held, kept(false));
}

pub(crate) fn a_remote_effect_below_is_the_holder_s_too(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = two();
    let outer = ana.asks(&["a"]);
    take(&mut *store, &outer);
    let inner = Request { remote: true, ..below(&outer, ana.asks(&["a"])) };
    take(&mut *store, &inner);
    // One beside it is not let in while its effect may run on.
    busy(&mut *store, &Request { gone: vec![inner.grant], ..below(&outer, ana.asks(&["a"])) });
    // Both die; the effect may run on.
    let gone = vec![inner.grant, outer.grant];
    let (blockers, _) = busy(&mut *store, &Request { gone, ..bob.asks(&["a"]) });
    assert_eq!(blockers[0].lease.state, LeaseState::Remote);
}

pub(crate) fn a_restore_takes_a_quarantine_over_and_owes_it_until_it_is_done(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = two();
    let first = Request { files: vec![file("a.env", "1")], ..ana.asks(&["a"]) };
    let held = take(&mut *store, &first);
    settled(&mut *store, &held, bad());
    let mends = Request { claim: Claim::Restore, ..bob.asks(&["a"]) };
    take(&mut *store, &mends);
    // It dies half-way: the next one is told what to prove.
    world.pass(crate::store::cast::FIRST);
    let answer = granted(&mut *store, &ana.asks(&["a"]));
    assert_eq!(answer.unsettled.iter().flat_map(|it| &it.files).collect::<Vec<_>>(), [&file("a.env", "1")]);
}
