//! Differential test of the rules for sops: a generator makes command lines, the real sops runs them on copies of real
//! files, and no file may change that [`locked::rules::classify`] did not predict.
//!
//! `LOCKED_DIFFERENTIAL=6000` runs more lines than the usual 400, `LOCKED_DIFFERENTIAL_SEED=7` other ones.
// Links, modes and `timeout` are Unix; a Windows yard would be another file.
#![cfg(unix)]
#![forbid(unsafe_code)]

mod generator;
pub(crate) mod random;
mod tally;
mod words;
mod yard;

use std::sync::Mutex;

use self::generator::line;
use self::random::Random;
use self::tally::Tally;
use self::yard::Yard;

const USUAL: usize = 400;

fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn the_real_sops_writes_no_file_that_was_not_predicted() {
    let count = number("LOCKED_DIFFERENTIAL", USUAL);
    let seed = number("LOCKED_DIFFERENTIAL_SEED", 1);
    println!("differential: {count} lines, LOCKED_DIFFERENTIAL_SEED={seed}");
    let yard = Yard::new();
    let total = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (yard, total) = (&yard, &total);
            scope.spawn(move || {
                let mut tally = Tally::default();
                for at in (worker..count).step_by(2) {
                    // Each line has a stream of its own, so that a finding can be told by seed and number alone.
                    let mut random = Random::new(seed as u64, at as u64);
                    tally.count(yard.run(at, &line(at, &mut random)));
                }
                total.lock().expect("no panic elsewhere").merge(tally);
            });
        }
    });
    let tally = total.into_inner().expect("no panic");
    println!("{tally}");
    tally.assert_sound();
    tally.assert_reached();
}
