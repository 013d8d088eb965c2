//! How long a waiter sleeps between two looks.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::store::Distance;

/// The first in line looks often, so that a hand-over is prompt. Those behind look less often: before it is a waiter's turn
/// everybody before it has one, and none of these is over in less time than a hand-over takes. Across a network a look costs
/// others more than a few milliseconds of a processor; who is called looks only for what nobody calls out, as the end of a
/// holder that is gone. `jitter` is any number; it spreads waiters that started together.
pub(super) fn pause(distance: Distance, place: usize, jitter: u64) -> Duration {
    let before = u64::try_from(place.saturating_sub(1)).unwrap_or(u64::MAX);
    let base = match distance {
        Distance::Near => before.saturating_mul(6).clamp(3, 200),
        Distance::Far => before.saturating_mul(25).clamp(40, 500),
        Distance::Calling if before == 0 => 200,
        // Well within the silence after which others skip a waiter.
        Distance::Calling => 900,
    };
    let spread = Duration::from_micros(jitter % (base * 1_000));
    Duration::from_millis(base) / 2 + spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_sleeps_long_and_those_behind_sleep_longer() {
        // Of the first in line and of the last: the shortest and the longest, in milliseconds.
        let cases =
            [(Distance::Near, [1, 5, 300]), (Distance::Far, [20, 60, 750]), (Distance::Calling, [100, 300, 1350])];
        for (distance, [shortest, first, longest]) in cases {
            for jitter in [0, 1, 999_999_999] {
                assert!(pause(distance, 1, jitter) <= Duration::from_millis(first), "{distance:?}");
                for place in [1, 2, 3, 10, 100, usize::MAX] {
                    let span = pause(distance, place, jitter);
                    let within = Duration::from_millis(shortest)..=Duration::from_millis(longest);
                    assert!(within.contains(&span), "{distance:?} {place} {span:?}");
                }
            }
            assert!(pause(distance, 20, 0) > pause(distance, 1, 0), "{distance:?}");
        }
        // Waiters that started together are spread over the whole of it, to the microsecond.
        assert_eq!(pause(Distance::Far, 1, 39_999), Duration::from_micros(20_000 + 39_999));
        assert_eq!(pause(Distance::Far, 1, 40_000), Duration::from_micros(20_000));
    }
}
