//! What a run starts from.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::sync::Arc;

use crate::clock::{Clock as _, SystemClock};
use crate::config::{Key, Settings, Shelf, StoreSetting};
use crate::holder::{self, NoSession, ProcFs, Search, Session, Surroundings, Variable};
use crate::invocation::Invocation;
use crate::lease::Witness;
use crate::program::FileId;
use crate::report::{self, Refusal, Voice};
use crate::state::{self, Gone, StateDir};
use crate::store::{self, LeaseView, Live, Owner, Store, StoreError};
use crate::terms::{GrantId, SessionId};

use super::{Account, spool};

/// Which session this invocation belongs to.
///
/// # Errors
/// When `--session` or `LOCKED_SESSION` makes no sense: the refusal to say.
pub fn session(context: &Context, option: Option<SessionId>, settings: &Settings) -> Result<Session, Refusal> {
    named(context, option, settings, holder::identify)
}

/// Its identity alone, which asks less of the machine: for what is done before a program that passes.
///
/// # Errors
/// As [`session`].
pub(super) fn session_id(
    context: &Context,
    option: Option<SessionId>,
    settings: &Settings,
) -> Result<SessionId, Refusal> {
    named(context, option, settings, holder::identity)
}

fn named<T>(
    context: &Context,
    option: Option<SessionId>,
    settings: &Settings,
    ask: impl FnOnce(&Surroundings<'_>) -> Result<T, NoSession>,
) -> Result<T, Refusal> {
    let option = option.map(|id| OsString::from(id.whole()));
    let own = settings.words(Key::SessionEnv);
    let variables: Vec<Variable> = own.iter().map(|name| Variable::named(name)).chain(Variable::ready()).collect();
    let processes = ProcFs::new();
    let boot_id = context.clock.boot_id();
    let host = ProcFs::host();
    ask(&Surroundings {
        option: option.as_deref(),
        env: &env_of(context),
        variables: &variables,
        boot_id: &boot_id,
        host: &host,
        processes: &processes,
    })
    .map_err(|error| report::no_session(&error))
}

/// Who this process is to the store, for what it does there.
#[must_use]
pub fn owner(context: &Context, state: &StateDir, session: &Session, operation: String, rule: Option<String>) -> Owner {
    Owner {
        session: session.id,
        label: session.label.clone(),
        host: ProcFs::host(),
        host_id: state.host_id(context.clock.as_ref()),
        pid: std::process::id(),
        operation,
        rule,
    }
}

/// What the session is called, for settings that count for some sessions alone. Who makes no sense is called nothing.
#[must_use]
pub(super) fn session_names(context: &Context, settings: &Settings) -> Vec<String> {
    session(context, None, settings).map(|session| session.names(&env_of(context))).unwrap_or_default()
}

/// The store. It is told first what it could not be told before, if there is anything.
///
/// # Errors
/// When it cannot be opened.
pub fn open_store(context: &Context, state: &StateDir, setting: &StoreSetting) -> Result<Box<dyn Store>, StoreError> {
    let mut store = open_untold(context, state, setting)?;
    spool::send(state, setting, store.as_mut());
    Ok(store)
}

/// The store, for who has a deadline to keep or only looks: nobody is told of anything.
///
/// # Errors
/// When it cannot be opened.
pub fn open_untold(context: &Context, state: &StateDir, setting: &StoreSetting) -> Result<Box<dyn Store>, StoreError> {
    store::open(setting, &env_of(context), state, context.clock.clone(), outside(state))
        .map(|store| store as Box<dyn Store>)
}

/// What a store has done by others: people told, and what a dead command left ended.
#[must_use]
pub fn outside(state: &StateDir) -> store::advisory::Outside {
    let state = state.clone();
    let end_rest = move |grant| nothing_runs_of(&state, grant);
    store::advisory::Outside { say: Arc::new(report::say), end_rest: Arc::new(end_rest) }
}

/// A lease that ran out, with wrapper and keeper dead or frozen, may have left a command running, which is ended. Its live
/// file says that it ran here; where it is missing nothing is left to end.
pub(super) fn nothing_runs_of(state: &StateDir, grant: GrantId) -> bool {
    let since = state::born(state, grant);
    since.is_none() || holder::end_processes_of(grant, since)
}

/// The same with a look alone: nothing is ended.
pub(super) fn runs_nothing(state: &StateDir, grant: GrantId) -> bool {
    let since = state::born(state, grant);
    since.is_none() || matches!(holder::processes_of(grant, since), Search::None)
}

/// The world around a run.
#[derive(Debug)]
pub struct Context {
    /// How we were started.
    pub invocation: Invocation,
    /// This machine's clocks.
    pub clock: Arc<SystemClock>,
    /// How much we say.
    pub voice: Voice,
    /// Our own file, for stepping over ourselves.
    pub ourselves: FileId,
    /// What is told to the file of `--report`.
    pub account: Account,
    /// `--store`.
    pub store: Option<OsString>,
    /// `--advisory`.
    pub advisory: bool,
    /// We stand in a program's place (a shim): the name that it is given, as its caller gave it to us.
    pub shim: Option<OsString>,
    /// `--session`.
    pub session: Option<SessionId>,
    /// The files of settings that were read.
    pub shelf: Shelf,
}

/// The grant of the `locked` above us, as it told its command. What it means now the store decides.
#[must_use]
pub fn within(context: &Context) -> Option<GrantId> {
    context.invocation.var("LOCKED_LEASE")?.to_str()?.parse().ok().map(GrantId)
}

/// A look-up in the environment at entry.
pub fn env_of(context: &Context) -> impl Fn(&str) -> Option<OsString> {
    |name| context.invocation.var(name)
}

/// Proves others gone by the kernel lock on their live file, and by looking for processes that carry their lease.
struct KernelWitness<'a> {
    state: &'a StateDir,
    host_id: &'a str,
}

/// The witness of this machine.
#[must_use]
pub fn retry_witness<'a>(state: &'a StateDir, host_id: &'a str) -> impl Witness + use<'a> {
    KernelWitness { state, host_id }
}

impl Witness for KernelWitness<'_> {
    fn holder_gone(&self, grant: GrantId, live: Live, host_id: &str) -> bool {
        // Order: the lock first. While wrapper or keeper lives nobody needs to read every process's environment.
        self.waiter_gone(grant, live, host_id)
            && state::in_sight(self.state, grant)
            && matches!(holder::processes_of(grant, state::born(self.state, grant)), Search::None)
    }

    fn is_above_us(&self, lease: &LeaseView) -> bool {
        let named = lease.pid.zip(lease.live).filter(|_| lease.host_id == self.host_id);
        named.is_some_and(|(pid, live)| holder::stands_above(pid, live.device, live.inode))
    }

    fn waiter_gone(&self, grant: GrantId, live: Live, host_id: &str) -> bool {
        host_id == self.host_id && state::probe(self.state, grant, live) == Gone::Proven
    }
}
