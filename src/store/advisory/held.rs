//! What a steward holds.
#![forbid(unsafe_code)]

use std::fs::File;
use std::time::{Duration, Instant};

use super::Door;
use super::server::Session;
use super::words::{Answer, Wanted};

/// How long the word that begins a lingering may take, in milliseconds.
const LAST_WORD_MS: u64 = 2000;

/// The locks of one grant, and what guards them.
pub(super) struct Held {
    pub(super) wanted: Wanted,
    pub(super) keys: Vec<i64>,
    /// None: locked on this machine alone.
    pub(super) session: Option<Session>,
    /// Locks of this machine.
    #[expect(dead_code, reason = "held, not read")]
    pub(super) files: Vec<File>,
    /// Where others learn of it.
    pub(super) door: Door,
    /// It was to be unlocked, and the server has not said that it was.
    pub(super) unlocking: bool,
    /// Until then it is locked for what may run on.
    pub(super) until: Option<Instant>,
}

impl Held {
    pub(super) fn is_of(&self, key: &str) -> bool {
        self.wanted.key == key
    }

    pub(super) fn prove(&mut self, limit_ms: u64) -> Answer {
        let held = Answer::Held { ttl_ms: self.wanted.ttl_ms };
        let Some(session) = &mut self.session else { return held };
        match session.proves(&self.keys, Duration::from_millis(limit_ms)) {
            Ok(true) => held,
            Ok(false) => Answer::Lost,
            Err(fault) => Answer::Failed(fault),
        }
    }

    pub(super) fn release(&mut self, limit_ms: u64) -> Answer {
        let Some(session) = &mut self.session else { return Answer::Done };
        let limit = Duration::from_millis(limit_ms);
        // One that was unlocked by a question whose answer came too late was ours until then, if the session still is.
        if std::mem::replace(&mut self.unlocking, true) {
            match session.proves(&self.keys, limit) {
                Ok(true) => {}
                Ok(false) if session.stands() => return Answer::Done,
                Ok(false) => return Answer::Lost,
                Err(fault) => return Answer::Failed(fault),
            }
        }
        match session.unlock(&self.keys, limit) {
            Ok(true) => Answer::Done,
            Ok(false) => Answer::Lost,
            Err(fault) => Answer::Failed(fault),
        }
    }

    pub(super) fn linger(&mut self) {
        // The server counts from the last word that it heard. One that is not heard any more counts from then on.
        let _heard_or_not = self.prove(LAST_WORD_MS);
        self.until = Some(Instant::now() + Duration::from_millis(self.wanted.ttl_ms));
    }
}
