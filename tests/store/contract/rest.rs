//! Leases without a running command: explicit holds, kept ones, quarantines.

use std::time::Duration;

use locked::store::{Ended, Ending, HistoryFilter, Holding, LeaseState, Release, Renewal, Request, Store};

use super::World;
use crate::store::cast::{LIMIT, TTL, actor, bad, busy, granted, kept, release, resource, settle, settled, take};

const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn an_explicit_hold_is_adopted_and_handed_back(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let by_word = ana.holds(&["a"]);
    let before = granted(&mut *store, &by_word).tokens[0].1;
    busy(&mut *store, &bob.asks(&["a"]));
    let command = Request { ttl: TTL / 2, ..ana.asks(&["a", "b"]) };
    let answer = granted(&mut *store, &command);
    assert_eq!(answer.adopted, [resource("a")]);
    assert!(answer.tokens[0].1 > before, "a grant of its own");
    busy(&mut *store, &ana.asks(&["a"]));
    let held = take(&mut *store, &command);
    assert_eq!(settle(&mut *store, &held, Ending::Release(Ended::Completed)), Release::Released);
    let live = store.leases(None, LIMIT).expect("answer");
    assert_eq!(live.len(), 1, "b is free, a is held by word again");
    assert_eq!((live[0].explicit, live[0].pid, live[0].state), (true, None, LeaseState::Held));
    assert_eq!(live[0].operation, by_word.owner.operation, "it shows as the hold that it is");
    assert_eq!(settle(&mut *store, &held, Ending::Release(Ended::Completed)), Release::Released, "sent twice");
    world.pass(TTL - SECOND);
    busy(&mut *store, &bob.asks(&["a"]));
    world.pass(SECOND);
    take(&mut *store, &bob.asks(&["a"]));
    let past = past_of(&mut *store, "a");
    let ended: Vec<_> = past.iter().map(|it| it.0).collect();
    assert_eq!(ended, [Ended::Expired, Ended::Completed], "the first hold ended when it was adopted");
    let ran = format!("ran {}; presumed crashed, reclaimed by ", command.owner.operation);
    assert!(past[0].1.starts_with(&ran), "which command it was is in the ledger: {past:?}");
}

pub(crate) fn a_hold_is_not_handed_back_when_a_person_ends_it(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    for ended in [Ended::Stolen, Ended::HumanAction] {
        take(&mut *store, &ana.holds(&["a"]));
        let held = take(&mut *store, &ana.asks(&["a"]));
        settled(&mut *store, &held, Ending::Release(ended));
        assert!(store.leases(None, LIMIT).expect("answer").is_empty(), "{ended:?}");
    }
}

pub(crate) fn a_failed_command_does_not_give_away_the_explicit_hold(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    take(&mut *store, &ana.holds(&["a"]));
    let held = take(&mut *store, &ana.asks(&["a"]));
    settled(&mut *store, &held, kept(true));
    world.pass(TTL - SECOND);
    busy(&mut *store, &bob.asks(&["a"]));
    let held = take(&mut *store, &ana.asks(&["a"]));
    release(&mut *store, &held);
    let live = store.leases(None, LIMIT).expect("answer");
    assert!(live[0].explicit, "over the failure the hold is still remembered");
}

pub(crate) fn acquiring_what_one_has_is_a_success(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    take(&mut *store, &ana.holds(&["a"]));
    let held = take(&mut *store, &ana.asks(&["b"]));
    settled(&mut *store, &held, kept(false));
    let again = granted(&mut *store, &ana.holds(&["a", "b", "c"]));
    assert_eq!(again.adopted, [resource("a"), resource("b")]);
    release(&mut *store, &ana.holding(&["a", "b", "c"]));
    assert!(store.leases(None, LIMIT).expect("answer").is_empty());
    take(&mut *store, &ana.asks(&["a"]));
    busy(&mut *store, &ana.holds(&["a"]));
}

pub(crate) fn a_kept_lease_is_its_session_s_alone_until_it_expires(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    settled(&mut *store, &held, kept(false));
    let (blockers, _) = busy(&mut *store, &bob.asks(&["a"]));
    let lease = &blockers[0].lease;
    assert_eq!((lease.state, lease.takeable, lease.pid), (LeaseState::Kept, false, None));
    assert_eq!(lease.reason.as_deref(), Some("it failed"));
    assert_eq!(lease.expires_in, Some(Duration::from_secs(300)), "keep_for, not the TTL");
    let next = ana.asks(&["a"]);
    assert_eq!(granted(&mut *store, &next).adopted, [resource("a")]);
    assert_eq!(past_of(&mut *store, "a")[0].0, Ended::Failed);
    let held = take(&mut *store, &next);
    settled(&mut *store, &held, kept(false));
    world.pass(Duration::from_secs(300));
    take(&mut *store, &bob.asks(&["a"]));
}

/// A session would set it off once more like anybody else. What it holds by its own word stays its own.
pub(crate) fn what_a_success_set_off_elsewhere_lets_nobody_in_its_own_session_neither(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let keep_for = Duration::from_secs(120);
    let elsewhere = || Ending::Elsewhere { reason: "a was triggered and may still be running".to_owned(), keep_for };
    let held = take(&mut *store, &ana.asks(&["a"]));
    settled(&mut *store, &held, elsewhere());
    for request in [ana.asks(&["a"]), bob.asks(&["a"])] {
        let (blockers, _) = busy(&mut *store, &request);
        let lease = &blockers[0].lease;
        assert_eq!((lease.state, lease.takeable, lease.pid), (LeaseState::Remote, false, None));
        assert_eq!(lease.expires_in, Some(keep_for), "keep_for, not the TTL");
        assert_eq!(lease.reason.as_deref(), Some("a was triggered and may still be running"));
    }
    world.pass(keep_for);
    let seen = store.leases(None, LIMIT).expect("answer");
    assert_eq!((seen[0].state, seen[0].expired_for.is_some()), (LeaseState::Expired, true));
    take(&mut *store, &ana.asks(&["a"]));
    take(&mut *store, &ana.holds(&["b"]));
    let held = take(&mut *store, &ana.asks(&["b"]));
    settled(&mut *store, &held, elsewhere());
    busy(&mut *store, &bob.asks(&["b"]));
    assert_eq!(granted(&mut *store, &ana.asks(&["b"])).adopted, [resource("b")]);
}

pub(crate) fn a_takeable_lease_goes_to_anybody_at_once(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    settled(&mut *store, &held, kept(true));
    let seen = store.leases(None, LIMIT).expect("answer");
    assert_eq!((seen[0].state, seen[0].takeable), (LeaseState::Kept, true), "people see why");
    let answer = granted(&mut *store, &bob.asks(&["a"]));
    assert!(answer.adopted.is_empty() && answer.unsettled.is_empty());
    let (ended, note) = past_of(&mut *store, "a").swap_remove(0);
    assert_eq!(ended, Ended::Failed);
    assert!(note.contains("it failed") && note.contains("taken by") && note.contains("bob"), "{note}");
}

pub(crate) fn what_anybody_may_take_is_not_renewed_by_its_session(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    settled(&mut *store, &held, kept(true));
    let before = store.leases(None, LIMIT).expect("answer")[0].expires_in;
    assert_eq!(store.renew(&ana.holding(&["a"]), LIMIT).expect("answer"), Renewal::Gone);
    assert_eq!(store.leases(None, LIMIT).expect("answer")[0].expires_in, before, "nothing was changed");
    assert_eq!(granted(&mut *store, &ana.holds(&["a"])).adopted, [resource("a")]);
    assert_eq!(store.renew(&ana.holding(&["a"]), LIMIT).expect("answer"), Renewal::Renewed(TTL));
    // Where a person must be asked first nobody may take it.
    let asking = Request { ask: vec![resource("b")], ..ana.asks(&["b"]) };
    let held = take(&mut *store, &asking);
    settled(&mut *store, &held, kept(true));
    assert_eq!(store.renew(&ana.holding(&["b"]), LIMIT).expect("answer"), Renewal::Renewed(TTL));
}

/// Whatever goes on under the hold meanwhile, and however long the text is in which it was named.
pub(crate) fn a_hold_is_for_its_issue_until_another_is_named(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let named = |mut request: Request, operation: String| {
        request.owner.operation = operation;
        request
    };
    let of = |store: &mut dyn Store| {
        let lease = store.leases(Some(&[resource("a")]), LIMIT).expect("answer").remove(0);
        lease.issue.map(|issue| issue.to_string())
    };
    take(&mut *store, &named(ana.holds(&["a"]), format!("{} for acme/infra#3", "x".repeat(3_000))));
    let third = Some("acme/infra#3".to_owned());
    assert_eq!(of(&mut *store), third);
    take(&mut *store, &ana.holds(&["a"]));
    assert_eq!(of(&mut *store), third, "acquired again");
    let held = take(&mut *store, &ana.asks(&["a"]));
    assert_eq!(of(&mut *store), third, "under a command");
    release(&mut *store, &held);
    assert_eq!(of(&mut *store), third, "handed back");
    let held = take(&mut *store, &named(ana.asks(&["a"]), "sops set x for acme/infra#9".to_owned()));
    assert_eq!(of(&mut *store), Some("acme/infra#9".to_owned()), "a command has its own");
    settled(&mut *store, &held, kept(false));
    take(&mut *store, &ana.holds(&["a"]));
    assert_eq!(of(&mut *store), third, "and the hold has its own");
    world.pass(TTL);
    take(&mut *store, &ana.holds(&["a"]));
    assert_eq!(of(&mut *store), third, "run out, and taken up again");
    take(&mut *store, &named(ana.holds(&["a"]), "locked acquire for git.acme.example/acme/infra#4".to_owned()));
    assert_eq!(of(&mut *store), Some("git.acme.example/acme/infra#4".to_owned()), "another is named");
    world.pass(TTL);
    take(&mut *store, &bob.holds(&["a"]));
    assert_eq!(of(&mut *store), None, "what another one held it for is not ours");
}

pub(crate) fn a_quarantine_stops_everybody_and_never_expires(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    settled(&mut *store, &held, bad());
    world.pass(TTL * 1000);
    for request in [bob.asks(&["a"]), ana.asks(&["a"]), ana.holds(&["a"])] {
        let (blockers, _) = busy(&mut *store, &request);
        assert!(blockers[0].quarantined() && !blockers[0].reclaimable_when_gone);
        assert_eq!(blockers[0].lease.expires_in, None);
        assert_eq!(blockers[0].lease.reason.as_deref(), Some("an empty file at ws-1:/repo/a"));
    }
    assert_eq!(settle(&mut *store, &bob.holding(&["a"]), Ending::Release(Ended::Completed)), Release::NotOurs);
    release(&mut *store, &ana.holding(&["a"]));
    take(&mut *store, &bob.asks(&["a"]));
}

pub(crate) fn the_session_renews_and_ends_what_rests_but_not_what_runs(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    take(&mut *store, &ana.holds(&["a"]));
    take(&mut *store, &ana.asks(&["b"]));
    world.pass(TTL / 2);
    assert_eq!(store.renew(&ana.holding(&["a"]), LIMIT).expect("answer"), Renewal::Renewed(TTL));
    assert_eq!(store.renew(&bob.holding(&["a"]), LIMIT).expect("answer"), Renewal::Gone);
    assert_eq!(store.renew(&ana.holding(&["b"]), LIMIT).expect("answer"), Renewal::Gone, "a command runs");
    world.pass(TTL - SECOND);
    busy(&mut *store, &bob.asks(&["a"]));
    let both = ana.holding(&["a", "b"]);
    assert_eq!(settle(&mut *store, &both, Ending::Release(Ended::Completed)), Release::NotOurs);
    assert_eq!(store.leases(None, LIMIT).expect("answer").len(), 2, "nothing was changed");
    release(&mut *store, &ana.holding(&["a"]));
    take(&mut *store, &bob.asks(&["a"]));
}

/// How the leases of a resource ended and with which note, newest first.
fn past_of(store: &mut dyn locked::store::Store, name: &str) -> Vec<(Ended, String)> {
    let filter = HistoryFilter { name: Some(resource(name).name.to_string()), ..HistoryFilter::default() };
    let past = store.history(&filter, LIMIT).expect("answer");
    past.into_iter().map(|it| (it.ended_as, it.note.unwrap_or_default())).collect()
}

pub(crate) fn who_keeps_a_hold_alive_keeps_that_hold_alone(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    let kept = |tokens| Holding::Kept { session: ana.session, resources: tokens };
    let first = kept(granted(&mut *store, &ana.holds(&["a"])).tokens);
    world.pass(TTL / 2);
    assert_eq!(store.renew(&first, LIMIT).expect("answer"), Renewal::Renewed(TTL));
    assert_eq!(store.leases(None, LIMIT).expect("answer")[0].expires_in, Some(TTL), "a whole TTL from now");
    // The session gives it back and takes it anew.
    release(&mut *store, &first);
    let second = kept(granted(&mut *store, &ana.holds(&["a"])).tokens);
    assert_eq!(store.renew(&first, LIMIT).expect("answer"), Renewal::Gone, "another hold of that name");
    assert_eq!(settle(&mut *store, &first, Ending::Release(Ended::Failed)), Release::NotOurs);
    assert_eq!(store.renew(&second, LIMIT).expect("answer"), Renewal::Renewed(TTL));
    // Kept for longer than a TTL: a renew takes nothing away.
    let command = take(&mut *store, &ana.asks(&["a"]));
    let long = Ending::Keep { reason: "it failed".to_owned(), keep_for: TTL * 3, takeable: false };
    settled(&mut *store, &command, long);
    let lease = store.leases(None, LIMIT).expect("answer").remove(0);
    let third = kept(vec![(lease.resource, lease.token)]);
    assert_eq!(store.renew(&third, LIMIT).expect("answer"), Renewal::Renewed(TTL));
    assert_eq!(store.leases(None, LIMIT).expect("answer")[0].expires_in, Some(TTL * 3));
    assert_eq!(store.renew(&command, LIMIT).expect("answer"), Renewal::Renewed(TTL), "a beat that comes late");
    assert_eq!(store.leases(None, LIMIT).expect("answer")[0].expires_in, Some(TTL * 3));
}

/// The hold's beats are made for the hold's TTL, and the command's for the command's.
pub(crate) fn what_a_short_command_left_of_a_hold_is_renewed_by_the_hold_s_ttl(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    granted(&mut *store, &ana.holds(&["a"]));
    let command = take(&mut *store, &Request { ttl: TTL / 10, first_grant: TTL / 10, ..ana.asks(&["a"]) });
    settled(&mut *store, &command, kept(false));
    let lease = store.leases(None, LIMIT).expect("answer").remove(0);
    assert_eq!((lease.state, lease.expires_in), (LeaseState::Kept, Some(TTL)), "as long as the hold would last");
    let by_tokens = Holding::Kept { session: ana.session, resources: vec![(lease.resource, lease.token)] };
    for holding in [&by_tokens, &ana.holding(&["a"])] {
        world.pass(TTL - SECOND);
        assert_eq!(store.renew(holding, LIMIT).expect("answer"), Renewal::Renewed(TTL));
        assert_eq!(store.leases(None, LIMIT).expect("answer")[0].expires_in, Some(TTL));
    }
    assert_eq!(store.renew(&command, LIMIT).expect("answer"), Renewal::Renewed(TTL / 10), "its own beat");
    world.pass(TTL - SECOND);
    busy(&mut *store, &bob.asks(&["a"]));
}
