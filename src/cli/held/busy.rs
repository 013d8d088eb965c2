//! What a command of this session runs under now, one above us included: it keeps that alive itself, and gives it back when
//! it ends.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::cli::check::{inherited, is_inherited};
use crate::cli::world::World;
use crate::lease::Witness as _;
use crate::report::Refusal;
use crate::run;
use crate::store::{LeaseState, LeaseView};
use crate::terms::Resource;

/// Those of some leases that a command of this session runs under.
pub(in crate::cli) struct Running<'l> {
    leases: Vec<&'l LeaseView>,
    /// Of them, what a command above us has.
    above: Option<&'l LeaseView>,
}

/// Of these leases.
pub(in crate::cli) fn of<'l>(world: &World<'_>, live: &'l [LeaseView]) -> Running<'l> {
    let host_id = world.state.host_id(world.context.clock.as_ref());
    let (witness, inherited) = (run::retry_witness(&world.state, &host_id), inherited(world.context));
    let within = run::within(world.context);
    let is_above = |lease: &LeaseView| {
        within == Some(lease.grant) || is_inherited(&inherited, lease) || witness.is_above_us(lease)
    };
    let runs = |lease: &&LeaseView| lease.pid.is_some() && lease.state == LeaseState::Held;
    let session = world.session.id;
    let leases: Vec<_> = live.iter().filter(runs).filter(|lease| lease.session == session || is_above(lease)).collect();
    let above = leases.iter().copied().find(|lease| is_above(lease));
    Running { leases, above }
}

impl<'l> Running<'l> {
    /// Whether this is among them.
    pub(in crate::cli) fn has(&self, resource: &Resource) -> bool {
        self.leases.iter().any(|lease| lease.resource == *resource)
    }

    /// For how long all of them last without another renew; none where there are none.
    pub(in crate::cli) fn lasts(&self) -> Option<Duration> {
        self.leases.iter().filter_map(|lease| lease.expires_in).min()
    }

    /// What a command above us has.
    pub(in crate::cli) fn above(&self) -> Option<&'l LeaseView> {
        self.above
    }

    /// Nothing is given back under a running command; `again` is what would do it later.
    pub(super) fn refusal(&self, again: &str) -> Option<Refusal> {
        let lease = self.above.or_else(|| self.leases.first().copied())?;
        let (resource, operation) = (&lease.resource, &lease.operation);
        Some(match self.above {
            Some(_) => below(lease, "it is given back when that command ends, and not under it; nothing was released"),
            None => Refusal {
                word: "REFUSED",
                what: format!("{resource} is held by a running command of this session, {operation}"),
                why: "a lease is never released under a running command; nothing was released".to_owned(),
                retry: "yes, when it has ended".to_owned(),
                next: format!("{again} {resource}"),
            },
        })
    }
}

/// Something is asked for from below a command that has the very resource.
pub(in crate::cli) fn below(lease: &LeaseView, why: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("{} is held by the command that this runs under, {}", lease.resource, lease.operation),
        why: why.to_owned(),
        retry: "no, not from below that command".to_owned(),
        next: format!("locked check {}", lease.resource),
    }
}
