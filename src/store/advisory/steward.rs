//! The steward: who has the server's session, and with it the locks of one grant. What is asked of it, and what it answers; who
//! asks, and where it lives, every system has in its own way (`serve`, `desk`).
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::state::StateDir;

use super::Outside;
use super::held::Held;
use super::key::AdvisoryKey;
use super::local;
use super::name;
use super::server::{Reach, Session};
use super::words::{Answer, Ask, Fault, HeldBy, Wanted};

/// What it works with.
pub(super) struct Steward<'a> {
    pub(super) reach: &'a Reach,
    pub(super) state: &'a StateDir,
    pub(super) directory: PathBuf,
    /// A lock of this machine serves when nobody answers.
    pub(super) local: bool,
    #[cfg_attr(windows, expect(dead_code, reason = "where nothing outlives the command's own process"))]
    pub(super) outside: &'a Outside,
}

/// What follows a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Stay,
    Leave,
}

impl Steward<'_> {
    pub(super) fn answer(
        &self,
        ask: Ask,
        held: &mut Option<Held>,
        spare: &mut Option<Session>,
        maker: bool,
    ) -> (Answer, Next) {
        let (ask, held) = match (ask, held) {
            (Ask::Take(wanted), held) if maker => return (self.take(*wanted, held, spare), Next::Stay),
            (Ask::Take(_), _) => return (Answer::Lost, Next::Stay),
            (_, None) => return (Answer::Lost, Next::Stay),
            (ask, Some(held)) => (ask, held),
        };
        match ask {
            Ask::Facts => (Answer::Facts(Box::new(held.wanted.facts.clone())), Next::Stay),
            Ask::Prove { key, limit_ms } if held.is_of(&key) => (held.prove(limit_ms), Next::Stay),
            Ask::Files { key, files, limit_ms } if held.is_of(&key) => {
                held.wanted.facts.files = files;
                self.told(held);
                (held.prove(limit_ms), Next::Stay)
            }
            Ask::Release { key, lingers: true, limit_ms } if held.is_of(&key) => {
                let answer = match held.prove(limit_ms) {
                    Answer::Held { .. } => Answer::Done,
                    other => other,
                };
                if matches!(answer, Answer::Failed(_)) {
                    return (answer, Next::Stay);
                }
                self.close_door(held);
                if !matches!(answer, Answer::Done) {
                    return (answer, Next::Leave);
                }
                held.linger();
                (answer, Next::Stay)
            }
            Ask::Release { key, lingers: false, limit_ms } if held.is_of(&key) => {
                let answer = held.release(limit_ms);
                let next = if matches!(answer, Answer::Failed(_)) { Next::Stay } else { Next::Leave };
                if next == Next::Leave {
                    // Order: before the answer, so that who asks again finds it settled.
                    self.close_door(held);
                }
                (answer, next)
            }
            _ => (Answer::Lost, Next::Stay),
        }
    }

    fn take(&self, wanted: Wanted, held: &mut Option<Held>, spare: &mut Option<Session>) -> Answer {
        if let Some(held) = held {
            return match held.wanted.grant == wanted.grant && held.is_of(&wanted.key) {
                true => Answer::Taken { alone: None },
                false => Answer::Lost,
            };
        }
        match self.try_to_take(wanted, held, spare) {
            Ok(Ok(alone)) => Answer::Taken { alone },
            Ok(Err(by)) => Answer::Busy(by),
            Err(fault) => Answer::Failed(fault),
        }
    }

    fn try_to_take(
        &self,
        mut wanted: Wanted,
        held: &mut Option<Held>,
        spare: &mut Option<Session>,
    ) -> Result<Result<Option<String>, HeldBy>, Fault> {
        let keys: Vec<i64> =
            wanted.facts.resources.iter().map(|resource| AdvisoryKey::of_resource(resource).0).collect();
        let name = name::of(&wanted.facts.owner);
        // Order: this machine's lock first, so that whoever got it while nobody answered keeps those out who come when
        // the server does.
        let files = match self.local.then(|| local::take(self.state, &self.directory, &keys, &name)).transpose()? {
            None => Vec::new(),
            Some(Ok(files)) => files,
            Some(Err(by)) => return Ok(Err(by)),
        };
        let (limit, ttl) = (Duration::from_millis(wanted.limit_ms), Duration::from_millis(wanted.ttl_ms));
        let until = Instant::now() + limit;
        let mut session = spare.take().map_or_else(Session::new, Ok)?;
        let (session, alone) = match session.open(self.reach, &name, ttl, limit) {
            Ok(()) => match session.take(&keys, until.saturating_duration_since(Instant::now()))? {
                None => (Some(session), None),
                Some(by) => {
                    *spare = Some(session);
                    return Ok(Err(by));
                }
            },
            Err(Fault::Unreachable(why) | Fault::NoWay { why, .. }) if self.local => (None, Some(why)),
            Err(fault) => return Err(fault),
        };
        wanted.facts.local = session.is_none();
        let door = self.make_door(&wanted).map_err(|error| {
            Fault::Failed(format!("{}: nobody can be told of it there: {error}", self.directory.display()))
        })?;
        *held = Some(Held { wanted, keys, session, files, door, unlocking: false, until: None });
        Ok(Ok(alone))
    }
}
