//! How a restore gets its lease: over a quarantine, and over whoever died without settling.
#![forbid(unsafe_code)]

use crate::cli::front::refuse;
use crate::exit::{self, Exit};
use crate::lease::{self, Asker, Obtained, Patience};
use crate::report;
use crate::run::{self, Context, InPerson, Predecessors};
use crate::state::StateDir;
use crate::store::{Claim, FileRecord, Holding, Owner, Receipt, Request, Store, StoreError};
use crate::terms::{LeaseKey, Resource, Times};

/// What is granted.
pub(super) struct Grant {
    pub(super) holding: Holding,
    /// What is quarantined by what we took over: it was so, or a writer that is gone left it so.
    pub(super) reason: Option<String>,
    /// What may have been written under it on this host.
    pub(super) carried: Vec<FileRecord>,
    /// For what writers that are gone wrote well.
    pub(super) receipts: Vec<Receipt>,
    /// They left something unproven, all of it on this host.
    pub(super) owes: bool,
    /// By what others know that we live.
    pub(super) in_person: InPerson,
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
    match lease::acquire(request, patience, &mut asker).map_err(NotHeld::Unknown)? {
        Obtained::Granted { granted, .. } => {
            report::say_words(&granted.words, store, session);
            let found = run::predecessors(context, state, &host, &granted, true).map_err(NotHeld::Unknown)?;
            let (reason, receipts) = match found {
                // Not settled: it runs out, and what it owes goes on to the next one.
                Predecessors::Run(grant) => {
                    let wanted = resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                    let refusal = run::still_running(&wanted, grant, "nothing was restored");
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
            let bad = if reason.is_some() { granted.unsettled } else { Vec::new() };
            let owing = granted.carried.into_iter().chain(bad).filter(|debt| debt.host == host);
            let mut carried: Vec<FileRecord> = Vec::new();
            for record in owing.flat_map(|debt| debt.files) {
                if !carried.contains(&record) {
                    carried.push(record);
                }
            }
            Ok(Grant {
                holding: Holding::Grant { grant, key, resources: granted.tokens },
                reason,
                carried,
                receipts,
                owes,
                in_person,
            })
        }
        Obtained::Busy(busy) | Obtained::Quarantined(busy) => {
            in_person.is_over();
            let now = crate::clock::Clock::wall_ms(context.clock.as_ref());
            let wanted = resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            Err(NotHeld::Refused(refuse(&report::busy(&busy, &wanted, now, None), exit::BUSY)))
        }
    }
}
