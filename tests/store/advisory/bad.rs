//! A file that was found bad is marked on its machine, and that is said.

use locked::store::{Claim, Ending, ForcedEnd, LeaseState, Store};
use locked::terms::GrantId;

use super::lab::{Machine, locked};
use crate::store::cast::{actor, bad, busy, file, granted, kept, release, resource, settled, take};

#[test]
fn a_bad_file_keeps_out_everybody_here_until_it_is_restored() {
    let (here, there) = (Machine::new(), Machine::new());
    let mut store = here.store();
    let mut request = actor("ana@ws-1").asks(&["bad", "sound"]);
    request.files = vec![file("a.sops", "old")];
    let held = take(&mut store, &request);
    let mut settlement = locked::store::Settlement::whole(Ending::Release(locked::store::Ended::Completed), Vec::new());
    settlement.apart = vec![(resource("bad"), bad())];
    assert!(matches!(
        store.settle(&held, &settlement, crate::store::cast::LIMIT),
        Ok(locked::store::Release::Released)
    ));
    assert!(here.said().contains("sops:bad is quarantined on this machine alone"), "{}", here.said());
    assert_eq!(locked("bad"), 0, "the server has no place for it");
    let (blockers, _) = busy(&mut store, &actor("ben").asks(&["bad"]));
    let lease = &blockers[0].lease;
    assert!(blockers[0].quarantined() && lease.label == "ana@ws-1" && lease.files == request.files, "{lease:?}");
    let sound = take(&mut store, &actor("ben").asks(&["sound"]));
    release(&mut store, &sound);
    let elsewhere = take(&mut there.store(), &actor("cleo").asks(&["bad"]));
    drop(elsewhere);

    let mut restore = actor("ben").asks(&["bad"]);
    restore.claim = Claim::Restore;
    let taken = granted(&mut store, &restore);
    assert_eq!(taken.carried[0].files, request.files, "what is to be restored");
    let held =
        locked::store::Holding::Grant { grant: restore.grant, key: restore.key.clone(), resources: taken.tokens };
    // Not restored after all: it stays as it was.
    settled(&mut store, &held, Ending::Quarantine { reason: "another".to_owned() });
    let (blockers, _) = busy(&mut store, &actor("ben").asks(&["bad"]));
    assert_eq!(blockers[0].lease.reason.as_deref(), Some("an empty file at ws-1:/repo/a"));
    let mut restore = actor("ben").asks(&["bad"]);
    restore.claim = Claim::Restore;
    let held = take(&mut store, &restore);
    release(&mut store, &held);
    let held = take(&mut store, &actor("ben").asks(&["bad"]));
    release(&mut store, &held);
}

#[test]
fn a_forced_run_that_left_a_file_bad_marks_it_once_however_often_it_is_told() {
    let machine = Machine::new();
    let mut store = machine.store();
    let forced = locked::store::Forced {
        grant: GrantId::random(),
        owner: actor("ana").asks(&["forced"]).owner,
        resources: vec![resource("forced")],
        reason: "it burns".to_owned(),
        began_at: 1,
        ended_at: 2,
        files: vec![file("a.sops", "old")],
        receipts: Vec::new(),
        end: ForcedEnd::Quarantine { reason: "an empty file".to_owned() },
        apart: Vec::new(),
    };
    for _ in 0..2 {
        store.record_forced(&forced, crate::store::cast::LIMIT).expect("recorded");
    }
    let views = store.leases(None, crate::store::cast::LIMIT).expect("an answer");
    assert_eq!(views.len(), 1);
    assert_eq!((views[0].state, views[0].acquired_at), (LeaseState::Quarantined, 2));
}

#[test]
fn what_was_to_be_kept_is_free_and_that_is_said() {
    let machine = Machine::new();
    let mut store = machine.store();
    let held = take(&mut store, &actor("ana").asks(&["not-kept"]));
    settled(&mut store, &held, kept(true));
    assert_eq!(machine.said(), "", "anybody might have taken it");
    let held = take(&mut store, &actor("ana").asks(&["not-kept"]));
    settled(&mut store, &held, kept(false));
    assert!(machine.said().contains("was to be kept (it failed)"), "{}", machine.said());
    assert_eq!(locked("not-kept"), 0);
}
