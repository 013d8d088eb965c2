//! The last look before something is done that cannot be taken back: is it still ours, and is its issue still open? Between
//! the grant and the program, and again when the program goes on after a stop.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::clock::Clock as _;
use crate::exit;
use crate::report::{self, Refusal};
use crate::store::{Granted, Renewal, Settlement, Store, StoreError};
use crate::supervise::Cause;
use crate::terms::Issue;

use super::base;
use super::ending::settle_within;
use super::issue::{self, IssueState};
use super::job::Job;
use super::words::Words;

/// Why nothing is run, and the exit status.
pub(super) type Against = (Refusal, i32);

/// Does this run look once more at all?
pub(super) fn is_asked(job: &Job<'_>) -> bool {
    job.plan.rotates() || issue_of(job).is_some()
}

/// The issue that is asked about. A command below one that was started for it is part of that work, which goes on to its
/// end also when the issue is closed in the middle; but no new value is made then.
fn issue_of<'a>(job: &Job<'a>) -> Option<&'a Issue> {
    let issue = job.options.issue.as_ref();
    issue.filter(|_| job.plan.rotates() || super::within(job.context).is_none())
}

/// Looks: first at the issue, which may take a while, then at the lease, which has its whole TTL from then on. What speaks
/// against it has given the lease back.
///
/// # Errors
/// The store could not say that it is ours.
pub(super) fn look(
    job: &Job<'_>,
    granted: &Granted,
    mut words: Words,
    store: &mut dyn Store,
) -> Result<Result<Words, Against>, StoreError> {
    if !is_asked(job) {
        return Ok(Ok(words));
    }
    let holding = job.holding(&words.tokens());
    let undo = |store: &mut dyn Store| {
        let settlement = Settlement::whole(base::undone(job, granted), Vec::new());
        // A store that cannot be told lets it run out: nothing was run.
        let _it_runs_out = store.settle(&holding, &settlement, settle_within(store));
    };
    if let Some(against) = of_issue(job, issue::ASK.min(granted.lasts / 4), "nothing was run") {
        undo(store);
        return Ok(Err(against));
    }
    let sent = job.context.clock.now();
    match store.renew(&holding, settle_within(store))? {
        Renewal::Renewed(lasts) => {
            let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
            (words.sent, words.lasts) = (ms(sent.0), ms(lasts));
            Ok(Ok(words))
        }
        gone => {
            if gone == Renewal::Revoked {
                undo(store);
            }
            Ok(Err((report::lost_before(&job.wanted()), exit::LOST)))
        }
    }
}

/// What the issue has against going on; none when it is open, or there is none.
pub(super) fn of_issue(job: &Job<'_>, within: Duration, then: &str) -> Option<Against> {
    let issue = issue_of(job)?;
    let issue_state = issue::issue_state(job.context, issue, within);
    against(
        &issue_state,
        || report::issue_closed(issue, &job.wanted(), then),
        |why| report::issue_unknown(issue, why, then),
    )
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
    }
}

/// The same for the keeper, whose tree stands still meanwhile: why it must not go on.
pub(super) fn in_keeper(job: &Job<'_>, within: Duration) -> Option<Cause> {
    let issue = issue_of(job)?;
    match issue::issue_state(job.context, issue, issue::ASK.min(within)) {
        IssueState::Open => None,
        IssueState::Closed => Some(Cause::IssueClosed),
        IssueState::Unknown(_) => Some(Cause::IssueUnknown),
    }
}
