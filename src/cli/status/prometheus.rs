//! `locked status --format prometheus`: figures in the text form that Prometheus reads (its documentation, "Exposition
//! formats"), for node_exporter's textfile collector or whoever serves the text. Base units are seconds; counters end
//! in `_total` and only grow.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

use crate::cli::out::print;
use crate::cli::world::{CALL, down};
use crate::exit::Exit;
use crate::store::{Ended, Figures, LeaseState, LeaseView, Store, StoreError};

use super::board::Seen;

/// A store that does not answer: the one figure that can be told.
pub(super) const DOWN: &str =
    "# HELP locked_store_up Whether the store answered.\n# TYPE locked_store_up gauge\nlocked_store_up 0";

const STATES: [LeaseState; 6] = [
    LeaseState::Held,
    LeaseState::Kept,
    LeaseState::Quarantined,
    LeaseState::Expired,
    LeaseState::Revoked,
    LeaseState::Remote,
];
const ENDINGS: [Ended; 5] = [Ended::Completed, Ended::Failed, Ended::Expired, Ended::Stolen, Ended::HumanAction];

pub(super) fn print_figures(looked: Result<Vec<Seen>, StoreError>, store: &mut dyn Store) -> Exit {
    let figures = match super::super::session::board(store) {
        Ok(board) => board.figures(CALL),
        Err(exit) => return exit,
    };
    match looked.and_then(|seen| Ok((seen, figures?))) {
        Ok((seen, figures)) => {
            let leases: Vec<&LeaseView> = seen.iter().map(|seen| &seen.lease).collect();
            print(text(&leases, &figures, store_now(&leases)).trim_end())
        }
        Err(error) => {
            // Whoever scrapes sees that it is down rather than nothing at all.
            let _status_of_the_store = print(DOWN);
            down(&error)
        }
    }
}

/// A lease's age by the store's own clock: from its idle time and the two moments beside it.
fn store_now(leases: &[&LeaseView]) -> i64 {
    let idle = |lease: &&LeaseView| i64::try_from(lease.idle.as_millis()).unwrap_or(i64::MAX / 4);
    leases.iter().map(|lease| lease.renewed_at.saturating_add(idle(lease))).max().unwrap_or(0)
}

fn text(leases: &[&LeaseView], figures: &Figures, now: i64) -> String {
    let mut page = Page(String::new());
    page.family("locked_store_up", "gauge", "Whether the store answered.");
    page.sample("locked_store_up", &[], "1");
    page.family("locked_leases", "gauge", "Live leases by state.");
    for state in STATES {
        let count = leases.iter().filter(|lease| lease.state == state).count();
        page.sample("locked_leases", &[("state", state.as_str())], &count.to_string());
    }
    let oldest = leases.iter().map(|lease| now.saturating_sub(lease.acquired_at)).max().unwrap_or(0);
    page.family(
        "locked_oldest_lease_age_seconds",
        "gauge",
        "How long ago the oldest live lease was granted; 0 without any.",
    );
    page.sample("locked_oldest_lease_age_seconds", &[], &seconds(oldest));
    page.family("locked_lease_idle_seconds", "gauge", "How long ago a live lease was renewed or granted.");
    for lease in leases {
        let labels = [
            ("resource", lease.resource.name.as_str()),
            ("scope", &lease.resource.scope.to_string()),
            ("state", lease.state.as_str()),
        ];
        let idle = i64::try_from(lease.idle.as_millis()).unwrap_or(i64::MAX);
        page.sample("locked_lease_idle_seconds", &labels, &seconds(idle));
    }
    page.family("locked_waiting_requests", "gauge", "Requests that wait for a lease now.");
    page.sample("locked_waiting_requests", &[], &figures.waiting.to_string());
    page.family("locked_waits_total", "counter", "Requests that had to wait for a lease.");
    page.sample("locked_waits_total", &[], &figures.waits.to_string());
    page.family("locked_leases_ended_total", "counter", "Leases that ended, by how.");
    for how in ENDINGS {
        page.sample("locked_leases_ended_total", &[("how", how.as_str())], &figures.ended(how).to_string());
    }
    page.family(
        "locked_canary_failures_total",
        "counter",
        "Resources that were quarantined because a write left their file bad.",
    );
    page.sample("locked_canary_failures_total", &[], &figures.quarantines.to_string());
    page.0
}

/// Milliseconds as seconds.
fn seconds(ms: i64) -> String {
    let ms = ms.max(0);
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// The text as it grows.
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _infallible = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: &str) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _infallible = writeln!(self.0, "{name}{labels} {value}");
    }
}

/// A label's value: backslash, quote and line feed are escaped there.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_end_its_line() {
        let mut page = Page(String::new());
        page.sample("x", &[("resource", "a:\"} 1\nx\\")], "2");
        assert_eq!(page.0, "x{resource=\"a:\\\"} 1\\nx\\\\\"} 2\n");
    }

    #[test]
    fn every_state_and_every_ending_is_there_with_nothing_to_count() {
        let text = text(&[], &Figures::default(), 0);
        for line in
            ["locked_leases{state=\"remote\"} 0", "locked_leases_ended_total{how=\"stolen\"} 0", "locked_store_up 1"]
        {
            assert!(text.lines().any(|it| it == line), "{line}: {text}");
        }
        assert_eq!(seconds(61_005), "61.005");
    }
}
