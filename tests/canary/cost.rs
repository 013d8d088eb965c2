//! What a look costs, by stage. Printed for people, never asserted: `cargo test canary::cost -- --nocapture`.

use std::time::Instant;

use locked::canary::{Arbiter, Verdict, native};
use locked::rules::Change;

use super::stage::{Stage, expect};

#[test]
fn the_cost_of_a_look_by_stage() {
    for (what, keys) in [("4 keys", 4), ("1,000 keys", 1000)] {
        let plaintext: String = (0..keys).map(|number| format!("KEY_{number}=value {number}\n")).collect();
        let stage = Stage::encrypted("x.env", "dotenv", &plaintext);
        stage.set("[\"NEW\"]", "\"one\"");
        let content = std::fs::read(&stage.path).expect("content");
        let real = stage.arbiter();
        let without_sops = Arbiter { sops: None, ..real.clone() };
        let keyless = Arbiter { env: Vec::new(), ..without_sops.clone() };
        let set = expect(Change::Set);
        let parse = median(|| assert!(native(&content).is_ok()));
        let structure = median(|| assert!(matches!(stage.look_with(&set, &keyless), Verdict::Unverified(_))));
        let unwrap = median(|| assert!(matches!(stage.look_with(&set, &without_sops), Verdict::Unverified(_))));
        let whole = median(|| assert_eq!(stage.look_with(&set, &real), Verdict::Sound));
        println!(
            "{what}: read alone {parse:.2} ms, native checks {structure:.2} ms, unwrap {:.2} ms, arbiter {:.1} ms",
            unwrap - structure,
            whole - unwrap
        );
    }
}

/// In milliseconds.
fn median(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..15)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
