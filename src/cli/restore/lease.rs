//! The lease that a restore holds. With the store down there is none, and that is said.
#![forbid(unsafe_code)]

use std::cell::RefCell;

use crate::exit::{self, Exit};
use crate::naming::Target;
use crate::report::{self, Refusal};
use crate::run::{self, Context, InPerson, NoSetting};
use crate::settle;
use crate::state::StateDir;
use crate::store::{
    Ended, Ending, FileRecord, Holding, LeaseState, LeaseView, Receipt, Release, Settlement, Store, StoreError,
    StoredReceipt,
};
use crate::terms::{Resource, SessionId};

use crate::cli::RunOptions;
use crate::cli::front::refuse;
use crate::cli::world::{CALL, down};

use super::affected::companions;
use super::grant::{Grant, Inherited, NotHeld, ask};

/// Held, or not because the store is down.
pub(super) struct Hold {
    held: Option<RefCell<Held>>,
}

struct Held {
    store: Box<dyn Store>,
    holding: Holding,
    /// Why the resource was quarantined, when it was.
    reason: Option<String>,
    /// What may have been written under it on this host: by the command that was found bad, or by the session's own
    /// earlier ones under what was adopted.
    carried: Vec<FileRecord>,
    /// For what writers that are gone wrote well: due however this ends.
    receipts: Vec<Receipt>,
    /// The store keeps the lease until it hears that what they left is proven.
    owes: bool,
    /// Until it is settled.
    in_person: Option<InPerson>,
}

impl Hold {
    /// No lease: the store is down, and that is said.
    pub(super) fn without(error: &StoreError) -> Self {
        report::say(&format!(
            "locked: {error}; the file is restored without a lease, end the quarantine later with --accept"
        ));
        Self { held: None }
    }

    /// Takes the lease, over a quarantine too.
    pub(super) fn take(
        context: &Context,
        options: &RunOptions,
        state: &StateDir,
        target: &Target,
    ) -> Result<Self, Exit> {
        let settings = run::settings_of(context, target.worktree())?;
        let session = run::session(context, options.session.map(SessionId), &settings)
            .map_err(|refusal| refuse(&refusal, exit::USAGE))?;
        let mut resources: Vec<Resource> = target.resources().cloned().collect();
        let roots = target.worktree();
        let setting = match run::store_for(context, roots.as_slice()) {
            Ok(setting) => setting,
            Err(NoSetting::Away(error)) if is_down(&error) => return Ok(Self::without(&error)),
            Err(wrong) => return Err(wrong.refuse(context)),
        };
        let opened = run::open_store(context, state, &setting).and_then(|mut store| {
            let live = store.leases(None, CALL)?;
            Ok((store, live))
        });
        let (mut store, live) = match opened {
            Ok(opened) => opened,
            Err(error) if is_down(&error) => return Ok(Self::without(&error)),
            Err(error) => return Err(down(&error)),
        };
        let reason = quarantine(&live, &resources);
        resources.extend(companions(&resources, &live));
        resources.sort();
        resources.dedup();
        let owner = run::owner(context, state, &session, "locked restore".to_owned(), None);
        let Grant { holding, inherited, in_person } =
            match ask(context, options.patience(&settings), state, store.as_mut(), owner, resources) {
                Ok(held) => held,
                // A store whose first word needs no server, or one that went away since.
                Err(NotHeld::Unknown(error)) if is_down(&error) => return Ok(Self::without(&error)),
                Err(NotHeld::Unknown(error)) => return Err(down(&error)),
                Err(NotHeld::Refused(exit)) => return Err(exit),
            };
        let Inherited { reason: found, carried, receipts, owes } = inherited;
        let (reason, in_person) = (reason.or(found), Some(in_person));
        Ok(Self { held: Some(RefCell::new(Held { store, holding, reason, carried, receipts, owes, in_person })) })
    }

    /// Why the resource was quarantined, when it was.
    pub(super) fn reason(&self) -> Option<String> {
        self.held.as_ref().and_then(|held| held.borrow().reason.clone())
    }

    /// The files on this host that the command that was found bad may have written.
    pub(super) fn owed(&self) -> Vec<FileRecord> {
        let held = self.held.as_ref().map(RefCell::borrow);
        held.filter(|held| held.reason.is_some()).map_or_else(Vec::new, |held| held.carried.clone())
    }

    /// Is it quarantined, or can nobody say?
    pub(super) fn may_be_quarantined(&self) -> bool {
        self.held.is_none() || self.reason().is_some()
    }

    /// The chain of the file, newest first; empty where the store does not say it.
    pub(super) fn chain(&self, target: &Target) -> Vec<StoredReceipt> {
        let Some(held) = &self.held else { return Vec::new() };
        held.borrow_mut().store.receipts(target.scope(), &target.key, CALL).unwrap_or_default()
    }

    /// Ends the lease with these receipts.
    pub(super) fn settle(&self, ending: Ending, receipts: Vec<Receipt>) -> Result<(), Exit> {
        let Some(held) = &self.held else { return Ok(()) };
        let mut held = held.borrow_mut();
        let receipts: Vec<Receipt> = held.receipts.drain(..).chain(receipts).collect();
        let holding = held.holding.clone();
        if held.owes && matches!(ending, Ending::Release(_)) {
            // Lost or not, the settling says.
            let _what_it_says = held.store.record_files(&holding, &[], &[], CALL);
        }
        match held.store.settle(&holding, &Settlement::whole(ending, receipts), CALL) {
            Ok(Release::Released) => {
                held.in_person.take().into_iter().for_each(InPerson::is_over);
                Ok(())
            }
            Ok(Release::NotOurs) => {
                report::say(&report::lost_by_the_end(&names(&holding), None, None));
                Err(Exit::Code(exit::LOST))
            }
            Err(error) => Err(refuse(&unsettled(&error), run::status_of(&error))),
        }
    }

    /// Gives the lease back undone: a quarantine goes on with its reason, and so does what the session had kept.
    pub(super) fn give_back(&self) -> Result<(), Exit> {
        let carried = self.held.as_ref().is_some_and(|held| !held.borrow().carried.is_empty());
        let ending = match self.reason() {
            Some(reason) => Ending::Quarantine { reason },
            None if carried => {
                Ending::Keep { reason: "nothing was restored".to_owned(), keep_for: settle::MAX_HOLD, takeable: false }
            }
            None => Ending::Release(Ended::Failed),
        };
        self.settle(ending, Vec::new())
    }
}

/// A file is restored without this store: it cannot be had now. One at which others are at work answers, only not now; and
/// a setting that names none is to be set right.
fn is_down(error: &StoreError) -> bool {
    !error.is_of_the_setting() && !matches!(error, StoreError::Contended(_))
}

/// The store went away after the grant: what was done stays done, and its lease ends with this process.
fn unsettled(error: &StoreError) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("the store has not heard how this ended: {error}"),
        why: "the file is as this command left it; whoever comes next looks at it first".to_owned(),
        retry: "yes".to_owned(),
        next: "locked status".to_owned(),
    }
}

fn names(holding: &Holding) -> String {
    match holding {
        Holding::Grant { resources, .. } | Holding::Kept { resources, .. } => {
            resources.iter().map(|(resource, _)| resource.to_string()).collect::<Vec<_>>().join(" ")
        }
        Holding::Session { resources, .. } => resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    }
}

fn quarantine(live: &[LeaseView], resources: &[Resource]) -> Option<String> {
    let mut wanted = live.iter().filter(|lease| resources.contains(&lease.resource));
    let bad = wanted.find(|lease| lease.state == LeaseState::Quarantined);
    bad.map(|lease| lease.reason.clone().unwrap_or_default())
}
