//! The end of a command that ran on after its lease was given back: there is nothing to prove and nothing to lose.
#![forbid(unsafe_code)]

use crate::report;
use crate::settle::{self, Decision};
use crate::store::{Ended as As, Ending, Store};
use crate::supervise::{Cause, Hold, Outcome, Ran, Wrapper};

use super::ending::{Ended, settle_within};
use super::job::Job;
use super::words::Words;

/// How such a lease ends, whatever the command does later: its work was done when it ran.
pub(super) fn decision(outcome: Outcome) -> Decision {
    Decision {
        ending: Ending::Release(As::Completed),
        apart: Vec::new(),
        note: None,
        exit: settle::status(outcome),
        tellings: Vec::new(),
    }
}

/// What `--report` says became of it.
pub(super) const ACCOUNT: (&str, &str) = ("released", "it was given back while the program ran on");

/// The program's own status is ours. A store that could not be told of the lease yet is told now, or by the keeper.
pub(super) fn end(job: &Job<'_>, ran: Ran, words: &Words, store: &mut dyn Store, wrapper: Wrapper) -> Ended {
    let decision = decision(ran.outcome);
    if matches!(ran.outcome, Outcome::Stopped(Cause::Killed(_))) {
        report::say(&report::died_loose(&job.wanted()));
    }
    let mut ended = Ended::from(decision.exit);
    let limit = settle_within(store);
    let untold = match ran.hold {
        Hold::Due => job.settle(store, &words.tokens(), &decision, Vec::new(), limit).err(),
        Hold::Held | Hold::Given => None,
    };
    let account = &job.context.account;
    match untold {
        None => {
            account.ended(ACCOUNT.0, words.held(job), Some(ACCOUNT.1));
            wrapper.dismiss();
        }
        Some(error) => {
            account.ended("left-to-keeper", words.held(job), Some(&error.to_string()));
            report::say(&report::kept_by_keeper(&job.wanted(), &error.to_string()));
            wrapper.leave_to_keeper();
            ended.unsettled = true;
        }
    }
    ended
}
