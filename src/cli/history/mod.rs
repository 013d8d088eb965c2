//! `locked history`: the ledger, newest first; or as lanes over time, in the terminal and as a page.
#![forbid(unsafe_code)]

mod lanes;
mod page;
mod timeline;

use std::path::Path;

use serde_json::{Value, json};

use crate::clock::Clock as _;
use crate::exit::{self, Exit};
use crate::report::{day_and_time, misuse, rough_span};
use crate::run::Context;
use crate::store::{HistoryFilter, PastLease, Store, StoreError};

use super::RunOptions;
use super::front::refuse;
use super::out::print;
use super::table::table;
use super::verbs::History;
use super::world::{CALL, down, meant, store_of};
use lanes::Lanes;

pub(super) fn history(context: &Context, options: &RunOptions, verb: &History) -> Exit {
    let resource = match meant(context, verb.resource.as_slice()) {
        Ok(meant) => meant.into_iter().next(),
        Err(exit) => return exit,
    };
    let filter =
        HistoryFilter { name: resource.as_ref().map(ToString::to_string), since: verb.since, limit: Some(verb.limit) };
    let (_, mut store) = match store_of(context) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    super::session::noted(context, options, store.as_mut());
    if verb.timeline || verb.html.is_some() {
        return over_time(context, verb, &filter, store.as_mut()).unwrap_or_else(|error| down(&error));
    }
    match store.history(&filter, CALL).map(last_ended_first) {
        Ok(past) if verb.json => print(&format!("{:#}", Value::Array(past.iter().map(object).collect()))),
        Ok(past) if past.is_empty() => print("no ended leases"),
        Ok(past) => print(&rows(&past)),
        Err(error) => down(&error),
    }
}

/// What was held and what is held, as lanes.
fn over_time(
    context: &Context,
    verb: &History,
    filter: &HistoryFilter,
    store: &mut dyn Store,
) -> Result<Exit, StoreError> {
    let past = store.history(filter, CALL)?;
    let mut live = store.leases(None, CALL)?;
    live.retain(|lease| filter.name.as_ref().is_none_or(|name| name == lease.resource.name.as_str()));
    let now = context.clock.wall_ms();
    let lanes = Lanes::of(&past, &live, now);
    Ok(match (&verb.html, &lanes) {
        (Some(file), lanes) if file.as_os_str() == "-" => print(page::page(lanes.as_ref(), now).trim_end()),
        (Some(file), lanes) => write(context, file, &page::page(lanes.as_ref(), now)),
        (None, Some(lanes)) => print(&timeline::timeline(lanes, columns(context))),
        (None, None) => print("no leases"),
    })
}

fn write(context: &Context, file: &Path, page: &str) -> Exit {
    let file = context.invocation.cwd.join(file);
    match std::fs::write(&file, page) {
        Ok(()) => Exit::OK,
        Err(error) => {
            let what = format!("{} cannot be written: {error}", file.display());
            refuse(&misuse(&what, "name a file in a directory of yours"), exit::USAGE)
        }
    }
}

/// As wide as the shell says that the terminal is (`COLUMNS`), within reason.
fn columns(context: &Context) -> u32 {
    let said = context.invocation.var("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
    said.unwrap_or(100).clamp(40, 300)
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
        let held = u64::try_from(lease.ended_at.saturating_sub(lease.acquired_at)).unwrap_or_default();
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
