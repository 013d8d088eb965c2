//! `locked status`: the board.
#![forbid(unsafe_code)]

mod line;
mod ping;
mod prometheus;

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::clock::Clock as _;
use crate::config::StoreSetting;
use crate::exit::Exit;
use crate::report::{clock_time, rough_span};
use crate::rules;
use crate::run::{Context, Keepers};
use crate::settle;
use crate::state::StateDir;
use crate::store::{LeaseState, LeaseView, Store, StoreError};
use crate::terms::is_one_word;

use super::RunOptions;
use super::duty;
use super::out::print;
use super::table::table;
use super::verbs::Status;
use super::world::{CALL, down, meant, opened, setting_of};

/// `--stalled` found something, as grep says that it found nothing: no failure of ours.
const STALLED: i32 = 1;

/// A lease, whether its holder lives, and what its session is called, if it has begun.
pub(super) struct Seen {
    pub(super) lease: LeaseView,
    pub(super) alive: &'static str,
    name: Option<String>,
    /// Who keeps it alive between commands, on this machine.
    keeper: Option<u32>,
}

pub(super) fn status(context: &Context, options: &RunOptions, verb: &Status) -> Exit {
    if !verb.ping.is_empty() {
        return ping::ping(context, options, verb);
    }
    let resources = match meant(context, &verb.resources) {
        Ok(resources) => resources,
        Err(exit) => return exit,
    };
    let verb = &Status { resources, ..verb.clone() };
    if verb.watch {
        return super::watch::watch(context, verb);
    }
    let (place, mut store) = match Place::open(context) {
        Ok(opened) => opened,
        Err(exit) if verb.format.as_deref() == Some("prometheus") => {
            let _status_of_the_store = print(prometheus::DOWN);
            return exit;
        }
        Err(exit) => return exit,
    };
    if verb.duties {
        return match duty::open(store.as_mut(), &verb.resources) {
            Ok(duties) if verb.json => print(&format!("{:#}", duty::objects(&duties))),
            Ok(duties) if duties.is_empty() => print("nothing is left to a person"),
            Ok(duties) => print(&duty::rows(&duties)),
            Err(error) => down(&error),
        };
    }
    if verb.format.as_deref() != Some("prometheus") {
        super::session::noted(context, options, store.as_mut());
    }
    let form = if verb.json { "json" } else { verb.format.as_deref().unwrap_or("table") };
    let shown = match (form, look(context, verb, &place, store.as_mut())) {
        ("prometheus", looked) => return prometheus::print_figures(looked, store.as_mut()),
        (_, Err(error)) => return down(&error),
        ("json", Ok(seen)) => (print(&format!("{:#}", objects(&seen, context))), seen.is_empty()),
        (_, Ok(seen)) => {
            // A schema of before knows of no duties.
            let duties = duty::open(store.as_mut(), &verb.resources).unwrap_or_default();
            let waiting = if verb.stalled.is_none() { line::look(verb, store.as_mut()) } else { Vec::new() };
            let parts = [rows(&seen), line::rows(&waiting, &seen), duty::rows(&duties)];
            let parts = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
            (print(&parts.join("\n\n")), seen.is_empty())
        }
    };
    match shown {
        (Exit::OK, false) if verb.stalled.is_some() => Exit::Code(STALLED),
        (exit, _) => exit,
    }
}

/// Where the board is looked at.
pub(super) struct Place {
    state: StateDir,
    setting: StoreSetting,
}

impl Place {
    /// With its store. What stands in the way has been said.
    pub(super) fn open(context: &Context) -> Result<(Self, Box<dyn Store>), Exit> {
        let setting = setting_of(context)?;
        let (state, store) = opened(context, &setting)?;
        Ok((Self { state, setting }, store))
    }
}

/// The board as it was asked for.
pub(super) fn look(
    context: &Context,
    verb: &Status,
    place: &Place,
    store: &mut dyn Store,
) -> Result<Vec<Seen>, StoreError> {
    let (state, keepers) = (&place.state, Keepers::of(&place.state, &place.setting));
    let host_id = state.host_id(context.clock.as_ref());
    let mut leases = store.leases(None, CALL)?;
    leases.retain(|lease| verb.resources.is_empty() || verb.resources.contains(&lease.resource.name));
    leases.retain(|lease| verb.stalled.is_none_or(|stalled| lease.idle >= stalled));
    // A store of before has no board; its leases are shown all the same.
    let sessions = match store.board() {
        Some(board) if !leases.is_empty() => board.sessions(CALL).unwrap_or_default(),
        _ => Vec::new(),
    };
    let names = super::session::names(sessions);
    let seen = |lease: LeaseView| {
        let alive = super::alive::alive(state, &host_id, &keepers, &lease);
        Seen { name: names.get(&lease.session).cloned(), keeper: keepers.keeper_of(&lease), lease, alive }
    };
    Ok(leases.into_iter().map(seen).collect())
}

/// The board for programs.
pub(super) fn objects(seen: &[Seen], context: &Context) -> Value {
    Value::Array(seen.iter().map(|seen| object(seen, context)).collect())
}

fn object(Seen { lease, alive, name, keeper }: &Seen, context: &Context) -> Value {
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
        "session_name": name,
        "plaintext": plaintext(lease).is_some(),
        "kept_alive_by": keeper,
    })
}

fn state(lease: &LeaseView) -> String {
    match lease.state {
        _ if lease.takeable && !lease.ask => "kept, free to take".to_owned(),
        LeaseState::Expired if lease.ask => "expired, asks a person".to_owned(),
        LeaseState::Remote => "may still be running".to_owned(),
        state => state.as_str().to_owned(),
    }
}

/// When it ends by itself, or ended.
fn expires(lease: &LeaseView) -> String {
    match (lease.state, lease.expires_in) {
        (LeaseState::Expired, _) => {
            lease.expired_for.map_or_else(|| "has passed".to_owned(), |ago| format!("{} ago", rough_span(ago)))
        }
        (_, Some(left)) => format!("in {}", rough_span(left)),
        (_, None) => "never".to_owned(),
    }
}

/// The board for people.
pub(super) fn rows(leases: &[Seen]) -> String {
    if leases.is_empty() {
        return "no live leases".to_owned();
    }
    let head = ["RESOURCE", "HOLDER", "HOST", "STATE", "SINCE", "EXPIRES", "ALIVE", "WAITING", "OPERATION"]
        .map(str::to_owned)
        .to_vec();
    let mut rows = vec![head];
    for Seen { lease, alive, name, keeper } in leases {
        let called = name.as_ref().map_or_else(String::new, |name| format!(", {name}"));
        rows.push(vec![
            lease.resource.name.to_string(),
            format!("{} ({}{called})", lease.session, lease.label),
            lease.host.clone(),
            state(lease) + if keeper.is_some() { ", kept alive" } else { "" },
            clock_time(lease.acquired_at),
            expires(lease),
            (*alive).to_owned(),
            lease.waiters.to_string(),
            lease.operation.clone(),
        ]);
        if let Some(reason) = &lease.reason {
            rows.push(vec![format!("  {reason}")]);
        }
    }
    let mut board = table(&rows);
    for Seen { lease, .. } in leases {
        if let Some(open) = plaintext(lease) {
            let file = file_of(open);
            let types = rules::types(Path::new(file.trim_end_matches('\'')));
            let _infallible =
                write!(board, "\nPLAINTEXT: {open}; encrypt it again: locked sops encrypt -i{types} {file}");
        }
    }
    board
}

/// The place of the plaintext that a lease is kept for, while it is open.
fn plaintext(lease: &LeaseView) -> Option<&str> {
    let reason = lease.reason.as_deref().filter(|reason| settle::is_of_open_edit(reason))?;
    matches!(lease.state, LeaseState::Kept | LeaseState::Expired).then_some(reason)
}

/// The file of a reason `HOST:FILE is plaintext …`, ready for pasting.
fn file_of(reason: &str) -> &str {
    let place = reason.split(" is plaintext ").next().unwrap_or(reason);
    let file = place.split_once(':').map_or(place, |(_, file)| file);
    // Whoever may write to the store chose the words.
    if is_one_word(file) { file } else { "FILE" }
}
