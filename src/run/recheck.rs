//! The last look before something is done that cannot be taken back: is it still ours, and are its issues still open? Between
//! the grant and the program, and again when the program goes on after a stop.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::Clock as _;
use crate::exit;
use crate::report::{self, Refusal};
use crate::store::{Granted, LeaseView, Renewal, Settlement, Store, StoreError};
use crate::supervise::Cause;
use crate::terms::Issue;

use super::base;
use super::ending::settle_within;
use super::issue::{self, IssueState};
use super::job::Job;
use super::words::{self, Words};

/// Why nothing is run, and the exit status.
pub(super) type Against = (Refusal, i32);

/// The issue of the command line. A command below one that was started for it is part of that work, which goes on to its
/// end also when the issue is closed in the middle; but no new value is made then.
pub(super) fn issues_of_option(job: &Job<'_>) -> Vec<String> {
    let issue = job.options.issue.as_ref();
    let issue = issue.filter(|_| job.plan.rotates() || super::within(job.context).is_none());
    issue.map(ToString::to_string).into_iter().collect()
}

/// Those of the work above, which a new value below it is for as well.
fn issues_above(job: &Job<'_>) -> Vec<String> {
    let above = job.context.invocation.var(words::ISSUES);
    let above = above.filter(|_| job.plan.rotates() && super::within(job.context).is_some()).unwrap_or_default();
    above.to_string_lossy().split(' ').filter(|issue| issue.parse::<Issue>().is_ok()).map(str::to_owned).collect()
}

/// That one, and those of the holds that this command runs under: of what it has adopted from its session, and of the rotation
/// that a command above it holds.
fn issues(job: &Job<'_>, granted: &Granted, store: &mut dyn Store) -> Result<Vec<String>, StoreError> {
    let mut issues = issues_of_option(job);
    for issue in issues_above(job) {
        if !issues.contains(&issue) {
            issues.push(issue);
        }
    }
    if granted.adopted.is_empty() && !job.plan.rotates() {
        return Ok(issues);
    }
    let live = store.leases(Some(&job.plan.resources), settle_within(store))?;
    let (ours, above) = (Some(job.grant), super::within(job.context));
    let counts = |lease: &&LeaseView| {
        Some(lease.grant) == ours || (lease.resource.name.is_rotation() && Some(lease.grant) == above)
    };
    for issue in live.iter().filter(counts).flat_map(LeaseView::issues).map(ToString::to_string) {
        if !issues.contains(&issue) {
            issues.push(issue);
        }
    }
    Ok(issues)
}

/// Looks: first at the issue, which may take a while, then at the lease, which has its whole TTL from then on. What speaks
/// against it has given the lease back.
///
/// # Errors
/// The store could not say that it is ours.
pub(super) fn look(
    job: &Job<'_>,
    granted: &Granted,
    mut said: Words,
    store: &mut dyn Store,
) -> Result<Result<Words, Against>, StoreError> {
    said.issues = issues(job, granted, store)?;
    if said.issues.is_empty() && !job.plan.rotates() {
        return Ok(Ok(said));
    }
    let holding = job.holding(&said.tokens());
    let undo = |store: &mut dyn Store| {
        let settlement = Settlement::whole(base::undone(job, granted), Vec::new());
        // A store that cannot be told lets it run out: nothing was run.
        let _it_runs_out = store.settle(&holding, &settlement, settle_within(store));
    };
    if let Some(against) = of_issues(job, &said.issues, issue::ASK.min(granted.lasts / 4), "nothing was run") {
        undo(store);
        return Ok(Err(against));
    }
    let sent = job.context.clock.now();
    match store.renew(&holding, settle_within(store))? {
        Renewal::Renewed(lasts) => {
            let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
            (said.sent, said.lasts) = (ms(sent.0), ms(lasts));
            Ok(Ok(said))
        }
        gone => {
            if gone == Renewal::Revoked {
                undo(store);
            }
            Ok(Err((report::lost_before(&job.wanted()), exit::LOST)))
        }
    }
}

/// What these issues have against going on; none when all are open, or there are none. `within`: for all of them.
pub(super) fn of_issues(job: &Job<'_>, issues: &[String], within: Duration, then: &str) -> Option<Against> {
    let (issue, issue_state) = first_against(job, issues, within)?;
    against(
        &issue_state,
        || report::issue_closed(&issue, &job.wanted(), then),
        |why| report::issue_unknown(&issue, why, then),
    )
}

/// Which of these issues has stopped a program: where there are several it is asked once more.
pub(super) fn which(job: &Job<'_>, issues: &[String]) -> Option<Issue> {
    let first = issues.first()?.parse().ok();
    let against = || first_against(job, issues, issue::ASK).map(|(issue, _)| issue);
    if issues.len() == 1 { first } else { against().or(first) }
}

/// The first of these issues that is not open, as far as that can be told in the time.
fn first_against(job: &Job<'_>, issues: &[String], within: Duration) -> Option<(Issue, IssueState)> {
    let began = job.context.clock.now();
    let issues = issues.iter().filter_map(|issue| issue.parse::<Issue>().ok());
    let mut answers = issues.map(|issue| {
        let left = within.saturating_sub(began.until(job.context.clock.now()));
        let issue_state = issue::issue_state(job.context, &issue, left);
        (issue, issue_state)
    });
    answers.find(|(_, issue_state)| !matches!(issue_state, IssueState::Open))
}

/// The refusal of a issue_state, with its status.
pub(super) fn against(
    issue_state: &IssueState,
    closed: impl FnOnce() -> Refusal,
    unknown: impl FnOnce(&str) -> Refusal,
) -> Option<Against> {
    match issue_state {
        IssueState::Open => None,
        IssueState::Closed => Some((closed(), exit::ISSUE_CLOSED)),
        IssueState::Unknown(why) => Some((unknown(why), exit::ISSUE_UNKNOWN)),
        IssueState::LoggedOut => Some((unknown(issue::LOGGED_OUT).with_next("gh auth login"), exit::ISSUE_UNKNOWN)),
    }
}

/// The same for the keeper, whose tree stands still meanwhile: why it must not go on.
pub(super) fn in_keeper(job: &Job<'_>, issues: &[String], within: Duration) -> Option<Cause> {
    match first_against(job, issues, issue::ASK.min(within))?.1 {
        IssueState::Open => None,
        IssueState::Closed => Some(Cause::IssueClosed),
        IssueState::Unknown(_) | IssueState::LoggedOut => Some(Cause::IssueUnknown),
    }
}
