//! A keeper without a command: it renews what a session holds between two commands, for as long as another process lives,
//! of which it is no parent, and gives it back when that has ended. It has a session of its own, no terminal, no descriptor
//! and no directory of the caller's, and heeds no signal that can be left unheeded: whoever waits for the caller's output,
//! or for its terminal, is not held up.
#![forbid(unsafe_code)]

#[cfg(unix)]
mod hired;
#[cfg(unix)]
mod stay;
#[cfg(windows)]
mod windows;

use std::path::PathBuf;
use std::time::Duration;

use crate::clock::Moment;
use crate::platform::Held;
use crate::terms::Times;

use super::Beat;

#[cfg(unix)]
pub use hired::{Alone, hire_alone};
#[cfg(windows)]
pub use windows::{Alone, hire_alone};

/// What it does for the lease. Lives in the keeper's process.
pub trait Keeping {
    /// Renews once, within `limit`, before anybody is told that it is kept. The answer is for how long it lasts.
    ///
    /// # Errors
    /// Why it cannot, in one clause.
    fn prove(&mut self, limit: Duration) -> Result<Duration, String>;
    /// Renews once, within `limit`; `Lost` when nothing is left to keep.
    fn renew(&mut self, limit: Duration) -> Beat;
    /// Whether anything is left to keep, as this machine knows it: asked when one of the watched files was touched.
    fn goes_on(&mut self) -> bool;
    /// The process that it was kept for has ended: gives it back.
    fn let_go(&mut self, limit: Duration) -> LetGo;
    /// It was kept for as long as anything may be: tells whom it concerns. It lasts its TTL from the last renew.
    fn tire(&mut self, limit: Duration);
}

/// What giving back came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum LetGo {
    /// Nothing is held any more.
    Done,
    /// A command runs under it, and has its own keeper: it is given back when that has ended.
    Runs,
    /// No answer.
    Unknown,
}

/// A keeper's place, once it is known what was granted.
#[derive(Debug)]
pub struct Place<K> {
    /// What it does.
    pub keeping: K,
    /// The process it keeps for: its id, and when it was forked.
    pub anchor: (u32, u64),
    /// The times of the lease.
    pub times: Times,
    /// When the last renew was sent.
    pub sent: Moment,
    /// For how long it was given.
    pub lasts: Duration,
    /// For how long anything is kept at most.
    pub most: Duration,
    /// Files whose touch is a word for the keeper.
    pub watched: Vec<PathBuf>,
    /// What must stay open.
    #[cfg_attr(windows, expect(dead_code, reason = "no process is a copy of another there"))]
    pub(crate) keep: Vec<Held>,
}
