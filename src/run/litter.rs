//! Live files that nobody needs any more: their holders were killed, and the store knows them no longer.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::Clock as _;
use crate::config::StoreSetting;
use crate::notes::Notes;
use crate::state::{self, Abandoned, StateDir};
use crate::store::{Store, StoreError};
use crate::terms::GrantId;

use super::Context;

/// Younger ones are left alone: they may not be locked yet.
const AGE: Duration = Duration::from_secs(60);
/// A run looks at so many at most; the next one looks at others.
const AT_MOST: usize = 8;
/// Who looks at all of them looks at so many at most.
const MOST: usize = 1_000;
/// How long the store may take to say what it knows.
const CALL: Duration = Duration::from_millis(500);

/// Sweeps a few of them. A file whose lease, join or ticket still stands is the proof that its holder is gone, and
/// stays. Nothing depends on it, so whatever goes wrong is for the next run.
pub(super) fn sweep(context: &Context, state: &StateDir, setting: &StoreSetting) {
    Notes::of(state, context.clock.wall_ms()).sweep();
    state::sweep_posts(state, AT_MOST);
    let abandoned = state::abandoned(state, AGE, AT_MOST);
    if abandoned.is_empty() {
        return;
    }
    let grants: Vec<GrantId> = abandoned.iter().map(|file| file.grant).collect();
    let Ok(mut store) = super::open_store(context, state, setting) else { return };
    let Ok(standing) = store.standing(&grants, CALL) else { return };
    abandoned.into_iter().filter(|file| !standing.contains(&file.grant)).for_each(Abandoned::remove);
}

/// How many there are that nobody needs, and when asked, removes them. Other than `sweep` it takes its time.
///
/// # Errors
/// The store could not say what it knows.
pub fn sweep_all(state: &StateDir, store: &mut dyn Store, remove: bool) -> Result<usize, StoreError> {
    if remove {
        state::sweep_posts(state, MOST);
    }
    let abandoned = state::abandoned(state, AGE, MOST);
    if abandoned.is_empty() {
        return Ok(0);
    }
    let grants: Vec<GrantId> = abandoned.iter().map(|file| file.grant).collect();
    let standing = store.standing(&grants, CALL)?;
    let mut count = 0;
    for file in abandoned.into_iter().filter(|file| !standing.contains(&file.grant)) {
        count += 1;
        if remove {
            file.remove();
        }
    }
    Ok(count)
}
