//! Live files that nobody needs any more: their holders were killed, and the store knows them no longer.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::Clock as _;
use crate::config::StoreSetting;
use crate::notes::Notes;
use crate::state::{self, Abandoned, StateDir};
use crate::terms::GrantId;

use super::Context;

/// Younger ones are left alone: they may not be locked yet.
const AGE: Duration = Duration::from_secs(60);
/// A run looks at so many at most; the next one looks at others.
const AT_MOST: usize = 8;
/// How long the store may take to say what it knows.
const CALL: Duration = Duration::from_millis(500);

/// Sweeps a few of them. A file whose lease, join or ticket still stands is the proof that its holder is gone, and
/// stays. Nothing depends on it, so whatever goes wrong is for the next run.
pub(super) fn sweep(context: &Context, state: &StateDir, setting: &StoreSetting) {
    Notes::of(state, context.clock.wall_ms()).sweep();
    let abandoned = state::abandoned(state, AGE, AT_MOST);
    if abandoned.is_empty() {
        return;
    }
    let grants: Vec<GrantId> = abandoned.iter().map(|file| file.grant).collect();
    let Ok(mut store) = super::open_store(context, state, setting) else { return };
    let Ok(standing) = store.standing(&grants, CALL) else { return };
    abandoned.into_iter().filter(|file| !standing.contains(&file.grant)).for_each(Abandoned::remove);
}
