//! What a look at the board finds: what is held, who stands in line, what is left to a person.
#![forbid(unsafe_code)]

use crate::cli::duty;
use crate::cli::verbs::Status;
use crate::cli::world::CALL;
use crate::run::{Context, Keepers};
use crate::settle;
use crate::store::{LeaseState, LeaseView, PastLease, Store, StoreError};

use super::Place;
use super::line::Line;

/// A lease, whether its holder lives, and what its session is called, if it has begun.
pub(in crate::cli) struct Seen {
    pub(in crate::cli) lease: LeaseView,
    pub(in crate::cli) alive: &'static str,
    pub(super) name: Option<String>,
    /// Who keeps it alive between commands, on this machine.
    pub(super) keeper: Option<u32>,
}

/// All of the board.
pub(in crate::cli) struct Board {
    pub(super) seen: Vec<Seen>,
    pub(super) line: Line,
    pub(super) duties: Vec<PastLease>,
    /// Only what stalls was asked for.
    pub(super) stalls: bool,
}

impl Board {
    /// As it was asked for. A program is told of leases, and with each who waits for it; a person of everything, unless only
    /// what stalls was asked for.
    pub(in crate::cli) fn look(
        context: &Context,
        verb: &Status,
        place: &Place,
        store: &mut dyn Store,
    ) -> Result<Self, StoreError> {
        let leases = store.leases(None, CALL)?;
        let somebody_waits = leases.iter().any(|lease| lease.waiters > 0);
        let all = !verb.is_json() && verb.stalled.is_none();
        let asks = all || (verb.is_json() && somebody_waits);
        let line = if asks { Line::look(store, &leases) } else { Line::of(Vec::new(), &[]) };
        let seen = seen(leases, context, verb, place, store);
        // A schema of before knows of no duties.
        let duties = if all { duty::open(store, &verb.resources).unwrap_or_default() } else { Vec::new() };
        Ok(Self { seen, line, duties, stalls: verb.stalled.is_some() })
    }

    /// What decides whether it is news: all that is shown but how much time has gone by, which changes by itself.
    pub(in crate::cli) fn essence(&self, verb: &Status) -> String {
        let waiting =
            |seen: &Seen| if verb.is_json() { self.line.behind(&seen.lease).to_string() } else { String::new() };
        let leases = self.seen.iter().map(|seen| essence(seen) + &waiting(seen)).collect::<Vec<_>>();
        let rows = if verb.is_json() { String::new() } else { self.line.rows(&verb.resources) };
        [&leases.join("\n"), &rows, &duty::rows(&self.duties)].map(String::as_str).join("\n")
    }
}

fn essence(Seen { lease, alive, .. }: &Seen) -> String {
    format!(
        "{} {} {} {} {} {} {} {:?}",
        lease.resource.scope,
        lease.resource.name,
        lease.token.0,
        lease.state.as_str(),
        alive,
        lease.waiters,
        lease.takeable,
        lease.reason
    )
}

/// The leases as they were asked for.
pub(super) fn leases(
    context: &Context,
    verb: &Status,
    place: &Place,
    store: &mut dyn Store,
) -> Result<Vec<Seen>, StoreError> {
    Ok(seen(store.leases(None, CALL)?, context, verb, place, store))
}

/// Those of these leases that were asked for, with what this machine and the board know of them.
fn seen(
    mut leases: Vec<LeaseView>,
    context: &Context,
    verb: &Status,
    place: &Place,
    store: &mut dyn Store,
) -> Vec<Seen> {
    let (state, keepers) = (&place.state, Keepers::of(&place.state, &place.setting));
    let host_id = state.host_id(context.clock.as_ref());
    leases.retain(|lease| verb.resources.is_empty() || verb.resources.contains(&lease.resource.name));
    leases.retain(|lease| verb.stalled.is_none_or(|stalled| lease.idle >= stalled));
    // A store of before has no board; its leases are shown all the same.
    let sessions = match store.board() {
        Some(board) if !leases.is_empty() => board.sessions(CALL).unwrap_or_default(),
        _ => Vec::new(),
    };
    let names = crate::cli::session::names(sessions);
    let seen = |lease: LeaseView| {
        let alive = crate::cli::alive::alive(state, &host_id, &keepers, &lease);
        Seen { name: names.get(&lease.session).cloned(), keeper: keepers.keeper_of(&lease), lease, alive }
    };
    leases.into_iter().map(seen).collect()
}

/// The place of the plaintext that a lease is kept for, while it is open.
pub(super) fn plaintext(lease: &LeaseView) -> Option<&str> {
    let reason = lease.reason.as_deref().filter(|reason| settle::is_of_open_edit(reason))?;
    matches!(lease.state, LeaseState::Kept | LeaseState::Expired).then_some(reason)
}
