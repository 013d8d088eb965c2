//! How it comes into being: forked idle, told to begin, everything of the caller's closed.
#![forbid(unsafe_code)]

use std::io;
use std::time::Duration;

use crate::clock::Clock;
use crate::supervise::link::{Heard, Link, Stand, Word};
use crate::supervise::unix::{self, Side};

use super::stay::Kept;
use super::{Keeping, Place};

/// How long the caller waits for the word that it is at its post.
const STANDS_WITHIN: Duration = Duration::from_secs(20);

/// How long its first renew may take.
const PROVES_WITHIN: Duration = Duration::from_secs(10);

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
