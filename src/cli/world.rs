//! What every verb that talks to the store stands on: state directory, session, store, names.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::Clock as _;
use crate::config::{Settings, StoreSetting};
use crate::exit::{self, Exit};
use crate::holder::Session;
use crate::naming::{Local, Namer, NamingError};
use crate::plan::Hand;
use crate::report;
use crate::rules::Book;
use crate::run::{self, Context, Keepers, env_of};
use crate::state::StateDir;
use crate::store::{LeaseView, Owner, Store, StoreError};
use crate::terms::{Resource, ResourceName, SessionId};

use super::RunOptions;
use super::front::refuse;

/// The world of a verb.
pub(super) struct World<'a> {
    pub(super) context: &'a Context,
    pub(super) state: StateDir,
    pub(super) session: Session,
    /// The session was named (`--session`).
    named: bool,
    pub(super) store: Box<dyn Store>,
    pub(super) settings: Settings,
    /// Which store it is.
    pub(super) setting: StoreSetting,
}

impl<'a> World<'a> {
    /// Opens everything and does the work; whatever is refused on the way has been said.
    pub(super) fn with(
        context: &'a Context,
        options: &RunOptions,
        work: impl FnOnce(&mut Self) -> Result<Exit, Exit>,
    ) -> Exit {
        Self::open(context, options.session.map(SessionId))
            .and_then(|mut world| work(&mut world))
            .unwrap_or_else(|exit| exit)
    }

    /// Opens everything.
    pub(super) fn open(context: &'a Context, session: Option<SessionId>) -> Result<Self, Exit> {
        Self::open_at(context, session, setting_of(context)?)
    }

    /// The same with a store that has been asked for already.
    pub(super) fn open_at(
        context: &'a Context,
        session: Option<SessionId>,
        setting: StoreSetting,
    ) -> Result<Self, Exit> {
        let (settings, named) = (run::settings_here(context)?, session.is_some());
        let session = run::session(context, session, &settings).map_err(|refusal| refuse(&refusal, exit::USAGE))?;
        let (state, store) = opened(context, &setting)?;
        Ok(Self { context, state, session, named, store, settings, setting })
    }

    /// Those who keep what sessions hold alive, on this machine.
    pub(super) fn keepers(&self) -> Keepers<'_> {
        Keepers::of(&self.state, &self.setting)
    }

    /// These names in their scopes, sorted and unique.
    pub(super) fn resources(&self, names: &[ResourceName]) -> Result<Vec<Resource>, Exit> {
        scoped(self.context, names, Local::Make)
    }

    /// Who we are, for a request without a running command.
    pub(super) fn owner(&self, operation: String) -> Owner {
        run::owner(self.context, &self.state, &self.session, operation, None)
    }

    /// Does the holder of this lease live?
    pub(super) fn alive(&self, lease: &LeaseView) -> &'static str {
        super::alive::alive(&self.state, &self.state.host_id(self.context.clock.as_ref()), &self.keepers(), lease)
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.context.clock.wall_ms()
    }

    /// Says a refusal whose next line acts for this very session, and gives its status.
    pub(super) fn refuse(&self, refusal: report::Refusal, status: i32) -> Exit {
        let whole = self.session.id.whole();
        refuse(&refusal.in_the_name_of(self.named.then_some(whole.as_str())), status)
    }

    pub(super) fn down(&self, error: &StoreError) -> Exit {
        down(error)
    }
}

/// These names in their scopes, sorted and unique.
pub(super) fn scoped(context: &Context, names: &[ResourceName], local: Local) -> Result<Vec<Resource>, Exit> {
    let env = env_of(context);
    let said = run::said_scope(context);
    let mut namer = Namer::new(local, &env).heeding(&said);
    // Only these have other names in the settings.
    let is_named_there = names.iter().any(|name| ["server", "workflow"].contains(&name.kind()));
    let book = if is_named_there { run::names_here(context)? } else { Book::new() };
    let hand = Hand { cwd: &context.invocation.cwd, book: &book, env: &env };
    let mut resources = Vec::new();
    for name in names {
        resources.push(hand.resource(name, &mut namer).map_err(|error| match error {
            NamingError::Settings { .. } => run::refuse_unnamed(&error),
            _ => refuse(&report::misuse(&error.to_string(), "check the repository"), exit::CONFIG),
        })?);
    }
    resources.sort();
    resources.dedup();
    Ok(resources)
}

/// The same names as others have them, for a look at what is there in any scope.
pub(super) fn meant(context: &Context, names: &[ResourceName]) -> Result<Vec<ResourceName>, Exit> {
    Ok(scoped(context, names, Local::Peek)?.into_iter().map(|resource| resource.name).collect())
}

/// The state directory and the store of the repository around the working directory. What stands in the way has been said.
pub(super) fn store_of(context: &Context) -> Result<(StateDir, Box<dyn Store>), Exit> {
    opened(context, &setting_of(context)?)
}

/// Which store the repository around the working directory has.
pub(super) fn setting_of(context: &Context) -> Result<StoreSetting, Exit> {
    run::store_here(context).map_err(|wrong| wrong.refuse(context))
}

/// The state directory, and this store.
pub(super) fn opened(context: &Context, setting: &StoreSetting) -> Result<(StateDir, Box<dyn Store>), Exit> {
    let opened = StateDir::open(&env_of(context)).and_then(|state| {
        let store = run::open_store(context, &state, setting)?;
        Ok((state, store))
    });
    opened.map_err(|error| down(&error))
}

/// How long a verb waits for one answer.
pub(super) const CALL: Duration = Duration::from_secs(10);

/// The store cannot answer.
pub(super) fn down(error: &StoreError) -> Exit {
    refuse(&report::store_down(error), run::status_of(error))
}
