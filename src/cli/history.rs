//! `locked history`: the ledger, newest first.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use crate::exit::Exit;
use crate::report::{day_and_time, rough_span};
use crate::run::Context;
use crate::store::{HistoryFilter, PastLease};

use super::front::print;
use super::table::table;
use super::verbs::History;
use super::world::{CALL, down, store_of};

pub(super) fn history(context: &Context, verb: &History) -> Exit {
    let filter = HistoryFilter {
        name: verb.resource.as_ref().map(ToString::to_string),
        since: verb.since,
        limit: Some(verb.limit),
    };
    let (_, mut store) = match store_of(context) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    match store.history(&filter, CALL).map(last_ended_first) {
        Ok(past) if verb.json => print(&format!("{:#}", Value::Array(past.iter().map(object).collect()))),
        Ok(past) if past.is_empty() => print("no ended leases"),
        Ok(past) => print(&rows(&past)),
        Err(error) => down(&error),
    }
}

/// What one command held ends in one moment, and in the reverse of the order in which it was taken: the first by its
/// bytes ended last, so it stands first.
fn last_ended_first(mut past: Vec<PastLease>) -> Vec<PastLease> {
    let together = |one: &PastLease, other: &PastLease| {
        (one.session, one.acquired_at, one.ended_at) == (other.session, other.acquired_at, other.ended_at)
            && one.operation == other.operation
    };
    for grant in past.chunk_by_mut(together) {
        grant.sort_by(|one, other| one.resource.cmp(&other.resource));
    }
    past
}

pub(super) fn object(lease: &PastLease) -> Value {
    json!({
        "scope": lease.resource.scope.to_string(),
        "resource": lease.resource.name.as_str(),
        "token": lease.token.0,
        "holder": lease.session.short(),
        "label": lease.label,
        "host": lease.host,
        "operation": lease.operation,
        "acquired_at": lease.acquired_at,
        "ended_at": lease.ended_at,
        "ended_as": lease.ended_as.as_str(),
        "note": lease.note,
        "receipt": lease.receipt.as_ref().map(ToString::to_string),
    })
}

fn rows(past: &[PastLease]) -> String {
    let head = ["ENDED", "RESOURCE", "AS", "HELD", "HOLDER", "RECEIPT", "OPERATION"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    for lease in past {
        let held = u64::try_from(lease.ended_at - lease.acquired_at).unwrap_or_default();
        rows.push(vec![
            day_and_time(lease.ended_at),
            lease.resource.name.to_string(),
            lease.ended_as.as_str().to_owned(),
            if held < 1_000 { format!("{held} ms") } else { rough_span(std::time::Duration::from_millis(held)) },
            format!("{} ({})", lease.session, lease.label),
            lease
                .receipt
                .as_ref()
                .map_or_else(|| "-".to_owned(), |receipt| receipt.as_str().chars().take(12).collect()),
            lease.operation.clone(),
        ]);
        if let Some(note) = &lease.note {
            rows.push(vec![format!("  {note}")]);
        }
    }
    table(&rows)
}
