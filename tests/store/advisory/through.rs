//! Through a real sshd: the lock is held on a server that only another machine reaches.

use std::time::Duration;

use locked::config::OnUnreachable;
use locked::store::{Renewal, Store, StoreError};
use rustix::process::{Pid, Signal, kill_process};

use super::lab::{Machine, locked, until};
use crate::store::cast::{LIMIT, actor, release, take};
use crate::via::gate::Gate;
use crate::world::cluster;

#[test]
fn a_lock_is_held_through_another_machine_and_falls_with_the_way() {
    let (machine, gate) = (Machine::new(), Gate::open(""));
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", cluster::shared().port());
    let mut store = machine.store_at(&address, OnUnreachable::Deny, Some(gate.bastion()));
    let request = actor("ana").asks(&["through"]);
    let held = take(&mut store, &request);
    assert_eq!((locked("through"), store.renew(&held, LIMIT).expect("an answer")), (1, Renewal::Renewed(request.ttl)));
    release(&mut store, &held);
    assert_eq!(locked("through"), 0);
    let held = take(&mut store, &actor("ana").asks(&["through"]));
    send(&gate, Signal::KILL);
    until("it is free", || locked("through") == 0);
    assert_eq!(store.renew(&held, LIMIT).expect("an answer"), Renewal::Gone);
}

fn send(gate: &Gate, signal: Signal) {
    for pid in gate.clients() {
        // Some have ended already.
        let _ended = kill_process(Pid::from_raw(pid).expect("pid"), signal);
    }
}

/// The wire between the machine in the middle and the server stays whole, so that no TCP of the server's finds out.
#[test]
fn a_holder_that_is_not_heard_any_more_through_another_machine_is_let_go_after_its_ttl() {
    let (machine, gate) = (Machine::new(), Gate::open(""));
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", cluster::shared().port());
    let mut store = machine.store_at(&address, OnUnreachable::Deny, Some(gate.bastion()));
    let mut request = actor("ana").asks(&["unheard"]);
    request.ttl = Duration::from_secs(3);
    let held = take(&mut store, &request);
    let name = format!("locked {} %", request.owner.session.short());
    let old = format!(
        "select 1 from pg_stat_activity where application_name like '{name}' and clock_timestamp() - backend_start > interval '4 s'"
    );
    until("its session is older than its TTL", || {
        let renewal = store.renew(&held, LIMIT).expect("an answer");
        assert_eq!((renewal, locked("unheard")), (Renewal::Renewed(request.ttl), 1), "it is heard, and stays");
        !cluster::shared().sql(&old).is_empty()
    });
    send(&gate, Signal::STOP);
    let answer = store.renew(&held, Duration::from_millis(300));
    assert!(matches!(answer, Err(StoreError::Unreachable(_))), "{answer:?}");
    until("it is free", || locked("unheard") == 0);
    send(&gate, Signal::CONT);
    assert_eq!(store.renew(&held, LIMIT).expect("an answer"), Renewal::Gone);
}
