//! Taking a live lease away: marked first, granted to another only when its holder has stopped or its time is over.

use locked::store::{
    Became, Claim, Ended, Ending, HistoryFilter, LeaseState, Release, Renewal, Request, Revocation, Store, Theft,
};

use super::World;
use crate::store::cast::{
    Actor, FIRST, LIMIT, TTL, actor, bad, busy, file, granted, kept, release, resource, settle, settled, take,
};

const STOPPED: Ending = Ending::Release(Ended::Failed);

pub(super) fn theft(by: &Actor) -> Theft {
    Theft {
        session: by.session,
        label: "eve".to_owned(),
        reason: "it hangs".to_owned(),
        approved_by: Some("Maria".to_owned()),
        at_once: false,
        shown: None,
    }
}

/// What became of each.
#[track_caller]
pub(super) fn took(store: &mut dyn Store, names: &[&str], theft: &Theft) -> Vec<Became> {
    let resources: Vec<_> = names.iter().map(|name| resource(name)).collect();
    match store.revoke(&resources, theft, LIMIT).expect("the store answers") {
        Revocation::Revoked(victims) => victims.into_iter().map(|victim| victim.became).collect(),
        other => panic!("{other:?}"),
    }
}

/// The newest ended lease of a resource.
fn last(store: &mut dyn Store, name: &str) -> (Ended, String) {
    let filter = HistoryFilter { name: Some(resource(name).name.to_string()), ..HistoryFilter::default() };
    let past = store.history(&filter, LIMIT).expect("answer");
    (past[0].ended_as, past[0].note.clone().unwrap_or_default())
}

/// The history says that it was stolen, by whom and why.
#[track_caller]
pub(super) fn was_stolen(store: &mut dyn Store, name: &str) {
    let (ended, note) = last(store, name);
    assert_eq!(ended, Ended::Stolen, "{note}");
    for word in ["eve", "it hangs", "approved by Maria"] {
        assert!(note.contains(word), "{word}: {note}");
    }
}

pub(crate) fn a_running_victim_is_told_and_the_thief_waits_for_it(world: &dyn World) {
    let mut store = world.store();
    let (ana, eve) = (actor("ana"), actor("eve"));
    assert_eq!(store.revoke(&[resource("a")], &theft(&eve), LIMIT).expect("answer"), Revocation::Nothing);
    let request = ana.asks(&["a", "b"]);
    let held = take(&mut *store, &request);
    let Revocation::Revoked(victims) = store.revoke(&[resource("a")], &theft(&eve), LIMIT).expect("answer") else {
        panic!("it lives")
    };
    assert_eq!((&victims[0].resource, victims[0].became, victims.len()), (&resource("a"), Became::Told, 1));
    assert!(victims[0].holder.contains("ana") && victims[0].holder.contains(&ana.session.short()));
    assert_eq!(took(&mut *store, &["a"], &theft(&eve)), [Became::Told], "asked again it is the same");
    let thief = eve.holds(&["a"]);
    let (blockers, _) = busy(&mut *store, &thief);
    assert_eq!(blockers[0].lease.state, LeaseState::Revoked);
    assert!(blockers[0].lease.reason.as_deref().is_some_and(|why| why.contains("it hangs")), "people see why");
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Revoked, "any lost is all lost");
    assert_eq!(store.record_files(&held, &[], &[], LIMIT).expect("answer"), Renewal::Revoked);
    busy(&mut *store, &thief);
    for _sent in 0..2 {
        settled(&mut *store, &held, STOPPED);
    }
    granted(&mut *store, &thief);
    was_stolen(&mut *store, "a");
    assert_eq!(last(&mut *store, "b").0, Ended::Failed, "nobody took that");
}

/// A person has said yes to what was shown, and meanwhile it is another's.
pub(crate) fn nothing_is_taken_from_who_was_not_shown(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let ours = granted(&mut *store, &ana.holds(&["a"])).tokens[0].1;
    let shown = |of_a, of_b| Theft { shown: Some(vec![(resource("a"), of_a), (resource("b"), of_b)]), ..theft(&eve) };
    let ask = |store: &mut dyn Store, theft: &Theft| {
        store.revoke(&[resource("a"), resource("b")], theft, LIMIT).expect("the store answers")
    };
    let nobody = shown(None, None);
    assert_eq!(ask(&mut *store, &nobody), Revocation::Changed, "nobody was shown");
    granted(&mut *store, &bob.holds(&["b"]));
    assert_eq!(ask(&mut *store, &shown(Some(ours), None)), Revocation::Changed, "all of them or none");
    for (name, by) in [("a", &ana), ("b", &bob)] {
        assert!(
            matches!(store.renew(&by.holding(&[name]), LIMIT).expect("answer"), Renewal::Renewed(_)),
            "{name} is not marked"
        );
    }
    settled(&mut *store, &bob.holding(&["b"]), Ending::Release(Ended::Completed));
    // Who was shown, or nobody any more.
    let Revocation::Revoked(victims) = ask(&mut *store, &shown(Some(ours), Some(locked::terms::FencingToken(7))))
    else {
        panic!("it was shown")
    };
    assert_eq!(victims.len(), 1, "{victims:?}");
    was_stolen(&mut *store, "a");
}

pub(crate) fn a_victim_that_does_not_answer_is_waited_for_until_its_time_is_over(world: &dyn World) {
    let mut store = world.store();
    let (ana, eve) = (actor("ana"), actor("eve"));
    let held = take(&mut *store, &Request { files: vec![file("a.env", "1")], ..ana.asks(&["a"]) });
    assert!(matches!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(_)));
    took(&mut *store, &["a"], &theft(&eve));
    world.pass(TTL - FIRST);
    busy(&mut *store, &eve.holds(&["a"]));
    world.pass(FIRST);
    let owed = granted(&mut *store, &eve.holds(&["a"])).unsettled;
    assert_eq!(owed[0].files, [file("a.env", "1")], "nobody has proven them");
    was_stolen(&mut *store, "a");
    assert_eq!(settle(&mut *store, &held, STOPPED), Release::NotOurs);
}

pub(crate) fn however_the_victim_ends_the_lease_is_over_for_it(world: &dyn World) {
    let (ana, eve) = (actor("ana"), actor("eve"));
    for (name, ending) in [("a", STOPPED), ("b", kept(false)), ("c", kept(true))] {
        let mut store = world.store();
        let held = take(&mut *store, &Request { files: vec![file(name, "1")], ..ana.asks(&[name]) });
        took(&mut *store, &[name], &theft(&eve));
        let thief = eve.waits_for(&[name]);
        busy(&mut *store, &thief);
        for _sent in 0..2 {
            settled(&mut *store, &held, ending.clone());
        }
        busy(&mut *store, &ana.asks(&[name]));
        let owed = granted(&mut *store, &thief).unsettled;
        let kept = matches!(ending, Ending::Keep { .. });
        assert_eq!(owed.iter().any(|it| it.files == [file(name, "1")]), kept, "{name}: {owed:?}");
        was_stolen(&mut *store, name);
    }
}

pub(crate) fn a_victim_that_finished_its_work_has_finished_it(world: &dyn World) {
    let mut store = world.store();
    let (ana, eve) = (actor("ana"), actor("eve"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    took(&mut *store, &["a"], &theft(&eve));
    release(&mut *store, &held);
    let (ended, note) = last(&mut *store, "a");
    assert_eq!(ended, Ended::Completed, "it was faster than the thief");
    assert!(note.contains("it hangs"), "{note}");
}

pub(crate) fn what_the_victim_left_bad_stays_in_quarantine(world: &dyn World) {
    let mut store = world.store();
    let (ana, eve) = (actor("ana"), actor("eve"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    took(&mut *store, &["a"], &theft(&eve));
    for _sent in 0..2 {
        settled(&mut *store, &held, bad());
    }
    world.pass(TTL * 10);
    let (blockers, _) = busy(&mut *store, &eve.holds(&["a"]));
    assert!(blockers[0].quarantined());
    let reason = blockers[0].lease.reason.clone().unwrap_or_default();
    assert!(reason.starts_with("an empty file at ws-1:/repo/a (revoked by "), "{reason}");
    assert_eq!(reason.matches("an empty file").count(), 1, "however often it is told: {reason}");
}

pub(crate) fn what_of_the_victim_may_run_on_is_given_its_time(world: &dyn World) {
    let mut store = world.store();
    let (ana, eve) = (actor("ana"), actor("eve"));
    let held = take(&mut *store, &Request { remote: true, ..ana.asks(&["a"]) });
    took(&mut *store, &["a"], &theft(&eve));
    for _sent in 0..3 {
        settled(&mut *store, &held, Ending::Linger { reason: "process 123 could not be stopped".to_owned() });
    }
    let (blockers, _) = busy(&mut *store, &eve.holds(&["a"]));
    let lease = &blockers[0].lease;
    let reason = lease.reason.clone().unwrap_or_default();
    assert_eq!((lease.state, lease.expires_in), (LeaseState::Remote, Some(TTL)));
    assert!(reason.contains("it hangs") && reason.matches("process 123").count() == 1, "{reason}");
    world.pass(TTL);
    granted(&mut *store, &eve.holds(&["a"]));
    was_stolen(&mut *store, "a");
}

pub(crate) fn at_once_waits_for_nobody_and_what_was_written_is_owed(world: &dyn World) {
    let mut store = world.store();
    let (ana, eve) = (actor("ana"), actor("eve"));
    let held = take(&mut *store, &Request { files: vec![file("a.env", "1")], remote: true, ..ana.asks(&["a"]) });
    assert_eq!(took(&mut *store, &["a"], &Theft { at_once: true, ..theft(&eve) }), [Became::Free]);
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Revoked, "the victim cannot take it back");
    let owed = granted(&mut *store, &eve.holds(&["a"])).unsettled;
    assert_eq!(owed[0].files, [file("a.env", "1")]);
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Gone);
    was_stolen(&mut *store, "a");
    assert!(last(&mut *store, "a").1.contains("at once"), "that two may have been writing is recorded");
}

pub(crate) fn a_victim_that_is_proven_gone_is_not_waited_for(world: &dyn World) {
    let mut store = world.store();
    let (ana, eve) = (actor("ana"), actor("eve"));
    for (name, asks) in [("a", false), ("b", true)] {
        let request = ana.asks(&[name]);
        let crashed = Request { ask: if asks { request.resources.clone() } else { Vec::new() }, ..request };
        take(&mut *store, &crashed);
        let thief = Request { claim: Claim::Steal, ..eve.waits_for(&[name]) };
        busy(&mut *store, &thief);
        assert_eq!(took(&mut *store, &[name], &theft(&eve)), [Became::Told]);
        granted(&mut *store, &Request { gone: vec![crashed.grant], ..thief });
        was_stolen(&mut *store, name);
        assert!(last(&mut *store, name).1.contains("proven gone by"), "and how that was known");
    }
}

pub(crate) fn a_thief_stands_before_all_who_wait(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    let waits = bob.waits_for(&["a", "b"]);
    busy(&mut *store, &waits);
    let thief = Request { claim: Claim::Steal, ..eve.waits_for(&["a"]) };
    busy(&mut *store, &thief);
    took(&mut *store, &["a"], &theft(&eve));
    let (_, ahead) = busy(&mut *store, &waits);
    assert_eq!(ahead.iter().map(|it| it.grant).collect::<Vec<_>>(), [thief.grant], "and it is seen");
    settled(&mut *store, &held, STOPPED);
    busy(&mut *store, &waits);
    busy(&mut *store, &bob.asks(&["a"]));
    let granted = take(&mut *store, &thief);
    let live = store.leases(Some(&[resource("a")]), LIMIT).expect("answer");
    assert!(live[0].explicit && live[0].pid.is_none(), "held as by acquire");
    // What its session starts adopts it, and gives it back.
    let command = take(&mut *store, &eve.asks(&["a"]));
    release(&mut *store, &command);
    busy(&mut *store, &waits);
    assert_eq!(settle(&mut *store, &granted, STOPPED), Release::NotOurs, "the grant was adopted");
    release(&mut *store, &eve.holding(&["a"]));
    take(&mut *store, &waits);
}

pub(crate) fn what_rests_is_taken_at_once_and_a_quarantine_by_nobody(world: &dyn World) {
    let mut store = world.store();
    let (ana, eve) = (actor("ana"), actor("eve"));
    take(&mut *store, &ana.holds(&["a"]));
    let failed = take(&mut *store, &Request { files: vec![file("b.env", "1")], ..ana.asks(&["b"]) });
    settled(&mut *store, &failed, kept(false));
    assert_eq!(took(&mut *store, &["a", "b"], &theft(&eve)), [Became::Ended, Became::Free]);
    let owed = granted(&mut *store, &eve.holds(&["a", "b"])).unsettled;
    assert_eq!(owed[0].files, [file("b.env", "1")], "what was written under it is proven first");
    was_stolen(&mut *store, "a");
    was_stolen(&mut *store, "b");
    let broken = take(&mut *store, &ana.asks(&["c"]));
    settled(&mut *store, &broken, bad());
    let both = [resource("a"), resource("c")];
    let at_once = Theft { at_once: true, ..theft(&actor("mallory")) };
    assert_eq!(store.revoke(&both, &at_once, LIMIT).expect("answer"), Revocation::Quarantined);
    let live = store.leases(Some(&both[..1]), LIMIT).expect("answer");
    assert_eq!((live[0].session, live[0].state), (eve.session, LeaseState::Held), "all or none");
}

pub(crate) fn what_has_run_out_is_taken_at_once(world: &dyn World) {
    let mut store = world.store();
    let (ana, eve) = (actor("ana"), actor("eve"));
    take(&mut *store, &ana.asks(&["a"]));
    take(&mut *store, &Request { remote: true, ..ana.asks(&["b"]) });
    world.pass(FIRST);
    assert_eq!(took(&mut *store, &["a", "b"], &theft(&eve)), [Became::Free, Became::Told], "b may run on elsewhere");
    granted(&mut *store, &eve.holds(&["a"]));
    was_stolen(&mut *store, "a");
    busy(&mut *store, &eve.holds(&["b"]));
    world.pass(TTL);
    granted(&mut *store, &eve.holds(&["b"]));
    was_stolen(&mut *store, "b");
}

pub(crate) fn a_victim_s_heir_is_a_victim_too(world: &dyn World) {
    let mut store = world.store();
    let (ana, eve) = (actor("ana"), actor("eve"));
    let outer = ana.asks(&["a"]);
    let held = take(&mut *store, &outer);
    let joined = take(&mut *store, &Request { within: Some(outer.grant), ..ana.asks(&["a"]) });
    took(&mut *store, &["a"], &theft(&eve));
    assert_eq!(store.renew(&joined, LIMIT).expect("answer"), Renewal::Revoked);
    settled(&mut *store, &held, STOPPED);
    was_stolen(&mut *store, "a");
    busy(&mut *store, &eve.holds(&["a"]));
    assert_eq!(store.renew(&joined, LIMIT).expect("answer"), Renewal::Revoked, "still");
    settled(&mut *store, &joined, STOPPED);
    granted(&mut *store, &eve.holds(&["a"]));
    was_stolen(&mut *store, "a");
}

pub(crate) fn an_adopted_hold_is_not_handed_back_to_the_victim(world: &dyn World) {
    let mut store = world.store();
    let (ana, eve) = (actor("ana"), actor("eve"));
    for (name, ending) in [("a", STOPPED), ("b", kept(false))] {
        take(&mut *store, &ana.holds(&[name]));
        let held = take(&mut *store, &ana.asks(&[name]));
        took(&mut *store, &[name], &theft(&eve));
        settled(&mut *store, &held, ending);
        granted(&mut *store, &eve.holds(&[name]));
        was_stolen(&mut *store, name);
    }
}
