//! Which runs of a workflow a command may have set off.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use serde::Deserialize;

/// A run that was created so long after the first new one is not this command's.
const TOGETHER: Duration = Duration::from_secs(60);

/// One run, as `gh run list --json` has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::run) struct Run {
    database_id: u64,
    status: String,
    created_at: String,
    /// What set it off.
    #[serde(default)]
    event: String,
}

impl Run {
    /// Its number.
    pub(in crate::run) fn id(&self) -> u64 {
        self.database_id
    }

    /// It has ended.
    pub(in crate::run) fn is_over(&self) -> bool {
        self.status == "completed"
    }

    fn created(&self) -> Option<DateTime<FixedOffset>> {
        DateTime::parse_from_rfc3339(&self.created_at).ok()
    }
}

/// What was known when the command began.
#[derive(Debug, Clone)]
pub(in crate::run) struct Since {
    /// The runs that were there; none when nobody could say.
    pub(in crate::run) seen: Option<BTreeSet<u64>>,
    /// When that was, by our wall clock, in whole seconds since 1970.
    pub(in crate::run) began: i64,
}

impl Since {
    /// Those that the command may have set off: by their numbers where those from before are known, since GitHub's clock
    /// and ours need not agree; else by the time. What a push or a timer set off is none of them.
    pub(in crate::run) fn new_among(&self, runs: Vec<Run>) -> Vec<Run> {
        let later = |run: &Run| run.created().is_some_and(|at| at.timestamp() >= self.began);
        let is_new = |run: &Run| match &self.seen {
            Some(seen) => seen.last().is_none_or(|newest| run.database_id > *newest),
            None => later(run),
        };
        let set_off = |run: &Run| matches!(run.event.as_str(), "workflow_dispatch" | "");
        let mut new: Vec<Run> = runs.into_iter().filter(|run| is_new(run) && set_off(run)).collect();
        let first = new.iter().filter_map(Run::created).min();
        new.retain(|run| match (first, run.created()) {
            (Some(first), Some(own)) => (own - first).to_std().is_ok_and(|after| after <= TOGETHER),
            _ => true,
        });
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: u64, created_at: &str, event: &str) -> Run {
        Run { database_id: id, status: "queued".to_owned(), created_at: created_at.to_owned(), event: event.to_owned() }
    }

    #[test]
    fn a_new_run_is_told_by_its_number_or_else_by_its_time() {
        // 2026-03-01T10:00:00Z is 1_772_359_200.
        let began = 1_772_359_200;
        for (id, created_at, seen, expected) in [
            (7, "2026-03-01T10:00:00Z", Some(vec![5, 6]), true),
            (6, "2026-03-01T10:00:09Z", Some(vec![5, 6]), false),
            (4, "2026-03-01T10:00:09Z", Some(vec![5, 6]), false),
            (7, "2026-03-01T09:00:00Z", Some(vec![6]), true),
            (1, "2026-03-01T10:00:00Z", Some(vec![]), true),
            (7, "2026-03-01T10:00:00Z", None, true),
            (7, "2026-03-01T11:00:00+01:00", None, true),
            (7, "2026-03-01T09:59:59Z", None, false),
            (7, "soon", None, false),
        ] {
            let since = Since { seen: seen.map(|ids: Vec<u64>| ids.into_iter().collect()), began };
            let new = since.new_among(vec![run(id, created_at, "workflow_dispatch")]);
            assert_eq!(!new.is_empty(), expected, "{id} {created_at} after {since:?}");
        }
    }

    #[test]
    fn of_several_new_runs_all_that_may_be_the_command_s_own_are_waited_for() {
        let since = Since { seen: Some([6].into()), began: 0 };
        let new = since.new_among(vec![
            run(12, "2026-03-01T10:02:00Z", "workflow_dispatch"),
            run(11, "2026-03-01T10:00:59Z", "workflow_dispatch"),
            run(10, "2026-03-01T10:00:02Z", "push"),
            run(9, "2026-03-01T10:00:01Z", ""),
            run(8, "2026-03-01T10:00:00Z", "workflow_dispatch"),
            run(7, "2026-03-01T09:00:00Z", "schedule"),
            run(6, "2026-03-01T10:00:00Z", "workflow_dispatch"),
        ]);
        assert_eq!(new.iter().map(Run::id).collect::<Vec<_>>(), [11, 9, 8]);
    }
}
