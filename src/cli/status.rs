//! `locked status`: the board.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use crate::clock::Clock as _;
use crate::exit::Exit;
use crate::report::{clock_time, rough_span};
use crate::run::Context;
use crate::state::StateDir;
use crate::store::{LeaseState, LeaseView, Store, StoreError};

use super::front::print;
use super::table::table;
use super::verbs::Status;
use super::world::{CALL, down, store_of};

/// A lease, and whether its holder lives.
pub(super) type Seen = (LeaseView, &'static str);

pub(super) fn status(context: &Context, verb: &Status) -> Exit {
    if verb.watch {
        return super::watch::watch(context, verb);
    }
    let (state, mut store) = match store_of(context) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    if verb.duties {
        return match super::duty::open(store.as_mut(), &verb.resources) {
            Ok(duties) if verb.json => print(&format!("{:#}", super::duty::objects(&duties))),
            Ok(duties) if duties.is_empty() => print("nothing is left to a person"),
            Ok(duties) => print(&super::duty::rows(&duties)),
            Err(error) => down(&error),
        };
    }
    match look(context, verb, &state, store.as_mut()) {
        Ok(seen) if verb.json => print(&format!("{:#}", objects(&seen, context))),
        Ok(seen) => {
            // A schema of before knows of no duties.
            let duties = super::duty::open(store.as_mut(), &verb.resources).unwrap_or_default();
            let duties = super::duty::rows(&duties);
            print(&[rows(&seen), duties].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n"))
        }
        Err(error) => down(&error),
    }
}

/// The board as it was asked for.
pub(super) fn look(
    context: &Context,
    verb: &Status,
    state: &StateDir,
    store: &mut dyn Store,
) -> Result<Vec<Seen>, StoreError> {
    let host_id = state.host_id(context.clock.as_ref());
    let mut leases = store.leases(None, CALL)?;
    leases.retain(|lease| verb.resources.is_empty() || verb.resources.contains(&lease.resource.name));
    leases.retain(|lease| verb.stalled.is_none_or(|stalled| lease.idle >= stalled));
    let alive = |lease: LeaseView| {
        let alive = super::alive::alive(state, &host_id, &lease);
        (lease, alive)
    };
    Ok(leases.into_iter().map(alive).collect())
}

/// The board for programs.
pub(super) fn objects(seen: &[Seen], context: &Context) -> Value {
    Value::Array(seen.iter().map(|(lease, alive)| object(lease, alive, context)).collect())
}

fn object(lease: &LeaseView, alive: &str, context: &Context) -> Value {
    let left = lease.expires_in.map(|left| i64::try_from(left.as_millis()).unwrap_or(i64::MAX));
    json!({
        "scope": lease.resource.scope.to_string(),
        "resource": lease.resource.name.as_str(),
        "token": lease.token.0,
        "holder": lease.session.short(),
        "label": lease.label,
        "host": lease.host,
        "operation": lease.operation,
        "state": lease.state.as_str(),
        "holder_alive": alive,
        "acquired_at": lease.acquired_at,
        "renewed_at": lease.renewed_at,
        "expires_at": left.map(|left| context.clock.wall_ms().saturating_add(left)),
        "expires_in_ms": left,
        "idle_ms": i64::try_from(lease.idle.as_millis()).unwrap_or(i64::MAX),
        "waiters": lease.waiters,
        "explicit": lease.explicit,
        "takeable": lease.takeable,
        "ask": lease.ask,
        "reason": lease.reason,
    })
}

fn state(lease: &LeaseView) -> String {
    match lease.state {
        _ if lease.takeable && !lease.ask => "kept, free to take".to_owned(),
        LeaseState::Expired if lease.ask => "expired, asks a person".to_owned(),
        state => state.as_str().to_owned(),
    }
}

/// The board for people.
pub(super) fn rows(leases: &[Seen]) -> String {
    if leases.is_empty() {
        return "no live leases".to_owned();
    }
    let head = ["RESOURCE", "HOLDER", "STATE", "SINCE", "EXPIRES", "ALIVE", "WAITING", "OPERATION"]
        .map(str::to_owned)
        .to_vec();
    let mut rows = vec![head];
    for (lease, alive) in leases {
        rows.push(vec![
            lease.resource.name.to_string(),
            format!("{} ({})", lease.session, lease.label),
            state(lease),
            clock_time(lease.acquired_at),
            lease.expires_in.map_or_else(|| "never".to_owned(), |left| format!("in {}", rough_span(left))),
            (*alive).to_owned(),
            lease.waiters.to_string(),
            lease.operation.clone(),
        ]);
        if let Some(reason) = &lease.reason {
            rows.push(vec![format!("  {reason}")]);
        }
    }
    table(&rows)
}
