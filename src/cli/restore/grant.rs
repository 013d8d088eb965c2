//! How a restore gets its lease: over a quarantine, and over whoever died without settling.
#![forbid(unsafe_code)]

use crate::cli::front::refuse;
use crate::exit::{self, Exit};
use crate::lease::{self, Asker, Obtained, Patience};
use crate::report;
use crate::run::{self, Context, InPerson, Predecessors};
use crate::state::StateDir;
use crate::store::{Claim, FileRecord, Granted, Holding, Owner, Receipt, Request, Store, StoreError, Unsettled};
use crate::terms::{LeaseKey, Resource, Times};

/// What is granted.
pub(super) struct Grant {
    pub(super) holding: Holding,
    pub(super) inherited: Inherited,
    /// By what others know that we live.
    pub(super) in_person: InPerson,
}

/// What those left who had the lease before.
pub(super) struct Inherited {
    /// Why the file is bad by what we took over: it was quarantined, or a writer that is gone left it so.
    pub(super) reason: Option<String>,
    /// What may have been written under it on this host.
    pub(super) carried: Vec<FileRecord>,
    /// For what writers that are gone wrote well.
    pub(super) receipts: Vec<Receipt>,
    /// They left something unproven, all of it on this host.
    pub(super) owes: bool,
}

impl Inherited {
    fn by(
        context: &Context,
        state: &StateDir,
        host: &str,
        granted: &Granted,
        wanted: impl Fn() -> String,
    ) -> Result<Self, NotHeld> {
        let found = run::predecessors(context, state, host, granted, true).map_err(NotHeld::Unknown)?;
        let (reason, receipts) = match found {
            // Not settled: it runs out, and what it owes goes on to the next one.
            Predecessors::Run(grant) => {
                let refusal = run::still_running(&wanted(), grant, "nothing was restored");
                return Err(NotHeld::Refused(refuse(&refusal, exit::BUSY)));
            }
            Predecessors::Bad { bad, receipts } => (bad.into_iter().next().map(|bad| bad.reason), receipts),
            Predecessors::Sound { receipts, .. } => (None, receipts),
        };
        let owes = !granted.unsettled.is_empty() && granted.unsettled.iter().all(|left| left.host == host);
        // Of what nobody adopted only a quarantine hands files on.
        let was_bad = granted.adopted.is_empty() && !granted.carried.is_empty();
        let reason = reason.or_else(|| was_bad.then(|| "a write left the file bad".to_owned()));
        // What is as it was or sound is nobody's debt any more.
        let bad: &[Unsettled] = if reason.is_some() { &granted.unsettled } else { &[] };
        let owing = granted.carried.iter().chain(bad).filter(|debt| debt.host == host);
        let mut carried: Vec<FileRecord> = Vec::new();
        for record in owing.flat_map(|debt| &debt.files) {
            if !carried.contains(record) {
                carried.push(record.clone());
            }
        }
        Ok(Self { reason, carried, receipts, owes })
    }
}

/// Why there is no holding.
pub(super) enum NotHeld {
    /// The store gave no answer.
    Unknown(StoreError),
    /// It did; what is to be said has been said.
    Refused(Exit),
}

/// Takes the lease, and looks at what its predecessors left: whoever waits for a writer may come after its death, or after the
/// quarantine that somebody else made of it meanwhile.
pub(super) fn ask(
    context: &Context,
    patience: Patience,
    state: &StateDir,
    store: &mut dyn Store,
    owner: Owner,
    resources: Vec<Resource>,
) -> Result<Grant, NotHeld> {
    let internal = || NotHeld::Refused(Exit::Code(exit::INTERNAL));
    let key = LeaseKey::random().map_err(|_| internal())?;
    let times = Times::new(None, None, None, None).map_err(|_| internal())?;
    let (host, host_id, session) = (owner.host.clone(), owner.host_id.clone(), owner.session);
    let mut request =
        Request::without_a_command(key.clone(), owner, Claim::Restore, resources.clone(), &times, run::within(context));
    let grant = request.grant;
    let in_person = InPerson::stands_for(context, state, &mut request);
    let witness = run::retry_witness(state, &host_id);
    let mut silent = |_: lease::Notice<'_>| {};
    let mut asker = Asker { store, clock: context.clock.as_ref(), witness: &witness, notice: &mut silent };
    let wanted = || resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    match lease::acquire(request, patience, &mut asker).map_err(NotHeld::Unknown)? {
        Obtained::Granted { granted, .. } => {
            report::say_words(&granted.words, store, session);
            let inherited = Inherited::by(context, state, &host, &granted, wanted)?;
            let holding = Holding::Grant { grant, key, resources: granted.tokens };
            Ok(Grant { holding, inherited, in_person })
        }
        Obtained::Busy(busy) | Obtained::Quarantined(busy) => {
            in_person.is_over();
            let now = crate::clock::Clock::wall_ms(context.clock.as_ref());
            Err(NotHeld::Refused(refuse(&report::busy(&busy, &wanted(), now, None), exit::BUSY)))
        }
    }
}
