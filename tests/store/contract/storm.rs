//! Many at once.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Instant;

use locked::store::{Acquisition, Ended, Ending, HistoryFilter, Renewal, Revocation};

use super::World;
use super::theft::theft;
use crate::store::cast::{LIMIT, actor, release, settled, take};

pub(crate) fn of_many_threads_exactly_one_holds(world: &dyn World) {
    let granted = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        for number in 0..16 {
            let granted = &granted;
            threads.spawn(move || {
                let mut store = world.store();
                let request = actor(&format!("t{number}")).asks(&["a"]);
                if matches!(store.acquire(&request, LIMIT).expect("answer"), Acquisition::Granted(_)) {
                    granted.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(granted.load(Ordering::SeqCst), 1);
}

/// Everybody tells the store when it has stopped, as a keeper does, so nobody is inside with anybody else.
pub(crate) fn thieves_among_many_threads_never_meet_who_they_steal_from(world: &dyn World) {
    let (inside, stopped) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let until = Instant::now() + LIMIT;
    std::thread::scope(|threads| {
        for number in 0..6 {
            let (inside, stopped) = (&inside, &stopped);
            threads.spawn(move || {
                let (mut store, actor) = (world.store(), actor(&format!("t{number}")));
                for round in 0..4 {
                    let request = actor.waits_for(&["a"]);
                    let steals = (number + round) % 2 == 0;
                    while let Acquisition::Busy { .. } = store.acquire(&request, LIMIT).expect("answer") {
                        assert!(Instant::now() < until, "nobody waits for ever");
                        if steals {
                            let told = store.revoke(&request.resources, &theft(&actor), LIMIT).expect("answer");
                            assert_ne!(told, Revocation::Quarantined);
                        }
                        std::thread::yield_now();
                    }
                    let held = take(&mut *store, &request);
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two are inside");
                    let beat = store.renew(&held, LIMIT).expect("answer");
                    assert_ne!(beat, Renewal::Gone, "who is told to stop has it until it says that it has");
                    inside.fetch_sub(1, Ordering::SeqCst);
                    if beat == Renewal::Revoked {
                        stopped.fetch_add(1, Ordering::SeqCst);
                        settled(&mut *store, &held, Ending::Release(Ended::Failed));
                    } else {
                        release(&mut *store, &held);
                    }
                }
            });
        }
    });
    let past = world.store().history(&HistoryFilter::default(), LIMIT).expect("answer");
    let stolen = past.iter().filter(|lease| lease.ended_as == Ended::Stolen).count();
    assert_eq!((past.len(), stolen), (24, stopped.into_inner()), "who was stopped was stolen from, and nobody else");
}

pub(crate) fn many_threads_over_sets_never_overlap_and_never_deadlock(world: &dyn World) {
    const SETS: [&[&str]; 4] = [&["a", "b"], &["b", "c"], &["a", "c"], &["a", "b", "c"]];
    /// Who is inside, and the last token seen, per resource.
    struct Seen([AtomicUsize; 3], [AtomicI64; 3]);
    let seen = Seen(Default::default(), Default::default());
    let until = Instant::now() + LIMIT;
    std::thread::scope(|threads| {
        for number in 0..8 {
            let seen = &seen;
            threads.spawn(move || {
                let (mut store, actor) = (world.store(), actor(&format!("t{number}")));
                for round in 0..5 {
                    let names = SETS[(number + round) % SETS.len()];
                    let request = actor.waits_for(names);
                    while let Acquisition::Busy { .. } = store.acquire(&request, LIMIT).expect("answer") {
                        assert!(Instant::now() < until, "nobody waits for ever");
                        std::thread::yield_now();
                    }
                    let held = take(&mut *store, &request);
                    let locked::store::Holding::Grant { resources, .. } = &held else { panic!("by grant") };
                    for (resource, token) in resources {
                        let at = usize::from(resource.name.as_str().as_bytes()[5] - b'a');
                        assert_eq!(seen.0[at].fetch_add(1, Ordering::SeqCst), 0, "{resource} has two holders");
                        assert!(seen.1[at].swap(token.0, Ordering::SeqCst) < token.0, "{resource}: its token fell");
                    }
                    for (resource, _) in resources {
                        let at = usize::from(resource.name.as_str().as_bytes()[5] - b'a');
                        seen.0[at].fetch_sub(1, Ordering::SeqCst);
                    }
                    release(&mut *store, &held);
                }
            });
        }
    });
}
