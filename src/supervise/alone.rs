//! A keeper without a command: it renews what a session holds between two commands, for as long as another process lives,
//! of which it is no parent, and gives it back when that has ended. It has a session of its own, no terminal, no descriptor
//! and no directory of the caller's, and heeds no signal that can be left unheeded: whoever waits for the caller's output,
//! or for its terminal, is not held up.
#![forbid(unsafe_code)]

mod stay;

use std::io;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::time::Duration;

use crate::clock::{Clock, Moment};
use crate::terms::Times;

use super::Beat;
use super::link::{Heard, Link, Stand, Word};
use super::unix::{self, Side};
use stay::Kept;

/// How long the caller waits for the word that it is at its post.
const STANDS_WITHIN: Duration = Duration::from_secs(20);

/// How long its first renew may take.
const PROVES_WITHIN: Duration = Duration::from_secs(10);

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
    /// Descriptors that must stay open.
    pub keep: Vec<RawFd>,
}

/// The caller's side. Dropped without a word it lets the keeper go, which has done nothing by then.
#[derive(Debug)]
pub struct Alone {
    link: Link,
    pid: i32,
}

/// Forks it. It idles until it is told to begin; `take` is what it makes of the words then, in its own process. Only while
/// this process has one thread, and before a store is connected.
///
/// # Errors
/// When the system has no process or descriptor left.
pub fn hire_alone<K: Keeping>(
    clock: &dyn Clock,
    take: impl FnOnce(&str) -> Result<Place<K>, String>,
) -> io::Result<Alone> {
    let (ours, theirs) = Link::pair()?;
    match unix::fork()? {
        Side::Parent(pid) => Ok(Alone { link: ours, pid }),
        Side::Child => {
            drop(ours);
            let work = std::panic::AssertUnwindSafe(|| begin(clock, theirs, take));
            let ended = std::panic::catch_unwind(work);
            unix::leave(if matches!(ended, Ok(Ok(()))) { 0 } else { crate::exit::INTERNAL });
        }
    }
}

impl Alone {
    /// Tells it to begin, and waits until it has. The answer is its process id.
    ///
    /// # Errors
    /// Why it cannot, in one clause.
    pub fn begin(self, words: String) -> Result<u32, String> {
        self.link.say(&Word::Go(words)).map_err(|error| error.to_string())?;
        match self.link.hear(Some(STANDS_WITHIN)).map_err(|error| error.to_string())? {
            Some(Heard::Said(Stand::Taken)) => Ok(self.pid.cast_unsigned()),
            Some(Heard::Said(Stand::Refused(why))) => Err(why),
            Some(Heard::Dead) => Err("the process that was to renew it has died".to_owned()),
            None => Err("the process that was to renew it does not answer".to_owned()),
        }
    }
}

fn begin<K: Keeping>(
    clock: &dyn Clock,
    link: Link,
    take: impl FnOnce(&str) -> Result<Place<K>, String>,
) -> io::Result<()> {
    unix::default_sigchld();
    unix::set_blocked(u64::MAX);
    let Some(Heard::Said(Word::Go(words))) = link.hear(None)? else { return Ok(()) };
    match take(&words).and_then(|place| Kept::at(place, clock).map_err(|error| error.to_string())) {
        Ok(mut kept) => {
            // Order: nothing of the caller's is open any more when it goes on, and what it can do from here it has shown.
            kept.shut(&link)?;
            if let Err(why) = kept.prove(PROVES_WITHIN) {
                return link.say(&Stand::Refused(why));
            }
            link.say(&Stand::Taken)?;
            drop(link);
            kept.stay()
        }
        Err(why) => link.say(&Stand::Refused(why)),
    }
}
