//! Who is on the board: sessions that have begun, and sessions that hold something without having said so (pure).
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::report::rough_span;
use crate::store::{LeaseView, SessionView};
use crate::terms::SessionId;

/// After so long without a word it is quiet: whether it still runs is for a person to find out.
const QUIET: Duration = Duration::from_secs(30 * 60);
/// After so long it is not listed any more, unless it holds something.
const FORGOTTEN: Duration = Duration::from_secs(24 * 3600);

/// A session, and what it holds.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) session: SessionId,
    pub(super) label: String,
    pub(super) host: String,
    /// What it said when it began, if it did.
    pub(super) begun: Option<SessionView>,
    /// How long it was not heard of.
    pub(super) idle: Duration,
    /// Its live leases, in byte order.
    pub(super) holds: Vec<LeaseView>,
}

/// Everybody, the last to be heard of first.
pub(super) fn everybody(sessions: Vec<SessionView>, leases: Vec<LeaseView>) -> Vec<Entry> {
    let mut held: BTreeMap<SessionId, Vec<LeaseView>> = BTreeMap::new();
    for lease in leases {
        held.entry(lease.session).or_default().push(lease);
    }
    let mut entries: Vec<Entry> = sessions
        .into_iter()
        .map(|begun| Entry {
            session: begun.session,
            label: begun.label.clone(),
            host: begun.host.clone(),
            idle: begun.idle,
            holds: held.remove(&begun.session).unwrap_or_default(),
            begun: Some(begun),
        })
        .collect();
    for (session, holds) in held {
        let idle = holds.iter().map(|lease| lease.idle).min().unwrap_or_default();
        let first = |of: fn(&LeaseView) -> &String| holds.first().map(of).cloned().unwrap_or_default();
        let (label, host) = (first(|lease| &lease.label), first(|lease| &lease.host));
        entries.push(Entry { session, label, host, begun: None, idle, holds });
    }
    entries.sort_by_key(|entry| (entry.idle, entry.session));
    entries
}

impl Entry {
    /// It has begun and not ended.
    fn goes_on(&self) -> bool {
        self.begun.as_ref().is_some_and(|begun| begun.ended_at.is_none())
    }

    /// Listed without being asked for: it holds something, or goes on and was heard of within a day.
    pub(super) fn is_there(&self) -> bool {
        !self.holds.is_empty() || (self.goes_on() && self.idle < FORGOTTEN)
    }

    /// It was not heard of for so long that it may be gone.
    pub(super) fn is_quiet(&self) -> bool {
        self.idle >= QUIET
    }

    /// What people call it; a dash for one that has not said so.
    pub(super) fn name(&self) -> &str {
        self.begun.as_ref().map_or("-", |begun| begun.name.as_str())
    }

    /// What it holds, by name.
    pub(super) fn held(&self) -> String {
        let names: BTreeSet<&str> = self.holds.iter().map(|lease| lease.resource.name.as_str()).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.into_iter().collect::<Vec<_>>().join(" ") }
    }

    /// One line about it, for another session.
    pub(super) fn line(&self) -> String {
        let task = self.begun.as_ref().map(|begun| begun.task.as_str()).filter(|task| !task.is_empty());
        let task = task.map_or_else(String::new, |task| format!(": {task}"));
        let name = if self.begun.is_some() { format!("{} ", self.name()) } else { String::new() };
        let heard = rough_span(self.idle);
        format!("{name}{} ({}){task}; heard of {heard} ago, holds {}", self.session, self.label, self.held())
    }
}

/// What sessions that go on are called, for views of what they hold.
pub(in crate::cli) fn names(sessions: Vec<SessionView>) -> BTreeMap<SessionId, String> {
    sessions.into_iter().filter(|it| it.ended_at.is_none()).map(|it| (it.session, it.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(number: u128, idle: u64, ended_at: Option<i64>) -> SessionView {
        SessionView {
            session: SessionId(uuid::Uuid::from_u128(number << 96)),
            name: format!("S{number}"),
            domain: String::new(),
            task: "its task".to_owned(),
            label: "claude@ws-1".to_owned(),
            host: "ws-1".to_owned(),
            began_at: 0,
            seen_at: 0,
            idle: Duration::from_secs(idle),
            ended_at,
        }
    }

    #[test]
    fn who_goes_on_is_listed_for_a_day_and_quiet_after_half_an_hour() {
        let day = 24 * 3600;
        let sessions = vec![begun(1, 5, None), begun(2, 1800, None), begun(3, day, None), begun(4, 5, Some(1))];
        let entries = everybody(sessions, Vec::new());
        let seen: Vec<_> = entries.iter().map(|it| (it.name(), it.is_there(), it.is_quiet())).collect();
        assert_eq!(seen, [("S1", true, false), ("S4", false, false), ("S2", true, true), ("S3", false, true)]);
        assert_eq!(entries[0].line(), "S1 00000001 (claude@ws-1): its task; heard of 5 s ago, holds nothing");
    }
}
