//! `acquire --keep-alive`: a process of its own renews what the session holds between its commands, by the wrapper's
//! heartbeat, for as long as the session's anchor lives and `max_hold` at most. It holds by the session's word alone, so
//! what the session's commands adopt and hand back meanwhile stays kept, and what the session gives back, or what is taken
//! from it, does not.
#![forbid(unsafe_code)]

use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::{Clock as _, Moment, SystemClock};
use crate::config::{Address, StoreSetting};
use crate::holder::{self, ProcFs, Process};
use crate::invocation;
use crate::report::rough_span;
use crate::state::{Post, StateDir};
use crate::store::{
    Ended, Ending, Holding, LeaseState, LeaseView, Release, Renewal, Settlement, Store, StoreError, Word,
};
use crate::supervise::{self, Alone, Beat, Cause, Keeping, LetGo, Place};
use crate::terms::{Resource, SessionId, Times};

use super::files::plaintext_of;
use super::{Context, Keepers, env_of};

/// What was granted, told to the keeper.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kept {
    /// Whose.
    pub session: SessionId,
    /// What people call it.
    pub label: String,
    /// What it holds.
    pub resources: Vec<Resource>,
    /// When the renew was sent that confirmed it.
    pub sent: Moment,
    /// For how long it lasts without another.
    pub lasts: Duration,
    /// For how long it is kept at most.
    pub most: Duration,
}

/// A keeper that idles until it is told what was granted. Dropped before that it goes.
#[derive(Debug)]
pub struct Standby {
    alone: Alone,
    /// For whom it will keep.
    pub anchor: Process,
}

impl Standby {
    /// Tells it to begin. The answer is its process id.
    ///
    /// # Errors
    /// Why it cannot, in one clause. Nobody keeps it then.
    pub fn begin(self, kept: &Kept) -> Result<u32, String> {
        let words = serde_json::to_string(kept).map_err(|error| error.to_string())?;
        self.alone.begin(words)
    }
}

/// Hires the keeper for what is about to be acquired from this store. Only while this process has one thread, and before a
/// store is connected. None when no process is above this one that outlives it.
///
/// # Errors
/// The system has no process left for it.
pub fn standby(context: &Context, setting: &StoreSetting) -> Result<Option<Standby>, StoreError> {
    let Some(anchor) = holder::anchor(&ProcFs::new()) else { return Ok(None) };
    // It stays for hours, and what was typed may hold a secret.
    invocation::wipe_arguments();
    let take = |words: &str| take(context, setting, &anchor, words);
    let alone = supervise::hire_alone(context.clock.as_ref(), take)
        .map_err(|error| StoreError::Failed(format!("no process to keep it alive: {error}")))?;
    Ok(Some(Standby { alone, anchor }))
}

/// What the keeper makes of the words, in its own process.
fn take<'a>(
    context: &'a Context,
    setting: &StoreSetting,
    anchor: &Process,
    words: &str,
) -> Result<Place<Watch<'a>>, String> {
    // What is looked for by it is what runs under a lease above us: we do not.
    invocation::wipe_variable("LOCKED_LEASE");
    let kept: Kept = serde_json::from_str(words).map_err(|error| error.to_string())?;
    let state = StateDir::open(&env_of(context)).map_err(|error| error.to_string())?;
    let keepers = Keepers::of(&state, setting);
    let mut posts = Vec::new();
    for resource in kept.resources {
        let post = keepers.take(kept.session, &resource).map_err(|error| error.to_string())?;
        posts.push((resource, post));
    }
    let times = Times::new(Some(kept.lasts), None, None, None).map_err(|error| error.to_string())?;
    let watched = posts.iter().map(|(_, post)| post.path().to_owned()).collect();
    let keep = posts.iter().map(|(_, post)| post.file().as_raw_fd()).collect();
    let anchored = (anchor.pid, anchor.started);
    let keeping = Watch {
        context,
        clock: context.clock.clone(),
        setting: from_anywhere(setting.clone()),
        store: None,
        session: kept.session,
        label: kept.label,
        anchor: format!("{} ({})", anchor.program, anchor.pid),
        most: kept.most,
        lasts: kept.lasts,
        state,
        posts,
    };
    let (sent, lasts, most) = (kept.sent, kept.lasts, kept.most);
    Ok(Place { keeping, anchor: anchored, times, sent, lasts, most, watched, keep })
}

/// The keeper works in another directory.
fn from_anywhere(mut setting: StoreSetting) -> StoreSetting {
    if let Address::Text(text) = &setting.address
        && let Some(file) = text.strip_prefix("sqlite:").filter(|file| !file.is_empty())
        && let Ok(absolute) = std::path::absolute(file)
        && let Some(absolute) = absolute.to_str()
    {
        setting.address = Address::Text(format!("sqlite:{absolute}"));
    }
    setting
}

/// The keeper's work.
struct Watch<'a> {
    context: &'a Context,
    clock: Arc<SystemClock>,
    setting: StoreSetting,
    state: StateDir,
    /// Opened for each word to it: others may want the connection meanwhile.
    store: Option<Box<dyn Store>>,
    session: SessionId,
    label: String,
    anchor: String,
    most: Duration,
    lasts: Duration,
    posts: Vec<(Resource, Post)>,
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
            self.store = super::open_untold(self.context, &self.state, &self.setting).ok();
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
