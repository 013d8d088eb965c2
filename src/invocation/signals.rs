//! A set of signals.
#![forbid(unsafe_code)]

use std::fmt;

/// A set of the signals 1 to 64, one bit each: signal n is bit n − 1, as in the `Sig…` lines of `/proc/PID/status`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SignalSet(u64);

impl SignalSet {
    /// The set with these bits.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Its bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether the signal of this number is a member.
    #[must_use]
    pub fn contains(self, signal: i32) -> bool {
        (1..=64).contains(&signal) && self.0 >> (signal - 1) & 1 == 1
    }

    /// This set and one signal more; a number outside of 1 to 64 changes nothing.
    #[must_use]
    pub fn with(self, signal: i32) -> Self {
        if (1..=64).contains(&signal) { Self(self.0 | 1 << (signal - 1)) } else { self }
    }

    /// The members, lowest first.
    pub fn iter(self) -> impl Iterator<Item = i32> {
        (1..=64).filter(move |&signal| self.contains(signal))
    }
}

impl fmt::Debug for SignalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_signal_have_their_places() {
        let set = SignalSet::default().with(1).with(64).with(0).with(65);
        assert_eq!(set.bits(), 1 | 1 << 63);
        assert_eq!(set.iter().collect::<Vec<_>>(), [1, 64]);
        assert!(!set.contains(0) && !set.contains(65) && !set.contains(2));
    }
}
