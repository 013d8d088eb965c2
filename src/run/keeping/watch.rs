//! The work of a keeper that has no command: renews what its session holds, leaves what is not its session's any more, or is
//! another hold of it, and gives back what the session holds by its own word when the anchor has ended.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock as _, SystemClock};
use crate::config::StoreSetting;
use crate::report::rough_span;
use crate::run::Context;
use crate::run::files::{Before, path_of, plaintext_of};
use crate::settle;
use crate::state::{Post, StateDir};
use crate::store::{
    Ended, Ending, FileRecord, HistoryFilter, Holding, LeaseState, LeaseView, Release, Renewal, Settlement, Store,
    StoreError, Word,
};
use crate::supervise::{Beat, Cause, Keeping, LetGo};
use crate::terms::{FencingToken, Resource, SessionId};

use super::line;

/// So many ended leases of a resource are looked at for how the hold came to its token. Between two beats there are few.
const ROWS: u32 = 1_000;

/// One lease that it keeps.
pub(super) struct Hold {
    pub(super) resource: Resource,
    /// Under which it was seen last.
    pub(super) token: FencingToken,
    pub(super) post: Post,
}

/// The keeper's work.
pub(super) struct Watch<'a> {
    pub(super) context: &'a Context,
    pub(super) clock: Arc<SystemClock>,
    pub(super) setting: StoreSetting,
    pub(super) state: StateDir,
    pub(super) host_id: String,
    /// Opened for each word to it: others may want the connection meanwhile.
    pub(super) store: Option<Box<dyn Store>>,
    pub(super) session: SessionId,
    pub(super) label: String,
    pub(super) anchor: String,
    pub(super) most: Duration,
    pub(super) lasts: Duration,
    pub(super) holds: Vec<Hold>,
}

/// How a lease of ours stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Its session holds it by its own word, without a command.
    Rests,
    /// What a command left half done is kept for its session, or it was acquired on another machine: renewed while the anchor lives,
    /// and then left to its time.
    Kept,
    /// A command of its session runs under it.
    Runs,
    /// It is bad, or plaintext: whoever looks after that has it.
    Stays,
    /// It is not its session's any more, or not for long, or another hold.
    Gone,
}

impl Watch<'_> {
    fn store(&mut self) -> Result<&mut Box<dyn Store>, StoreError> {
        if self.store.is_none() {
            self.store = Some(crate::run::open_untold(self.context, &self.state, &self.setting)?);
        }
        self.store.as_mut().ok_or_else(|| StoreError::Failed("it was not opened".to_owned()))
    }

    fn resources(&self) -> Vec<Resource> {
        self.holds.iter().map(|hold| hold.resource.clone()).collect()
    }

    /// Leaves the posts of these; what nobody has given back here is not this keeper's any more.
    fn leave(&mut self, of: impl Fn(&Resource) -> bool) {
        let (left, stay) = std::mem::take(&mut self.holds).into_iter().partition(|hold| of(&hold.resource));
        self.holds = stay;
        let left: Vec<Hold> = left;
        left.into_iter().for_each(|hold| hold.post.leave());
    }

    fn holding(&self, of: impl Fn(&Resource) -> bool) -> Holding {
        let kept = self.holds.iter().filter(|hold| of(&hold.resource));
        let resources = kept.map(|hold| (hold.resource.clone(), hold.token)).collect();
        Holding::Kept { session: self.session, resources }
    }

    /// How each of them stands, under whatever token it has by now.
    fn look(&mut self, limit: Duration) -> Result<Vec<(Resource, Standing)>, StoreError> {
        let resources = self.resources();
        let live = self.store()?.leases(Some(&resources), limit)?;
        let mut looked = Vec::new();
        for at in 0..self.holds.len() {
            let resource = self.holds[at].resource.clone();
            let own = live.iter().find(|lease| lease.resource == resource && lease.session == self.session);
            let standing = match own {
                Some(lease) if self.is_the_same(at, lease, limit)? => {
                    self.holds[at].token = lease.token;
                    standing(lease, &self.host_id)
                }
                _ => Standing::Gone,
            };
            looked.push((resource, standing));
        }
        Ok(looked)
    }

    /// Whether this lease of the session is what it was hired for.
    fn is_the_same(&mut self, at: usize, lease: &LeaseView, limit: Duration) -> Result<bool, StoreError> {
        let known = self.holds[at].token;
        if lease.token <= known {
            return Ok(lease.token == known);
        }
        let name = Some(lease.resource.name.to_string());
        let filter = HistoryFilter { name, since: None, limit: Some(ROWS) };
        let past = self.store()?.history(&filter, limit)?;
        Ok(line::leads(&past, &lease.resource, self.session, (known, lease.token), lease.acquired_at))
    }

    /// Not all of them rest: renews those that do, and leaves those that are gone.
    fn renew_what_rests(&mut self, limit: Duration) -> Result<Beat, StoreError> {
        let looked = self.look(limit)?;
        let is =
            |resource: &Resource, of: &[Standing]| looked.iter().any(|(it, now)| it == resource && of.contains(now));
        self.leave(|resource| is(resource, &[Standing::Gone]));
        if self.holds.is_empty() {
            return Ok(Beat::Lost(Cause::Gone));
        }
        let rest = [Standing::Rests, Standing::Kept, Standing::Stays];
        if !self.holds.iter().any(|hold| is(&hold.resource, &rest)) {
            // Their commands have keepers of their own.
            return Ok(Beat::Renewed(self.lasts));
        }
        let holding = self.holding(|resource| is(resource, &rest));
        Ok(match self.store()?.renew(&holding, limit)? {
            Renewal::Renewed(lasts) => Beat::Renewed(lasts),
            // Something has changed since the look; it is looked again soon.
            Renewal::Revoked | Renewal::Gone => Beat::Unknown,
        })
    }

    fn renew_now(&mut self, limit: Duration) -> Result<Beat, StoreError> {
        let holding = self.holding(|_| true);
        let beat = match self.store()?.renew(&holding, limit)? {
            Renewal::Renewed(lasts) => Beat::Renewed(lasts),
            Renewal::Revoked | Renewal::Gone => self.renew_what_rests(limit)?,
        };
        if let Beat::Renewed(lasts) = beat {
            self.lasts = lasts;
        }
        Ok(beat)
    }

    fn let_go_now(&mut self, limit: Duration) -> Result<LetGo, StoreError> {
        if !self.goes_on() {
            return Ok(LetGo::Done);
        }
        let looked = self.look(limit)?;
        let note = Some(format!("its session's process ended: {}", self.anchor));
        // The last by its bytes first, as at a session's end.
        for (resource, standing) in looked.iter().rev() {
            if *standing == Standing::Rests {
                // Nobody has said that the work is done.
                let settlement = Settlement::whole(Ending::Release(Ended::Failed), Vec::new()).noting(note.clone());
                let holding = self.holding(|it| it == resource);
                match self.store()?.settle(&holding, &settlement, limit)? {
                    // A command has begun meanwhile, or it is somebody else's: the next look tells.
                    Release::NotOurs => continue,
                    Release::Released => {}
                }
            }
            if *standing != Standing::Runs {
                self.leave(|left| left == resource);
            }
        }
        Ok(if self.holds.is_empty() { LetGo::Done } else { LetGo::Runs })
    }
}

fn standing(lease: &LeaseView, host_id: &str) -> Standing {
    match lease.state {
        LeaseState::Quarantined => Standing::Stays,
        LeaseState::Revoked | LeaseState::Remote => Standing::Gone,
        _ if lease.pid.is_some() => Standing::Runs,
        _ if plaintext_of(&lease.files).is_some() => Standing::Stays,
        // A failure that changed nothing keeps nobody out once nobody is there to go on.
        LeaseState::Kept if lease.host_id == host_id && wrote_nothing(lease) => Standing::Rests,
        _ if lease.explicit && lease.state != LeaseState::Kept && lease.host_id == host_id => Standing::Rests,
        _ => Standing::Kept,
    }
}

/// A command of it has failed, and every file is byte for byte as it was before this command and those before it.
fn wrote_nothing(lease: &LeaseView) -> bool {
    let is_as_before = |record: &FileRecord| {
        let now = Before::read(&path_of(record));
        now.is_ok_and(|now| now.digest() == record.before)
    };
    lease.reason.as_deref().is_some_and(settle::is_of_nothing_written)
        && !lease.files.is_empty()
        && lease.files.iter().all(is_as_before)
}

impl Keeping for Watch<'_> {
    fn prove(&mut self, limit: Duration) -> Result<Duration, String> {
        let beat = self.renew_now(limit);
        self.store = None;
        match beat.map_err(|error| error.to_string())? {
            Beat::Renewed(lasts) => Ok(lasts),
            Beat::Unknown => Ok(self.lasts),
            Beat::Lost(_) => Err("it was given back or taken away meanwhile".to_owned()),
        }
    }

    fn renew(&mut self, limit: Duration) -> Beat {
        if !self.goes_on() {
            return Beat::Lost(Cause::Gone);
        }
        let beat = self.renew_now(limit).unwrap_or(Beat::Unknown);
        self.store = None;
        beat
    }

    fn goes_on(&mut self) -> bool {
        self.holds.retain(|hold| hold.post.stands());
        !self.holds.is_empty()
    }

    fn let_go(&mut self, limit: Duration) -> LetGo {
        let told = self.let_go_now(limit).unwrap_or(LetGo::Unknown);
        self.store = None;
        told
    }

    fn tire(&mut self, limit: Duration) {
        if !self.goes_on() {
            return;
        }
        let (session, at) = (self.session, self.clock.wall_ms());
        let holder = format!("{session} ({})", self.label);
        let text = format!(
            "it was kept alive for {}, the most that max_hold allows, and ends in {} unless this session acquires it again",
            rough_span(self.most),
            rough_span(self.lasts)
        );
        let words = self.resources().into_iter().map(|resource| Word {
            holder: holder.clone(),
            about: resource.name.to_string(),
            text: text.clone(),
            at,
        });
        let words: Vec<Word> = words.collect();
        if let Some(board) = self.store().ok().and_then(|store| store.board()) {
            for word in &words {
                let _it_is_seen_in_status_too = board.leave_word(session, word, limit);
            }
        }
        self.leave(|_| true);
    }
}
