//! A hint after sops' own words, where those are known to puzzle.
#![forbid(unsafe_code)]

use crate::supervise::Outcome;

use super::job::Job;

pub(super) fn hints(job: &Job<'_>, outcome: Outcome) -> Vec<String> {
    let _ = (job, outcome);
    Vec::new()
}
