//! Through a real sshd: the lock is held on a server that only another machine reaches.

use locked::config::OnUnreachable;
use locked::store::{Renewal, Store};

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
    for pid in gate.clients() {
        // Some have ended already.
        let _ended = rustix::process::kill_process(
            rustix::process::Pid::from_raw(pid).expect("pid"),
            rustix::process::Signal::KILL,
        );
    }
    until("it is free", || locked("through") == 0);
    assert_eq!(store.renew(&held, LIMIT).expect("an answer"), Renewal::Gone);
}
