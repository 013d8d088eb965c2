//! Who waits is called where the server can call, and asks again where it cannot.

use std::sync::mpsc;
use std::time::Duration;

use locked::store::{Distance, Store as _};

use super::lab::{Lab, Way};
use crate::store::cast::{LIMIT, actor, busy, release, resource, take};

/// Longer than any test may take.
const FOR_EVER: Duration = Duration::from_secs(3_600);

/// A contender that waits in this place of the line for `a`; says when it begins to wait, and when it was granted.
fn waits(lab: &Lab, place: usize, said: &mpsc::Sender<&'static str>) {
    let mut store = lab.contender();
    let request = actor("bob").waits_for(&["a"]);
    busy(&mut store, &request);
    // The first wait finds out whether the server calls.
    store.await_change(&[resource("a")], place, FOR_EVER);
    assert_eq!(store.distance(), Distance::Calling);
    said.send("waits").expect("listened to");
    store.await_change(&[resource("a")], place, FOR_EVER);
    let held = take(&mut store, &request);
    said.send("has it").expect("listened to");
    release(&mut store, &held);
}

#[test]
fn a_direct_connection_is_called_when_the_lease_is_free_and_not_for_others() {
    for way in [Way::Direct, Way::Client, Way::Relayed] {
        let lab = Lab::running(way);
        let mut store = lab.contender();
        let held = take(&mut store, &actor("ana").asks(&["a"]));
        let other = take(&mut store, &actor("ana").asks(&["b"]));
        let (sender, said) = mpsc::channel();
        std::thread::scope(|threads| {
            threads.spawn(|| waits(&lab, 1, &sender));
            assert_eq!(said.recv_timeout(LIMIT), Ok("waits"));
            // Somebody waits for the other one too, so that its end is called out; that wakes nobody here.
            busy(&mut lab.contender(), &actor("eve").waits_for(&["b"]));
            release(&mut store, &other);
            assert_eq!(said.try_recv(), Err(mpsc::TryRecvError::Empty));
            release(&mut store, &held);
            assert_eq!(said.recv_timeout(LIMIT), Ok("has it"));
        });
    }
}

#[test]
fn who_stands_further_behind_is_called_when_those_before_have_had_their_turns() {
    let lab = Lab::running(Way::Direct);
    let mut store = lab.contender();
    let held = take(&mut store, &actor("ana").asks(&["a"]));
    let before = actor("eve").waits_for(&["a"]);
    busy(&mut store, &before);
    let (sender, said) = mpsc::channel();
    std::thread::scope(|threads| {
        threads.spawn(|| waits(&lab, 3, &sender));
        assert_eq!(said.recv_timeout(LIMIT), Ok("waits"));
        release(&mut store, &held);
        // One who asked at this change would be told that it is busy, which ends its thread.
        let held = take(&mut store, &before);
        release(&mut store, &held);
        assert_eq!(said.recv_timeout(LIMIT), Ok("has it"));
    });
}

#[test]
fn through_a_pooler_nobody_listens_and_the_next_question_finds_it_free() {
    let lab = Lab::running(Way::Pooled);
    let mut store = lab.contender();
    let held = take(&mut store, &actor("ana").asks(&["a"]));
    let (sender, said) = mpsc::channel();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut store = lab.contender();
            let request = actor("bob").waits_for(&["a"]);
            busy(&mut store, &request);
            sender.send("waits").expect("listened to");
            loop {
                store.await_change(&[resource("a")], 1, Duration::from_millis(20));
                assert_eq!(store.distance(), Distance::Far);
                if let locked::store::Acquisition::Granted(_) = store.acquire(&request, LIMIT).expect("answer") {
                    return sender.send("has it").expect("listened to");
                }
            }
        });
        assert_eq!(said.recv_timeout(LIMIT), Ok("waits"));
        release(&mut store, &held);
        assert_eq!(said.recv_timeout(LIMIT), Ok("has it"));
    });
    let channel = lab.schema().to_string();
    let listening =
        lab.cluster().sql(&format!("select count(*) from pg_stat_activity where query = 'listen \"{channel}\"'"));
    assert_eq!(listening[0][0], "0");
}
