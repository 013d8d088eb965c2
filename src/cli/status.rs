//! `locked status`: the board.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use crate::clock::Clock as _;
use crate::exit::Exit;
use crate::report::{clock_time, rough_span};
use crate::run::Context;
use crate::store::LeaseView;

use super::front::print;
use super::table::table;
use super::verbs::Status;
use super::world::{CALL, down, store_of};

pub(super) fn status(context: &Context, verb: &Status) -> Exit {
    let (state, mut store) = match store_of(context) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let leases = store.leases(None, CALL).map(|mut leases| {
        let host_id = state.host_id(context.clock.as_ref());
        leases.retain(|lease| verb.resources.is_empty() || verb.resources.contains(&lease.resource.name));
        let alive = leases.iter().map(|lease| super::alive::alive(&state, &host_id, lease)).collect::<Vec<_>>();
        leases.into_iter().zip(alive).collect::<Vec<_>>()
    });
    match leases {
        Ok(leases) if verb.json => print(&format!(
            "{:#}",
            Value::Array(leases.iter().map(|(lease, alive)| object(lease, alive, context)).collect())
        )),
        Ok(leases) if leases.is_empty() => print("no live leases"),
        Ok(leases) => print(&rows(&leases)),
        Err(error) => down(&error),
    }
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
        "waiters": lease.waiters,
        "explicit": lease.explicit,
        "takeable": lease.takeable,
        "reason": lease.reason,
    })
}

fn rows(leases: &[(LeaseView, &'static str)]) -> String {
    let head = ["RESOURCE", "HOLDER", "STATE", "SINCE", "EXPIRES", "ALIVE", "WAITING", "OPERATION"]
        .map(str::to_owned)
        .to_vec();
    let mut rows = vec![head];
    for (lease, alive) in leases {
        rows.push(vec![
            lease.resource.name.to_string(),
            format!("{} ({})", lease.session, lease.label),
            if lease.takeable { "kept, free to take".to_owned() } else { lease.state.as_str().to_owned() },
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
