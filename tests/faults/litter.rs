//! Live files of the dead are swept, but not while they are the proof that their holder is gone.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::world::apart::{sees_every_process, this_test};
use crate::world::ends::so;
use crate::world::processes::kill;

use super::stage::Stage;

fn live_files(stage: &Stage) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(stage.world.state().join("live")).expect("live");
    entries.map(|entry| entry.expect("entry").path()).collect()
}

/// As if they had lain there for an hour.
fn age(stage: &Stage) {
    #[allow(clippy::disallowed_methods, reason = "a file's own time is of the wall clock")]
    let then = SystemTime::now() - Duration::from_secs(3600);
    for path in live_files(stage) {
        std::fs::File::options().write(true).open(path).expect("file").set_modified(then).expect("time");
    }
}

#[test]
fn what_dead_waiters_left_is_swept_a_few_at_a_time() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let stage = Stage::new();
    let one = stage.start("one", &["-r", "test:x"]).begins(&stage, "one");
    for waiter in 0..12 {
        let waiter = stage.start(&format!("w{waiter}"), &["--wait", "50s", "-r", "test:x"]);
        so("it stands in line", || stage.tickets() >= 1);
        let keeper = waiter.keeper();
        kill(waiter.wrapper());
        kill(keeper);
        let _killed = waiter.ends();
    }
    stage.raise("one");
    assert_eq!(one.ends().code, Some(0));
    stage.next_gets_in("young", &["--wait", "50s", "-r", "test:x"]);
    assert!(live_files(&stage).len() >= 10, "the young ones may not be locked yet");
    age(&stage);
    stage.next_gets_in("sweep", &["--wait", "50s", "-r", "test:x"]);
    let left = live_files(&stage).len();
    assert!((2..12).contains(&left), "eight at most: {left} left");
    for round in 0..8 {
        age(&stage);
        stage.next_gets_in(&format!("sweep{round}"), &["--wait", "50s", "-r", "test:x"]);
    }
    assert_eq!(live_files(&stage), Vec::<PathBuf>::new());
}

#[test]
fn the_proof_that_a_holder_is_gone_stays_until_the_store_has_learnt_of_it() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let stage = Stage::new();
    let one = stage.start("one", &["-r", "test:x"]).begins(&stage, "one");
    let keeper = one.keeper();
    kill(one.wrapper());
    kill(keeper);
    let _killed = one.ends();
    stage.is_empty_soon();
    age(&stage);
    for other in ["a", "b"] {
        stage.next_gets_in(other, &["-r", "test:other"]);
    }
    assert_eq!(live_files(&stage).len(), 1, "its lease stands");
    // Admitted by that proof: its wait ends long before the TTL does.
    stage.next_gets_in("next", &["--wait", "50s", "-r", "test:x"]);
    assert_eq!(live_files(&stage), Vec::<PathBuf>::new());
}

#[test]
fn a_live_file_that_is_held_is_never_swept() {
    let stage = Stage::new();
    let one = stage.start("one", &["-r", "test:x"]).begins(&stage, "one");
    age(&stage);
    stage.next_gets_in("other", &["-r", "test:other"]);
    assert_eq!(live_files(&stage).len(), 1);
    stage.raise("one");
    assert_eq!(one.ends().code, Some(0));
    assert_eq!(live_files(&stage), Vec::<PathBuf>::new());
}
