//! Connections that wait for the next who asks: the one that was used last is the warmest.
#![forbid(unsafe_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::store::postgres::link::Link;

/// Makes one; it connects when it is used.
pub(in crate::store::postgres) type Make = Box<dyn Fn() -> Link + Send + Sync>;

/// The pool.
pub(super) struct Pool {
    make: Make,
    idle: Mutex<Vec<(Link, Instant)>>,
}

impl Pool {
    pub(super) fn new(make: Make) -> Self {
        Self { make, idle: Mutex::new(Vec::new()) }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Link, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One of nobody else's.
    pub(super) fn fresh(&self) -> Link {
        (self.make)()
    }

    /// Works with one, which comes back afterwards.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Link) -> T) -> T {
        let taken = self.idle().pop();
        let mut link = taken.map_or_else(|| self.fresh(), |(link, _)| link);
        let done = work(&mut link);
        self.idle().push((link, Instant::now()));
        done
    }

    /// Lets go what nobody has used for so long.
    pub(super) fn trim(&self, unused: Duration) {
        let old: Vec<_> = self.idle().extract_if(.., |(_, used)| used.elapsed() >= unused).collect();
        // Order: not under the lock, since each says goodbye to its server.
        drop(old);
    }
}
