//! The lease that a restore holds. With the store down there is none, and that is said.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::time::Duration;

use crate::exit::{self, Exit};
use crate::holder::ProcFs;
use crate::lease::{self, Asker, Obtained, Patience};
use crate::naming::Target;
use crate::report;
use crate::run::{self, Context};
use crate::state::StateDir;
use crate::store::{
    Claim, Ended, Ending, Holding, LeaseState, Mode, Owner, Receipt, Release, Request, Settlement, Store,
};
use crate::terms::{GrantId, LeaseKey, Resource, SessionId, Times};

use crate::cli::front::refuse;
use crate::cli::world::{CALL, down};

/// Held, or not because the store is down.
pub(super) struct Hold<'a> {
    held: Option<RefCell<Held<'a>>>,
}

struct Held<'a> {
    store: Box<dyn Store>,
    holding: Holding,
    /// Why the resource was quarantined, when it was.
    reason: Option<String>,
    _world: std::marker::PhantomData<&'a ()>,
}

impl<'a> Hold<'a> {
    /// Takes the lease, over a quarantine too.
    pub(super) fn take(
        context: &'a Context,
        session: Option<SessionId>,
        state: &StateDir,
        target: &Target,
    ) -> Result<Self, Exit> {
        let mut store = match run::open_store(context, state) {
            Ok(store) => store,
            Err(error) => {
                report::say(&format!(
                    "locked: {error}; the file is restored without a lease, end the quarantine later with --accept"
                ));
                return Ok(Self { held: None });
            }
        };
        let session = run::session(context, session).map_err(|refusal| refuse(&refusal, exit::USAGE))?;
        let resources: Vec<Resource> = target.resources().cloned().collect();
        let reason = quarantine(store.as_mut(), &resources)?;
        let owner = Owner {
            session: session.id,
            label: session.label.clone(),
            host: ProcFs::host(),
            host_id: state.host_id(context.clock.as_ref()),
            pid: std::process::id(),
            operation: "locked restore".to_owned(),
            rule: None,
        };
        let holding = ask(context, state, store.as_mut(), owner, resources)?;
        let held = Held { store, holding, reason, _world: std::marker::PhantomData };
        Ok(Self { held: Some(RefCell::new(held)) })
    }

    /// Why the resource was quarantined, when it was.
    pub(super) fn reason(&self) -> Option<String> {
        self.held.as_ref().and_then(|held| held.borrow().reason.clone())
    }

    /// Ends the lease with these receipts.
    pub(super) fn settle(&self, ending: Ending, receipts: Vec<Receipt>) -> Result<(), Exit> {
        let Some(held) = &self.held else { return Ok(()) };
        let mut held = held.borrow_mut();
        let holding = held.holding.clone();
        match held.store.settle(&holding, &Settlement { ending, receipts }, CALL) {
            Ok(Release::Released) => Ok(()),
            Ok(Release::NotOurs) => {
                report::say(&report::lost(&names(&holding), crate::supervise::Cause::Gone));
                Err(Exit::Code(exit::LOST))
            }
            Err(error) => Err(down(&error)),
        }
    }

    /// Gives the lease back undone: a quarantine goes on, with the reason of now or the one before.
    pub(super) fn give_back(&self, still_bad: Option<String>) -> Result<(), Exit> {
        let ending = match self.reason() {
            Some(before) => Ending::Quarantine { reason: still_bad.unwrap_or(before) },
            None => Ending::Release(Ended::Failed),
        };
        self.settle(ending, Vec::new())
    }
}

fn names(holding: &Holding) -> String {
    match holding {
        Holding::Grant { resources, .. } => {
            resources.iter().map(|(resource, _)| resource.to_string()).collect::<Vec<_>>().join(" ")
        }
        Holding::Session { resources, .. } => resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    }
}

fn quarantine(store: &mut dyn Store, resources: &[Resource]) -> Result<Option<String>, Exit> {
    let live = store.leases(Some(resources), CALL).map_err(|error| down(&error))?;
    let bad = live.into_iter().find(|lease| lease.state == LeaseState::Quarantined);
    Ok(bad.map(|lease| lease.reason.unwrap_or_default()))
}

fn ask(
    context: &Context,
    state: &StateDir,
    store: &mut dyn Store,
    owner: Owner,
    resources: Vec<Resource>,
) -> Result<Holding, Exit> {
    let key = LeaseKey::random().map_err(|_| Exit::Code(exit::INTERNAL))?;
    let times = Times::new(None, None, None, None).map_err(|_| Exit::Code(exit::INTERNAL))?;
    let host_id = owner.host_id.clone();
    let request = Request {
        grant: GrantId::random(),
        key: key.clone(),
        resources: resources.clone(),
        owner,
        claim: Claim::Restore,
        ttl: times.ttl,
        first_grant: times.first_grant(),
        within: run::within(context),
        mode: Mode::Try,
        live: None,
        files: Vec::new(),
        remote: false,
        gone: Vec::new(),
    };
    let grant = request.grant;
    let witness = run::retry_witness(state, &host_id);
    let mut silent = |_: lease::Notice<'_>| {};
    let mut asker = Asker { store, clock: context.clock.as_ref(), witness: &witness, notice: &mut silent };
    match lease::acquire(request, Patience::Wait(Duration::from_secs(30)), &mut asker).map_err(|error| down(&error))? {
        Obtained::Granted { granted, .. } => Ok(Holding::Grant { grant, key, resources: granted.tokens }),
        Obtained::Busy(busy) | Obtained::Quarantined(busy) => {
            let now = crate::clock::Clock::wall_ms(context.clock.as_ref());
            let wanted = resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            Err(refuse(&report::busy(&busy, &wanted, now), exit::BUSY))
        }
    }
}
