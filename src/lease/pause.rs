//! How long a waiter sleeps between two looks.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::store::Distance;

/// The first in line looks often, so that a hand-over is prompt; those behind look less often, since they cannot be next.
/// Across a network a look costs others more than a few milliseconds of a processor. `jitter` is any number; it spreads
/// waiters that started together.
pub(super) fn pause(distance: Distance, place: usize, jitter: u64) -> Duration {
    let usual = match place {
        0 | 1 => 3,
        2 => 6,
        3..=8 => 12,
        _ => 25,
    };
    let base = match distance {
        Distance::Near => usual,
        Distance::Far => usual * 20,
    };
    let spread = Duration::from_micros(jitter % (base * 1_000));
    Duration::from_millis(base) / 2 + spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_sleeps_long_and_those_behind_sleep_longer() {
        for place in 0..100 {
            for jitter in [0, 1, 999_999_999] {
                assert!(pause(Distance::Near, place, jitter) <= Duration::from_millis(40));
                assert!(pause(Distance::Near, place, jitter) >= Duration::from_millis(1));
                assert!(pause(Distance::Far, place, jitter) <= Duration::from_millis(750));
                assert!(pause(Distance::Far, place, jitter) >= Duration::from_millis(30));
            }
        }
        assert!(pause(Distance::Near, 20, 0) > pause(Distance::Near, 1, 0));
    }
}
