//! Windows: the keeper is a process that is started for it (see `successor`). What it waits for is the end of the process that
//! it keeps for; at its files it looks every second.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::clock::Clock;
use crate::supervise::windows::{Another, Maker, Successor, leave_directory, maker};

use super::tenure::{Next, Tenure};
use super::{Keeping, Place};

/// How long its first renew may take.
const PROVES_WITHIN: Duration = Duration::from_secs(10);

/// How often it looks at its files.
const LOOKS: Duration = Duration::from_secs(1);

/// The caller's side. Dropped without a word it lets the keeper go, which has done nothing by then.
#[derive(Debug)]
pub struct Alone(Successor);

/// Starts it, with the arguments that we were started with. It idles until it is told to begin; `take` is what it makes of the
/// words then. In the keeper's own process this is where it does so, and it does not come back.
///
/// # Errors
/// When the system has no process left, or it does not come here.
pub fn hire_alone<K: Keeping>(
    clock: &dyn Clock,
    arguments: &[OsString],
    take: impl FnOnce(&str) -> Result<Place<K>, String>,
) -> io::Result<Alone> {
    match maker() {
        None => Successor::start(arguments).map(Alone),
        Some(maker) => {
            keep(clock, &maker, take);
            crate::supervise::end(0)
        }
    }
}

impl Alone {
    /// Tells it to begin, and waits until it has. The answer is its process id.
    ///
    /// # Errors
    /// Why it cannot, in one clause.
    pub fn begin(mut self, words: String) -> Result<u32, String> {
        self.0.tell(&words).map_err(|error| error.to_string())?;
        let word = self.0.hear()?;
        let begun: Result<(), String> = serde_json::from_str(&word).map_err(|error| error.to_string())?;
        begun.map(|()| self.0.pid())
    }
}

fn keep<K: Keeping>(clock: &dyn Clock, maker: &Maker, take: impl FnOnce(&str) -> Result<Place<K>, String>) {
    let Some(words) = maker.work() else { return };
    let mut kept = take(&words).and_then(|place| Kept::at(place, clock).map_err(|error| error.to_string()));
    let begun = kept.as_mut().map_err(|why| why.clone()).and_then(|kept| kept.tenure.prove(PROVES_WITHIN));
    maker.say(&serde_json::to_string(&begun).unwrap_or_default());
    if let (Ok(kept), Ok(())) = (kept, begun) {
        leave_directory();
        kept.stay();
    }
}

struct Kept<'a, K> {
    tenure: Tenure<'a, K>,
    anchor: Another,
    watched: Vec<PathBuf>,
    seen: Vec<Option<SystemTime>>,
}

impl<'a, K: Keeping> Kept<'a, K> {
    fn at(place: Place<K>, clock: &'a dyn Clock) -> io::Result<Self> {
        let (pid, created) = place.anchor;
        let anchor = Another::open(pid, created)?;
        let Place { keeping, times, sent, lasts, most, watched, .. } = place;
        let tenure = Tenure::new(keeping, clock, times, (sent, lasts, most));
        let seen = modified(&watched);
        Ok(Self { tenure, anchor, watched, seen })
    }

    fn stay(mut self) {
        loop {
            let ended = self.anchor.has_ended_within(LOOKS.min(self.tenure.left()));
            let touched = self.touched();
            match self.tenure.look(touched, ended) {
                Next::Stay => {}
                Next::LetGo => return self.let_go(),
                Next::Over => return,
            }
        }
    }

    /// Whether one of its files was changed or removed since the last look.
    fn touched(&mut self) -> bool {
        let now = modified(&self.watched);
        let touched = now != self.seen;
        self.seen = now;
        touched
    }

    /// Until the lease is given back, or has ended by itself.
    fn let_go(&mut self) {
        while let Some(again) = self.tenure.let_go() {
            rest(LOOKS.min(self.tenure.until(again)));
            if self.touched() && !self.tenure.keeping.goes_on() {
                return;
            }
        }
    }
}

/// None: nobody finds it any more.
fn modified(files: &[PathBuf]) -> Vec<Option<SystemTime>> {
    files.iter().map(|file| std::fs::metadata(file).and_then(|found| found.modified()).ok()).collect()
}

#[expect(clippy::disallowed_methods, reason = "between two attempts to give back there is nothing to wait for")]
fn rest(span: Duration) {
    std::thread::sleep(span);
}
