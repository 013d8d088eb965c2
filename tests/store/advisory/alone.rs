//! Nobody answers: nothing runs, or, if the user chose so, a lock of this machine serves, loudly.

use std::time::Duration;

use locked::config::OnUnreachable;
use locked::store::{Renewal, Store, StoreError};

use super::lab::{Machine, locked, shared};
use super::refused::nowhere;
use crate::store::cast::{LIMIT, actor, busy, release, take};
use crate::world::cluster;
use crate::world::relay::Relay;

#[test]
fn nothing_is_granted_by_a_server_that_does_not_answer() {
    let machine = Machine::new();
    let mut store = machine.store_at(&nowhere(), OnUnreachable::Deny, None);
    let answer = store.acquire(&actor("ana").asks(&["a"]), LIMIT);
    assert!(matches!(answer, Err(StoreError::NoWay { .. })), "{answer:?}");
}

#[test]
fn a_lock_of_this_machine_serves_where_the_user_chose_so_and_that_is_said() {
    let machine = Machine::new();
    let local = |address: &str| machine.store_at(address, OnUnreachable::Local, None);
    let (mut one, mut two) = (local(&nowhere()), local(&nowhere()));
    let request = actor("ana@ws-1").asks(&["alone"]);
    let held = take(&mut one, &request);
    assert!(machine.said().contains("WARNING") && machine.said().contains("this machine alone"), "{}", machine.said());
    assert_eq!(one.renew(&held, LIMIT).expect("an answer"), Renewal::Renewed(request.ttl));
    let (blockers, _) = busy(&mut two, &actor("ben").asks(&["alone"]));
    assert_eq!(blockers[0].lease.label, "ana@ws-1");
    // The server is back for the next one, and still nobody of this machine runs beside the first.
    let (blockers, _) = busy(&mut local(&shared()), &actor("ben").asks(&["alone"]));
    assert_eq!(blockers[0].lease.label, "ana@ws-1");
    assert_eq!(locked("alone"), 0);
    release(&mut one, &held);
    let mut back = local(&shared());
    let held = take(&mut back, &actor("ben").asks(&["alone"]));
    assert_eq!(locked("alone"), 1);
    drop(busy(&mut two, &actor("cleo").asks(&["alone"])));
    release(&mut back, &held);
}

#[test]
fn a_server_that_answers_and_refuses_is_not_stood_in_for() {
    let machine = Machine::new();
    let wrong = shared().replace("dbname=postgres", "dbname=nowhere");
    let answer = machine.store_at(&wrong, OnUnreachable::Local, None).acquire(&actor("ana").asks(&["a"]), LIMIT);
    match answer {
        Err(StoreError::Refused { why, .. }) => assert!(why.contains("3D000"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_falls_silent_is_unknown_and_not_a_loss() {
    let cluster = cluster::shared();
    let relay = Relay::to(cluster.socket(), cluster.port());
    let address = format!("host={} port={} user=postgres dbname=postgres", relay.socket().display(), cluster.port());
    let machine = Machine::new();
    let mut store = machine.store_at(&address, OnUnreachable::Deny, None);
    let held = take(&mut store, &actor("ana").asks(&["silent"]));
    relay.silence(true);
    let answer = store.renew(&held, Duration::from_millis(300));
    assert!(matches!(answer, Err(StoreError::Unreachable(_))), "{answer:?}");
    // Nor is anything given back that nobody has confirmed.
    let ending =
        locked::store::Settlement::whole(locked::store::Ending::Release(locked::store::Ended::Completed), Vec::new());
    for _ in 0..2 {
        let answer = store.settle(&held, &ending, Duration::from_millis(300));
        assert!(matches!(answer, Err(StoreError::Unreachable(_))), "{answer:?}");
    }
}
