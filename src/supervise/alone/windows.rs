//! Windows: no process is a copy of another here, so that nobody can stay behind with what this one knows.
#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::io;

use crate::clock::Clock;

use super::{Keeping, Place};

/// Nobody stays.
#[derive(Debug)]
pub struct Alone(Infallible);

/// Refuses.
///
/// # Errors
/// Always: not on Windows yet.
pub fn hire_alone<K: Keeping>(
    _clock: &dyn Clock,
    _take: impl FnOnce(&str) -> Result<Place<K>, String>,
) -> io::Result<Alone> {
    let why = "not on Windows yet: leave --keep-alive out, and locked renew what is held before its TTL ends";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}

impl Alone {
    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn begin(self, _words: String) -> Result<u32, String> {
        match self.0 {}
    }
}
