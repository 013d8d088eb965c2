//! The board for people.
#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::path::Path;

use crate::cli::duty;
use crate::cli::table::table;
use crate::report::{clock_time, rough_span};
use crate::rules;
use crate::store::{LeaseState, LeaseView};
use crate::terms::{ResourceName, is_one_word};

use super::board::{Board, Seen, plaintext};

impl Board {
    /// What is held, who stands in line, what is left to a person.
    pub(in crate::cli) fn rows(&self, of: &[ResourceName]) -> String {
        let none = if self.stalls { "nothing is stalled" } else { "no live leases" };
        let parts = [rows(&self.seen, none), self.line.rows(of), duty::rows(&self.duties)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
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

/// What is held.
fn rows(leases: &[Seen], none: &str) -> String {
    if leases.is_empty() {
        return none.to_owned();
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

/// The file of a reason `HOST:FILE is plaintext …`, ready for pasting.
fn file_of(reason: &str) -> &str {
    let place = reason.split(" is plaintext ").next().unwrap_or(reason);
    let file = place.split_once(':').map_or(place, |(_, file)| file);
    // Whoever may write to the store chose the words.
    if is_one_word(file) { file } else { "FILE" }
}
