//! What is told on standard error when the command has ended.
#![forbid(unsafe_code)]

use crate::report::{self, Refusal, Voice};
use crate::settle::Decision;
use crate::supervise::{self, Cause, Outcome};
use crate::terms::Issue;

use super::job::Job;
use super::recheck;

/// Says what needs a person: that the program was stopped or never started, a hint after its own words, and what became
/// of the lease; `now` is who has it when it was lost, `taken` who took it away and why; `issues`: what it was for.
pub(super) fn tell(
    job: &Job<'_>,
    outcome: Outcome,
    decision: &Decision,
    (now, taken): (Option<&str>, Option<&str>),
    issues: &[String],
) {
    if job.context.voice == Voice::Quiet {
        return;
    }
    match outcome {
        Outcome::Stopped(Cause::EditorLoop) => report::say(&report::editor_loop(&job.plan.operation)),
        Outcome::Stopped(cause @ (Cause::IssueClosed | Cause::IssueUnknown)) => {
            let against = recheck::which(job, issues).map(|issue| of_issue(&issue, cause, &job.wanted()));
            report::say(&against.map_or_else(String::new, |refusal| refusal.to_string()));
        }
        Outcome::Stopped(cause) => report::say(&report::lost(&job.wanted(), cause, now, taken)),
        // Nothing was lost; that something of it lives on is told below.
        Outcome::Stuck { cause: Cause::Killed(_), .. } => {}
        Outcome::Stuck { cause, pid } => report::say(&report::stuck(&job.wanted(), cause, pid)),
        Outcome::NeverStarted(errno) => {
            report::say(&format!("locked: the program cannot be executed: {}", supervise::not_started(errno)));
        }
        Outcome::Exited(_) | Outcome::Signaled(_) => {}
    }
    if let Some(hint) = super::hint::hint(job, outcome) {
        report::say(&format!("locked: {hint}"));
    }
    for telling in &decision.tellings {
        report::say(&report::telling(telling, &job.wanted()));
    }
}

/// It was asked again before the program was started, or while it stood still.
fn of_issue(issue: &Issue, cause: Cause, resources: &str) -> Refusal {
    let then = "it was asked again after a pause, and nothing runs any more";
    match cause {
        Cause::IssueClosed => report::issue_closed(issue, resources, then),
        _ => report::issue_unknown(issue, "gh did not say", then),
    }
}
