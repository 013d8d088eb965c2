//! `locked session list`.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use crate::cli::RunOptions;
use crate::cli::out::print;
use crate::cli::table::table;
use crate::cli::verbs::ListVerb;
use crate::cli::world::{CALL, World};
use crate::exit::Exit;
use crate::report::{day_and_time, rough_span};
use crate::run::Context;
use crate::terms::SessionId;

use super::who::{Entry, everybody};
use super::{board, hear};

pub(super) fn list(context: &Context, options: &RunOptions, verb: &ListVerb) -> Exit {
    World::with(context, options, |world| {
        let own = world.session.id;
        hear(world.store.as_mut(), own);
        let mut entries = look(world)?;
        entries.retain(|entry| verb.all || entry.is_there());
        if verb.json {
            let list: Vec<Value> = entries.iter().map(|entry| object(entry, own)).collect();
            return Ok(print(&format!("{:#}", Value::Array(list))));
        }
        Ok(print(&rows(&entries, own)))
    })
}

/// Everybody on the board of this store.
pub(super) fn look(world: &mut World<'_>) -> Result<Vec<Entry>, Exit> {
    let sessions = board(world.store.as_mut())?.sessions(CALL).map_err(|error| world.down(&error))?;
    let leases = world.store.leases(None, CALL).map_err(|error| world.down(&error))?;
    Ok(everybody(sessions, leases))
}

/// An entry for programs.
pub(super) fn object(entry: &Entry, own: SessionId) -> Value {
    let holds: Vec<Value> = entry
        .holds
        .iter()
        .map(|lease| {
            json!({"resource": lease.resource.name.as_str(), "scope": lease.resource.scope.to_string(),
                   "state": lease.state.as_str()})
        })
        .collect();
    let begun = entry.begun.as_ref();
    json!({
        "holder": entry.session.short(),
        "label": entry.label,
        "host": entry.host,
        "name": begun.map(|it| &it.name),
        "domain": begun.map(|it| &it.domain),
        "task": begun.map(|it| &it.task),
        "began_at": begun.map(|it| it.began_at),
        "ended_at": begun.and_then(|it| it.ended_at),
        "idle_ms": i64::try_from(entry.idle.as_millis()).unwrap_or(i64::MAX),
        "quiet": entry.is_quiet(),
        "ours": entry.session == own,
        "holds": holds,
    })
}

/// The board as people see it, and whether anybody but this session is on it.
pub(in crate::cli) fn shown(world: &mut World<'_>) -> Result<(String, bool), Exit> {
    let own = world.session.id;
    let mut entries = look(world)?;
    entries.retain(Entry::is_there);
    let others = entries.iter().any(|entry| entry.session != own);
    Ok((rows(&entries, own), others))
}

fn rows(entries: &[Entry], own: SessionId) -> String {
    if entries.is_empty() {
        return "no session is active".to_owned();
    }
    let head = ["NAME", "SESSION", "DOMAIN", "BEGAN", "LAST SEEN", "HOLDS", "TASK"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    for entry in entries {
        let begun = entry.begun.as_ref();
        let text = |of: Option<&String>| of.filter(|it| !it.is_empty()).cloned().unwrap_or_else(|| "-".to_owned());
        let this = if entry.session == own { ", this one" } else { "" };
        rows.push(vec![
            entry.name().to_owned(),
            format!("{} ({}{this})", entry.session, entry.label),
            text(begun.map(|it| &it.domain)),
            begun.map_or_else(|| "-".to_owned(), |it| day_and_time(it.began_at)),
            match begun.and_then(|it| it.ended_at) {
                Some(ended) => format!("ended {}", day_and_time(ended)),
                None => format!("{} ago", rough_span(entry.idle)),
            },
            entry.held(),
            text(begun.map(|it| &it.task)),
        ]);
    }
    table(&rows)
}
