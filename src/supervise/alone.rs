//! A keeper without a command: it renews what a session holds between two commands, for as long as another process lives,
//! of which it is no parent, and gives it back when that has ended. It has a session of its own, no terminal, no descriptor
//! and no directory of the caller's, and heeds no signal that can be left unheeded: whoever waits for the caller's output,
//! or for its terminal, is not held up.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::path::PathBuf;
use std::time::Duration;

use crate::clock::{Clock, Moment};
use crate::terms::Times;

use super::course::{Act, Course};
use super::link::{Heard, Link, Stand, Word};
use super::unix::{self, Notice, Process, Side, Timer};
use super::{Beat, tree};

/// How long the caller waits for the word that it is at its post.
const STANDS_WITHIN: Duration = Duration::from_secs(10);

/// Between two tries to give a lease back, at most.
const AGAIN: Duration = Duration::from_secs(1);

/// What it does for the lease. Lives in the keeper's process.
pub trait Keeping {
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
        Ok(kept) => {
            // Order: nothing of the caller's is open any more when it goes on.
            kept.shut(&link)?;
            link.say(&Stand::Taken)?;
            drop(link);
            kept.stay()
        }
        Err(why) => link.say(&Stand::Refused(why)),
    }
}

/// It stands.
struct Kept<'a, K> {
    keeping: K,
    clock: &'a dyn Clock,
    anchor: Process,
    notice: Notice,
    timer: Timer,
    course: Course,
    times: Times,
    until: Moment,
    keep: Vec<RawFd>,
}

impl<'a, K: Keeping> Kept<'a, K> {
    fn at(place: Place<K>, clock: &'a dyn Clock) -> io::Result<Self> {
        let (pid, started) = place.anchor;
        let anchor = Process::open(pid.cast_signed())?;
        // Order: looked at when we have a handle on it. A number that was used again meanwhile is another process.
        if tree::member(pid.cast_signed()).is_none_or(|member| member.started() != started) {
            return Err(io::Error::other("the process that it was to be kept for has ended"));
        }
        let (notice, timer) = (Notice::of(&place.watched)?, Timer::new()?);
        let Place { keeping, times, sent, lasts, most, keep, .. } = place;
        let (course, until) = (Course::without_a_command(times, sent, lasts), clock.now().after(most));
        Ok(Self { keeping, clock, anchor, notice, timer, course, times, until, keep })
    }

    /// Leaves the caller's session and directory, and closes what is the caller's.
    fn shut(&self, link: &Link) -> io::Result<()> {
        unix::own_session()?;
        std::env::set_current_dir("/")?;
        unix::null_stdio()?;
        let own = [link.as_fd(), self.anchor.as_fd(), self.notice.as_fd(), self.timer.as_fd()];
        let own: Vec<RawFd> = own.iter().map(|fd| fd.as_raw_fd()).chain(self.keep.iter().copied()).collect();
        unix::close_all_but(&own);
        Ok(())
    }

    fn stay(mut self) -> io::Result<()> {
        loop {
            let wake = self.course.wake_at().unwrap_or(self.until);
            self.timer.set(Some(wake.min(self.until)))?;
            let ready = unix::wait_readable(&[self.anchor.as_fd(), self.notice.as_fd(), self.timer.as_fd()], None)?;
            if ready[2] {
                self.timer.clear();
            }
            if ready[1] {
                self.notice.clear();
                if !self.keeping.goes_on() {
                    return Ok(());
                }
            }
            let now = self.clock.now();
            if ready[0] {
                return self.let_go();
            }
            if now >= self.until {
                self.keeping.tire(self.course.patience_while_nothing_runs());
                return Ok(());
            }
            if (ready[1] || self.course.act(now) != Act::Wait) && !self.beat(ready[1]) {
                return Ok(());
            }
        }
    }

    /// Renews once. False when nothing is left to keep. `anew`: it may have been acquired with another TTL meanwhile.
    fn beat(&mut self, anew: bool) -> bool {
        let sent = self.clock.now();
        let beat = self.keeping.renew(self.course.patience_while_nothing_runs());
        match beat {
            Beat::Lost(_) => return false,
            // What a command left kept lasts as long as that command's would; the hold that comes back may be shorter.
            Beat::Renewed(lasts) if lasts < self.times.ttl || (anew && lasts != self.times.ttl) => {
                if let Ok(times) = Times::new(Some(lasts), None, None, None) {
                    self.times = times;
                    self.course = Course::without_a_command(times, sent, lasts);
                }
            }
            Beat::Renewed(_) | Beat::Unknown => {}
        }
        let _nothing_to_stop = self.course.beaten(beat, sent, self.clock.now());
        true
    }

    /// Until the lease is given back, or has ended by itself.
    fn let_go(&mut self) -> io::Result<()> {
        loop {
            let told = self.keeping.let_go(self.course.patience_while_nothing_runs());
            let now = self.clock.now();
            let over = match told {
                LetGo::Done => true,
                LetGo::Runs => now >= self.until,
                LetGo::Unknown => now >= self.course.ends_at(),
            };
            if over {
                return Ok(());
            }
            self.timer.set(Some(now.after(self.times.heartbeat.min(AGAIN))))?;
            let ready = unix::wait_readable(&[self.notice.as_fd(), self.timer.as_fd()], None)?;
            self.timer.clear();
            if ready[0] {
                self.notice.clear();
                if !self.keeping.goes_on() {
                    return Ok(());
                }
            }
        }
    }
}
