//! Who stands in line, for what, and whom they wait for: also where nobody holds it.
#![forbid(unsafe_code)]

use crate::cli::table::table;
use crate::cli::verbs::Status;
use crate::cli::world::CALL;
use crate::store::{Store, WaitView};

use super::Seen;

/// The requests in line that the question is about. A store of before cannot say, and shows none.
pub(super) fn look(verb: &Status, store: &mut dyn Store) -> Vec<WaitView> {
    let all = store.board().and_then(|board| board.waiting(CALL).ok()).unwrap_or_default();
    let asked = |wait: &WaitView| {
        verb.resources.is_empty() || wait.resources.iter().any(|resource| verb.resources.contains(&resource.name))
    };
    // Order: who stands before them counts, whatever was asked for.
    if all.iter().any(asked) { all } else { Vec::new() }
}

/// For people; empty when nobody waits.
pub(super) fn rows(waiting: &[WaitView], seen: &[Seen]) -> String {
    if waiting.is_empty() {
        return String::new();
    }
    let mut rows = vec![["WAITING", "PLACE", "FOR", "BEHIND"].map(str::to_owned).to_vec()];
    rows.extend(waiting.iter().enumerate().map(|(at, wait)| {
        let before: Vec<&WaitView> = waiting[..at].iter().filter(|before| meet(before, wait)).collect();
        let wanted = wait.resources.iter().map(|resource| resource.name.to_string()).collect::<Vec<_>>().join(" ");
        vec![wait.holder.clone(), (before.len() + 1).to_string(), wanted, behind(wait, &before, seen)]
    }));
    table(&rows)
}

/// Both want one of the same.
fn meet(one: &WaitView, other: &WaitView) -> bool {
    one.resources.iter().any(|resource| other.resources.contains(resource))
}

/// Who holds what it wants; else who asked before it.
fn behind(wait: &WaitView, before: &[&WaitView], seen: &[Seen]) -> String {
    let held = seen.iter().map(|seen| &seen.lease).find(|lease| wait.resources.contains(&lease.resource));
    match (held, before.first()) {
        (Some(lease), _) => format!("{} ({}), who holds {}", lease.session, lease.label, lease.resource.name),
        (None, Some(first)) => format!("{}, who asked first", first.holder),
        (None, None) => "nobody any more".to_owned(),
    }
}
