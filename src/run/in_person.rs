//! What this process does under a lease itself, without a command below it: a restore, an adoption. It may die over that
//! like any other, and its death is proven like any other's: nobody waits for the end of its time.
#![forbid(unsafe_code)]

use crate::state::{LiveFile, StateDir};
use crate::store::Request;

use super::Context;

/// The kernel's lock by which others know that we live.
#[derive(Debug)]
#[must_use]
pub struct InPerson(Option<LiveFile>);

impl InPerson {
    /// From here on the request, and the lease it gets, stand and fall with this process. Where no live file can be made (a
    /// full disk is one reason for a restore) the time decides.
    pub fn stands_for(context: &Context, state: &StateDir, request: &mut Request) -> Self {
        let live = LiveFile::create(state, request.grant, crate::clock::Clock::now(context.clock.as_ref())).ok();
        request.live = live.as_ref().map(LiveFile::live);
        Self(live)
    }

    /// The store has settled the grant, or never made it.
    pub fn is_over(self) {
        if let Some(live) = self.0 {
            live.remove();
        }
    }
}
