//! Who keeps what a session holds between commands alive, as this machine knows it: one post for each lease.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::config::{Key, Settings, StoreSetting};
use crate::lease::Busy;
use crate::settle::Holds;
use crate::state::{self, Post, StateDir};
use crate::store::{self, LeaseView, StoreError};
use crate::terms::{Digest, Resource, SessionId};

/// The keepers of what is held in one store.
#[derive(Debug)]
pub struct Keepers<'a> {
    state: &'a StateDir,
    store: Digest,
}

impl<'a> Keepers<'a> {
    /// Those of this store.
    #[must_use]
    pub fn of(state: &'a StateDir, setting: &StoreSetting) -> Self {
        Self { state, store: store::place_of(setting) }
    }

    /// The process id of who keeps this lease alive; none where nobody does, or not from here.
    #[must_use]
    pub fn keeper_of(&self, lease: &LeaseView) -> Option<u32> {
        state::keeper_at(self.state, &self.name(lease.session, &lease.resource))
    }

    /// Whether this lease was kept alive from here, and whoever did that was killed.
    #[must_use]
    pub fn was_deserted(&self, lease: &LeaseView) -> bool {
        state::is_deserted(self.state, &self.name(lease.session, &lease.resource))
    }

    /// What this session held is given back, or somebody else's: whoever kept it alive leaves, without a word to the store.
    pub fn relieve(&self, session: SessionId, resources: &[Resource]) {
        resources.iter().for_each(|resource| state::relieve(self.state, &self.name(session, resource)));
    }

    /// What this session holds was acquired anew, perhaps for a shorter time: whoever keeps it alive looks at once.
    pub fn wake(&self, session: SessionId, resources: &[Resource]) {
        resources.iter().for_each(|resource| state::wake(self.state, &self.name(session, resource)));
    }

    /// This process keeps it from now on, and nobody else.
    ///
    /// # Errors
    /// The post cannot be taken.
    pub(super) fn take(&self, session: SessionId, resource: &Resource) -> Result<Post, StoreError> {
        Post::take(self.state, &self.name(session, resource))
    }

    /// One post for each lease: of a store, a session and a resource.
    fn name(&self, session: SessionId, resource: &Resource) -> String {
        let text = format!("{} {} {} {}", self.store, session.whole(), resource.scope.0, resource.name);
        Digest::of(text.as_bytes()).as_str()[..32].to_owned()
    }
}

/// For how long at most the first lease in the way is renewed in the background, where a process of this machine does that.
#[must_use]
pub fn renewed_for(keepers: &Keepers<'_>, settings: &Settings, busy: &Busy) -> Option<Duration> {
    let lease = &busy.blockers.first()?.lease;
    keepers.keeper_of(lease)?;
    Some(settings.length(Key::MaxHold).unwrap_or(Holds::default().max_hold))
}
