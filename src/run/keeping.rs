//! `acquire --keep-alive`: a process of its own renews what the session holds between its commands, by the wrapper's
//! heartbeat, for as long as the session's anchor lives and `max_hold` at most. It holds by the session's word and the tokens
//! of what was granted, which it follows through the adoptions of the session's commands: so what they hand back stays kept,
//! and what the session gives back, or what is taken from it, does not, whoever holds it next.
#![forbid(unsafe_code)]

mod line;
mod watch;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Moment;
use crate::config::StoreSetting;
use crate::holder::{self, ProcFs, Process};
use crate::invocation;
use crate::platform;
use crate::state::StateDir;
use crate::store::StoreError;
use crate::supervise::{self, Alone, Place};
use crate::terms::{FencingToken, Resource, SessionId, Times};

use super::{Context, Keepers, env_of};
use watch::{Hold, Watch};

/// What was granted, told to the keeper.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kept {
    /// Whose.
    pub session: SessionId,
    /// What people call it.
    pub label: String,
    /// What it holds, under which tokens.
    pub tokens: Vec<(Resource, FencingToken)>,
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
    let mut holds = Vec::new();
    for (resource, token) in kept.tokens {
        let post = keepers.take(kept.session, &resource).map_err(|error| error.to_string())?;
        holds.push(Hold { resource, token, post });
    }
    let times = Times::new(Some(kept.lasts), None, None, None).map_err(|error| error.to_string())?;
    let watched = holds.iter().map(|hold| hold.post.path().to_owned()).collect();
    let keep = holds.iter().map(|hold| platform::tied(hold.post.file())).collect();
    let anchored = (anchor.pid, anchor.started);
    let keeping = Watch {
        context,
        clock: context.clock.clone(),
        setting: setting.clone(),
        store: None,
        session: kept.session,
        label: kept.label,
        anchor: format!("{} ({})", anchor.program, anchor.pid),
        most: kept.most,
        lasts: kept.lasts,
        host_id: state.host_id(context.clock.as_ref()),
        state,
        holds,
    };
    let (sent, lasts, most) = (kept.sent, kept.lasts, kept.most);
    Ok(Place { keeping, anchor: anchored, times, sent, lasts, most, watched, keep })
}
