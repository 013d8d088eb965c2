//! What people see.

use std::time::Duration;

use locked::store::{Discharge, Ended, Ending, HistoryFilter, Holding, LeaseState, Release, Settlement};
use locked::terms::Digest;

use super::World;
use crate::store::cast::{FIRST, LIMIT, SILENCE, actor, bad, busy, receipt, release, resource, settled, take};

pub(crate) fn live_leases_show_state_time_and_waiters(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    take(&mut *store, &ana.holds(&["a"]));
    take(&mut *store, &ana.asks(&["b"]));
    let held = take(&mut *store, &ana.asks(&["c"]));
    settled(&mut *store, &held, bad());
    busy(&mut *store, &bob.waits_for(&["a", "b"]));
    busy(&mut *store, &eve.waits_for(&["b"]));
    let live = store.leases(None, LIMIT).expect("answer");
    let seen: Vec<_> = live.iter().map(|it| (it.resource.clone(), it.state, it.explicit, it.waiters)).collect();
    assert_eq!(
        seen,
        [
            (resource("a"), LeaseState::Held, true, 1),
            (resource("b"), LeaseState::Held, false, 2),
            (resource("c"), LeaseState::Quarantined, false, 0),
        ]
    );
    assert_eq!(live[1].expires_in, Some(FIRST));
    assert!(live[1].acquired_at > 0 && live[1].renewed_at >= live[1].acquired_at);
    world.pass(FIRST.max(SILENCE * 2));
    let some = store.leases(Some(&[resource("b"), resource("z")]), LIMIT).expect("answer");
    assert_eq!(some.len(), 1);
    assert_eq!((some[0].state, some[0].waiters, some[0].expires_in), (LeaseState::Expired, 0, Some(Duration::ZERO)));
}

pub(crate) fn history_is_newest_first_and_names_the_receipt(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    let receipts = vec![receipt("a", "a.env", "1", "2"), receipt("a", "a.env", "2", "3")];
    let settlement = Settlement::whole(Ending::Release(Ended::Completed), receipts);
    assert_eq!(store.settle(&held, &settlement, LIMIT).expect("answer"), Release::Released);
    let held = take(&mut *store, &ana.asks(&["b"]));
    settled(&mut *store, &held, Ending::Release(Ended::HumanAction));
    let past = store.history(&HistoryFilter::default(), LIMIT).expect("answer");
    let seen: Vec<_> = past.iter().map(|it| (it.resource.clone(), it.ended_as, it.receipt.clone())).collect();
    assert_eq!(
        seen,
        [(resource("b"), Ended::HumanAction, None), (resource("a"), Ended::Completed, Some(Digest::of(b"3"))),]
    );
    assert_eq!((past[0].session, past[0].label.as_str(), past[0].host.as_str()), (ana.session, "ana", "ws-1"));
    assert!(past[0].ended_at >= past[0].acquired_at);
}

pub(crate) fn history_can_be_narrowed(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    for name in ["a", "b", "a", "a"] {
        let held = take(&mut *store, &ana.asks(&[name]));
        release(&mut *store, &held);
    }
    let mut count = |filter: HistoryFilter| store.history(&filter, LIMIT).expect("answer").len();
    assert_eq!(count(HistoryFilter::default()), 4);
    assert_eq!(count(HistoryFilter { limit: Some(2), ..HistoryFilter::default() }), 2);
    let name = Some(resource("a").name.to_string());
    assert_eq!(count(HistoryFilter { name: name.clone(), ..HistoryFilter::default() }), 3);
    assert_eq!(count(HistoryFilter { since: Some(Duration::from_secs(3600)), name, ..HistoryFilter::default() }), 3);
    world.pass(Duration::from_secs(7200));
    assert_eq!(count(HistoryFilter { since: Some(Duration::from_secs(3600)), ..HistoryFilter::default() }), 0);
}

pub(crate) fn no_text_of_a_holder_can_draw_on_a_terminal(world: &dyn World) {
    let (mut store, bob) = (world.store(), actor("bob"));
    let evil = actor("\u{1b}[2Jeve\u{202e}\n");
    let mut request = evil.asks(&["a"]);
    request.owner.host = "\u{9b}host".to_owned();
    request.owner.operation = "x".repeat(5000);
    let held = take(&mut *store, &request);
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
    let lease = &blockers[0].lease;
    assert_eq!((lease.label.as_str(), lease.host.as_str()), ("[2Jeve", "host"));
    assert_eq!(lease.operation.chars().count(), 200);
    let reason = "\u{1b}]0;title\u{7}why".to_owned();
    settled(&mut *store, &held, Ending::Keep { reason, keep_for: FIRST, takeable: true });
    assert_eq!(store.leases(None, LIMIT).expect("answer")[0].reason.as_deref(), Some("]0;titlewhy"));
    take(&mut *store, &bob.asks(&["a"]));
    let past = store.history(&HistoryFilter::default(), LIMIT).expect("answer");
    let shown = format!("{}{}{}", past[0].label, past[0].operation, past[0].note.clone().unwrap_or_default());
    assert!(!shown.chars().any(|it| it.is_control() || it == '\u{202e}'), "{shown:?}");
}

pub(crate) fn what_is_left_to_a_person_frees_the_slot_and_stays_until_it_is_done(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    for name in ["a", "b"] {
        let held = take(&mut *store, &ana.asks(&[name]));
        let ending = Ending::Release(Ended::HumanAction);
        let settlement = Settlement::whole(ending, vec![]).noting(Some(format!("Maria: revoke {name}")));
        assert_eq!(store.settle(&held, &settlement, LIMIT).expect("answer"), Release::Released);
    }
    let duties = |store: &mut dyn locked::store::Store| -> Vec<(String, Option<String>)> {
        let duties = store.duties(LIMIT).expect("answer");
        duties.into_iter().map(|it| (it.resource.name.to_string(), it.note)).collect()
    };
    let duty = |name: &str| (resource(name).name.to_string(), Some(format!("Maria: revoke {name}")));
    assert_eq!(duties(&mut *store), [duty("b"), duty("a")]);
    // The slot is free, and what others do there leaves the duty alone.
    let held = take(&mut *store, &bob.asks(&["a"]));
    release(&mut *store, &held);
    assert_eq!(duties(&mut *store), [duty("b"), duty("a")]);
    let how = |ended, note: Option<&str>| {
        let note = note.map(str::to_owned);
        Discharge { session: bob.session, label: "bob".to_owned(), ended, note }
    };
    let done = how(Ended::Completed, Some("in the console"));
    assert_eq!(store.discharge(&resource("a"), &done, LIMIT).expect("answer"), 1);
    assert_eq!(store.discharge(&resource("a"), &done, LIMIT).expect("answer"), 0, "once");
    assert_eq!(duties(&mut *store), [duty("b")]);
    assert_eq!(store.discharge(&resource("b"), &how(Ended::Failed, None), LIMIT).expect("answer"), 1);
    let past = store.history(&HistoryFilter::default(), LIMIT).expect("answer");
    let mut of_ana: Vec<_> =
        past.into_iter().filter(|it| it.session == ana.session).map(|it| (it.ended_as, it.note)).collect();
    of_ana.sort_by_key(|(_, note)| note.clone());
    let by = format!("{} (bob)", bob.session.short());
    assert_eq!(
        of_ana,
        [
            (Ended::Completed, Some(format!("Maria: revoke a; done by {by}: in the console"))),
            (Ended::Failed, Some(format!("Maria: revoke b; given up by {by}"))),
        ]
    );
}

pub(crate) fn a_holder_s_last_word_is_in_the_ledger(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    for (name, ended) in [("a", Ended::Failed), ("b", Ended::Completed)] {
        take(&mut *store, &ana.holds(&[name]));
        let holding = Holding::Session { session: ana.session, resources: vec![resource(name)] };
        let settlement =
            Settlement::whole(Ending::Release(ended), vec![]).noting(Some("the console was down".to_owned()));
        assert_eq!(store.settle(&holding, &settlement, LIMIT).expect("answer"), Release::Released);
        let past = store.history(&HistoryFilter::default(), LIMIT).expect("answer");
        assert_eq!((past[0].ended_as, past[0].note.as_deref()), (ended, Some("the console was down")));
    }
}
