//! Measurements: printed, never asserted. `cargo test --test tests store::measure -- --ignored --nocapture`

use std::sync::Arc;
use std::time::Instant;

use locked::clock::SystemClock;
use locked::store::SqliteStore;

use super::cast::{actor, release, take};
use super::contract::World as _;
use super::sqlite::Embedded;

#[test]
#[ignore = "a measurement"]
fn acquire_and_settle_in_one_process() {
    let world = Embedded::new();
    take(&mut *world.store(), &actor("ana").asks(&["warm"]));
    let state = world.state();
    let mut spans: Vec<_> = (0..200)
        .map(|_| {
            let request = actor("ana").asks(&["a"]);
            let begun = Instant::now();
            // A connection of its own, as in a short-lived process.
            let mut store = SqliteStore::new(&state, Arc::new(SystemClock::new()));
            let held = take(&mut store, &request);
            release(&mut store, &held);
            begun.elapsed()
        })
        .collect();
    spans.sort();
    println!("acquire + settle with connect: median {:?}, p95 {:?}", spans[100], spans[190]);
}
