//! The work of a keeper that has no command: renews what its session holds, leaves what is not its session's any more, and
//! gives the rest back when the anchor has ended.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock as _, SystemClock};
use crate::config::StoreSetting;
use crate::report::rough_span;
use crate::run::Context;
use crate::run::files::plaintext_of;
use crate::state::{Post, StateDir};
use crate::store::{Ended, Ending, Holding, LeaseState, LeaseView, Release, Renewal, Settlement, Store, Word};
use crate::supervise::{Beat, Cause, Keeping, LetGo};
use crate::terms::{Resource, SessionId};

/// The keeper's work.
pub(super) struct Watch<'a> {
    pub(super) context: &'a Context,
    pub(super) clock: Arc<SystemClock>,
    pub(super) setting: StoreSetting,
    pub(super) state: StateDir,
    /// Opened for each word to it: others may want the connection meanwhile.
    pub(super) store: Option<Box<dyn Store>>,
    pub(super) session: SessionId,
    pub(super) label: String,
    pub(super) anchor: String,
    pub(super) most: Duration,
    pub(super) lasts: Duration,
    pub(super) posts: Vec<(Resource, Post)>,
}

/// How a lease of ours stands.
enum Standing {
    /// Its session holds it without a command.
    Rests,
    /// A command of its session runs under it.
    Runs,
    /// It is bad, or plaintext: whoever looks after that has it.
    Stays,
    /// It is not its session's any more, or not for long.
    Gone,
}

impl Watch<'_> {
    fn store(&mut self) -> Option<&mut Box<dyn Store>> {
        if self.store.is_none() {
            self.store = crate::run::open_untold(self.context, &self.state, &self.setting).ok();
        }
        self.store.as_mut()
    }

    fn resources(&self) -> Vec<Resource> {
        self.posts.iter().map(|(resource, _)| resource.clone()).collect()
    }

    /// Leaves the posts of these; what nobody has given back here is not this keeper's any more.
    fn leave(&mut self, of: impl Fn(&Resource) -> bool) {
        let (left, stay) = std::mem::take(&mut self.posts).into_iter().partition(|(resource, _)| of(resource));
        self.posts = stay;
        let left: Vec<(Resource, Post)> = left;
        left.into_iter().for_each(|(_, post)| post.leave());
    }

    fn holding(&self, resources: Vec<Resource>) -> Holding {
        Holding::Session { session: self.session, resources }
    }

    /// How each of them stands.
    fn look(&mut self, limit: Duration) -> Result<Vec<(Resource, Standing)>, ()> {
        let (resources, session) = (self.resources(), self.session);
        let live = self.store().ok_or(())?.leases(Some(&resources), limit).map_err(drop)?;
        let standing = |resource: Resource| {
            let lease = live.iter().find(|lease| lease.resource == resource && lease.session == session);
            (resource, lease.map_or(Standing::Gone, standing))
        };
        Ok(resources.into_iter().map(standing).collect())
    }

    /// Not all of them rest: renews those that do, and leaves those that are gone.
    fn renew_what_rests(&mut self, limit: Duration) -> Beat {
        let Ok(looked) = self.look(limit) else { return Beat::Unknown };
        let of = |wanted: fn(&Standing) -> bool| -> Vec<Resource> {
            looked.iter().filter(|(_, standing)| wanted(standing)).map(|(resource, _)| resource.clone()).collect()
        };
        let gone = of(|standing| matches!(standing, Standing::Gone));
        let rests = of(|standing| matches!(standing, Standing::Rests | Standing::Stays));
        self.leave(|resource| gone.contains(resource));
        if self.posts.is_empty() {
            return Beat::Lost(Cause::Gone);
        }
        if rests.is_empty() {
            // Their commands have keepers of their own.
            return Beat::Renewed(self.lasts);
        }
        let holding = self.holding(rests);
        match self.store().map(|store| store.renew(&holding, limit)) {
            Some(Ok(Renewal::Renewed(lasts))) => Beat::Renewed(lasts),
            // Something has changed since the look; it is looked again soon.
            _ => Beat::Unknown,
        }
    }

    fn let_go_now(&mut self, limit: Duration) -> Result<LetGo, ()> {
        if !self.goes_on() {
            return Ok(LetGo::Done);
        }
        let looked = self.look(limit)?;
        let note = Some(format!("its session's process ended: {}", self.anchor));
        // The last by its bytes first, as at a session's end.
        for (resource, standing) in looked.iter().rev() {
            if matches!(standing, Standing::Rests) {
                // Nobody has said that the work is done.
                let settlement = Settlement::whole(Ending::Release(Ended::Failed), Vec::new()).noting(note.clone());
                let holding = self.holding(vec![resource.clone()]);
                match self.store().ok_or(())?.settle(&holding, &settlement, limit).map_err(drop)? {
                    // A command has begun meanwhile, or it is somebody else's: the next look tells.
                    Release::NotOurs => continue,
                    Release::Released => {}
                }
            }
            if !matches!(standing, Standing::Runs) {
                self.leave(|left| left == resource);
            }
        }
        Ok(if self.posts.is_empty() { LetGo::Done } else { LetGo::Runs })
    }
}

fn standing(lease: &LeaseView) -> Standing {
    match lease.state {
        LeaseState::Quarantined => Standing::Stays,
        LeaseState::Revoked | LeaseState::Remote => Standing::Gone,
        _ if lease.pid.is_some() => Standing::Runs,
        _ if plaintext_of(&lease.files).is_some() => Standing::Stays,
        _ => Standing::Rests,
    }
}

impl Keeping for Watch<'_> {
    fn renew(&mut self, limit: Duration) -> Beat {
        if !self.goes_on() {
            return Beat::Lost(Cause::Gone);
        }
        let holding = self.holding(self.resources());
        let renewed = self.store().map(|store| store.renew(&holding, limit));
        let beat = match renewed {
            Some(Ok(Renewal::Renewed(lasts))) => Beat::Renewed(lasts),
            Some(Ok(Renewal::Revoked | Renewal::Gone)) => self.renew_what_rests(limit),
            Some(Err(_)) | None => Beat::Unknown,
        };
        self.store = None;
        if let Beat::Renewed(lasts) = beat {
            self.lasts = lasts;
        }
        beat
    }

    fn goes_on(&mut self) -> bool {
        self.posts.retain(|(_, post)| post.stands());
        !self.posts.is_empty()
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
        if let Some(board) = self.store().and_then(|store| store.board()) {
            for word in &words {
                let _it_is_seen_in_status_too = board.leave_word(session, word, limit);
            }
        }
        self.leave(|_| true);
    }
}
