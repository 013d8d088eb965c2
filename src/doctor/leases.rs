//! Leases that stand in the way and that nobody works under.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::holder::ProcFs;
use crate::naming::{Local, Namer};
use crate::report::rough_span;
use crate::run::{self, env_of};
use crate::state::{self, Gone};
use crate::store::{LeaseState, LeaseView};
use crate::terms::Scope;

use super::Finding;
use super::patient::Patient;

/// What is kept longer is forgotten: the ready TTL.
const LONG: Duration = Duration::from_secs(30 * 60);
/// So many are told one by one.
const MOST: usize = 10;

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let Some(leases) = patient.ask(|store, limit| store.leases(None, limit)) else { return Vec::new() };
    let ours = Ours::of(patient);
    let stuck: Vec<Finding> = leases.iter().filter_map(|lease| judged(lease, ours.have(lease), patient)).collect();
    if stuck.is_empty() {
        return vec![Finding::ok("leases.stale", "no lease is stuck")];
    }
    let more = stuck.len().saturating_sub(MOST);
    let mut found: Vec<Finding> = stuck.into_iter().take(MOST).collect();
    if more > 0 {
        found.push(Finding::note("leases.more", format!("{more} more leases are stuck")).remedy("locked status"));
    }
    found
}

/// What is this repository's or this machine's. The leases of others on a shared store are theirs to look after.
struct Ours {
    scope: Option<Scope>,
    host: String,
}

impl Ours {
    fn of(patient: &Patient<'_>) -> Self {
        let env = env_of(patient.context);
        let said = run::said_scope(patient.context);
        let mut namer = Namer::new(Local::Peek, &env).heeding(&said);
        Self { scope: namer.scope_of_directory(&patient.context.invocation.cwd).ok(), host: ProcFs::host() }
    }

    fn have(&self, lease: &LeaseView) -> bool {
        lease.host == self.host || self.scope.as_ref() == Some(&lease.resource.scope)
    }
}

fn judged(lease: &LeaseView, ours: bool, patient: &Patient<'_>) -> Option<Finding> {
    let name = &lease.resource.name;
    let who = format!("{} ({})", lease.session, lease.label);
    let since = rough_span(lease.idle);
    let reason = lease.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let status = format!("locked status {name}");
    let finding = match lease.state {
        LeaseState::Quarantined => {
            let file = run::bad_file(patient.context, lease, &[]);
            Finding::fault("leases.quarantined", format!("{name} is quarantined for {since}{reason}"))
                .because("nobody may write it before it is restored")
                .remedy(format!("locked restore {}", file.as_deref().unwrap_or("FILE")))
        }
        LeaseState::Expired => {
            let next = match lease.ask {
                true => format!("locked steal {name} --reason 'why it is stale'"),
                false => format!(
                    "in that session `locked release {name}`, or in any `locked steal {name} --reason 'why it is stale'`"
                ),
            };
            let why = match lease.ask {
                true => "nobody is let in before a person has said so",
                false => "its holder never said how it ended; whoever comes next proves its files first",
            };
            Finding::warn("leases.expired", format!("{name}, last renewed {since} ago by {who}, has expired"))
                .because(why)
                .remedy(next)
        }
        LeaseState::Kept if lease.idle >= LONG && !lease.takeable => {
            Finding::warn("leases.kept", format!("{name} is kept by {who} for {since}{reason}"))
                .because("others wait for a session that may have forgotten it")
                .remedy(format!("in that session `locked release {name}`"))
        }
        LeaseState::Revoked if lease.idle >= LONG => Finding::warn(
            "leases.revoked",
            format!("{name} was taken away from {who}, who holds it still after {since}"),
        )
        .because("whoever took it waits")
        .remedy(status),
        LeaseState::Remote if lease.idle >= LONG => {
            Finding::note("leases.remote", format!("what {who} set off under {name} may still be running elsewhere"))
                .remedy(status)
        }
        LeaseState::Held if is_dead(lease, patient) => {
            Finding::note("leases.dead", format!("{name} is held by {who}, who is gone"))
                .because("whoever comes next takes it and proves its files")
                .remedy(status)
        }
        _ => return None,
    };
    Some(if ours { finding } else { Finding { level: super::Level::Note, ..finding } })
}

/// Proven by the kernel lock on its live file, which only this machine can ask for.
fn is_dead(lease: &LeaseView, patient: &Patient<'_>) -> bool {
    let Some(state) = patient.state.as_ref().ok().and_then(Option::as_ref) else { return false };
    let here = state.host_id(patient.context.clock.as_ref()) == lease.host_id;
    lease.live.is_some_and(|live| here && state::probe(state, lease.grant, live) == Gone::Proven)
}
