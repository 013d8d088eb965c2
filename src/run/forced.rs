//! `--force --reason TEXT`: the program runs although the store cannot be reached. It is supervised, its files are
//! proven and their pre-images kept as ever; what is missing is the lease, so nobody else is kept out. The ledger learns
//! of it through the spool.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use crate::clock::Clock as _;
use crate::exit::{self, Exit};
use crate::report;
use crate::settle::{Decision, Telling};
use crate::state::{LiveFile, StateDir};
use crate::store::{Forced, Live, Receipt, StoreError};
use crate::supervise::{Outcome, Wrapper};
use crate::terms::GrantId;

use super::base;
use super::ending::Ended;
use super::hold;
use super::job::Job;
use super::later::Later;
use super::words::Words;
use super::{Before, Context, Options, consumers, files, issue, recheck, spool, stale, tell};

/// Where a run has its files.
pub(super) struct Ground {
    pub(super) state: StateDir,
    pub(super) live: LiveFile,
    /// The state directory cannot be used, and this one stands in for it.
    pub(super) refuge: Option<(tempfile::TempDir, StoreError)>,
}

/// The state directory; for a forced run a temporary one where that cannot be used.
pub(super) fn ground(context: &Context, options: &Options, grant: GrantId) -> Result<Ground, StoreError> {
    let found = StateDir::open(&super::env_of(context)).and_then(|state| stand(context, state, grant));
    match found {
        Ok((state, live)) => Ok(Ground { state, live, refuge: None }),
        Err(error) if options.force.is_some() => {
            let directory = tempfile::Builder::new().prefix("locked-").tempdir();
            // Nowhere to keep how the files were: what happened is said, and nothing is run.
            let Ok(directory) = directory else { return Err(error) };
            let place = OsString::from(directory.path());
            let state = StateDir::open(&|name| (name == "LOCKED_STATE_DIR").then(|| place.clone()))?;
            let (state, live) = stand(context, state, grant)?;
            Ok(Ground { state, live, refuge: Some((directory, error)) })
        }
        Err(error) => Err(error),
    }
}

fn stand(context: &Context, state: StateDir, grant: GrantId) -> Result<(StateDir, LiveFile), StoreError> {
    state.copies()?;
    let live = LiveFile::create(&state, grant, context.clock.now())?;
    Ok((state, live))
}

/// Is this what `--force` answers? A store that is busy with others or written by a newer program is alive, and so may
/// its holders be; and a setting that names no store is to be set right.
pub fn answers(error: &StoreError) -> bool {
    !error.is_of_the_setting() && !matches!(error, StoreError::Contended(_) | StoreError::Newer { .. })
}

/// Runs without a lease.
pub(super) fn run(
    job: &Job<'_>,
    reason: &str,
    live: Live,
    in_refuge: bool,
    error: &StoreError,
    wrapper: Wrapper,
) -> Result<Ended, StoreError> {
    let before = match prepare(job) {
        Ok(Ok(before)) => before,
        Ok(Err(refusal)) => {
            wrapper.dismiss();
            return Ok(hold::refuse(job.context, &refusal, exit::STALE).into());
        }
        Err(error) => {
            wrapper.dismiss();
            return Err(error);
        }
    };
    if let Some((refusal, status)) =
        recheck::of_issues(job, &recheck::issues_of_option(job), issue::ASK, "nothing was run")
    {
        wrapper.dismiss();
        return Ok(hold::refuse(job.context, &refusal, status).into());
    }
    let words = Words::forced(job, live, in_refuge);
    let recorded = note(
        job,
        &words,
        &before,
        (spool::Ends::unseen(job.plan.remote.then_some(job.options.times.ttl)), None),
        Vec::new(),
    );
    let what = match &recorded {
        Ok(()) => "the ledger will be told".to_owned(),
        Err(why) => format!("nothing could be recorded: {why}"),
    };
    report::say(&format!("locked: {} runs without a lease, by force ({reason}): {error}; {what}", job.wanted()));
    job.context.account.forced(reason);
    job.context.account.runs(&[]);
    let text = serde_json::to_string(&words).map_err(|error| StoreError::Failed(error.to_string()))?;
    let outcome = match wrapper.run(text, &words.begin(job), job.context.clock.as_ref(), &mut |_| {}) {
        Ok(ran) => ran.outcome,
        Err(error) => {
            report::say(&format!("locked: {error}"));
            wrapper.leave_to_keeper();
            return Ok(Ended { exit: Exit::Code(exit::INTERNAL), unsettled: true });
        }
    };
    let (decision, receipts) = job.decide(outcome, &before, &words.carried, &Later::proven(job, outcome, &words), None);
    let decision = reached(job, outcome, decision, &words, &receipts);
    let ends = spool::end_of(&decision, job.options.times.ttl);
    if let Err(why) = note(job, &words, &before, (ends, decision.note.as_deref()), receipts)
        && recorded.is_ok()
    {
        report::say(&format!("locked: how it ended could not be recorded: {why}"));
    }
    job.context.account.ended("forced", words.held(job), Some(reason));
    tell::tell(job, outcome, &Decision { tellings: Vec::new(), ..decision.clone() }, (None, None), &words.issues);
    say_ending(job, &decision);
    wrapper.dismiss();
    Ok(decision.exit.into())
}

/// Looks at the files and keeps how they are. Their predecessors cannot be asked for.
fn prepare(job: &Job<'_>) -> Result<Result<Vec<Before>, report::Refusal>, StoreError> {
    let mut before = job.observe();
    if let Some(refusal) = base::redirected(job, &mut before)? {
        return Ok(Err(refusal));
    }
    for (file, before) in job.plan.files.iter().zip(&mut before) {
        before.base = stale::base_of(job, &[], None, file, before);
        files::keep_pre_image(file, before, job).map_err(|error| base::no_copy(job, &error))?;
    }
    Ok(Ok(before))
}

/// A rotation is not completed by force either: who else has the secret is told by what this run has written, and what
/// others wrote by force for it.
pub(super) fn reached(
    job: &Job<'_>,
    outcome: Outcome,
    mut decision: Decision,
    words: &Words,
    receipts: &[Receipt],
) -> Decision {
    if !job.succeeded(outcome) {
        return decision;
    }
    let held = i64::try_from(words.held(job).as_millis()).unwrap_or_default();
    let began = job.context.clock.wall_ms().saturating_sub(held);
    for rotation in job.plan.resources.iter().filter(|resource| resource.name.is_rotation()) {
        let written = [spool::written_by_force(job.state, job.owner.session, began), receipts.to_vec()].concat();
        let left = consumers::left_by_force(job.context, rotation, &written);
        if left.is_nothing() {
            continue;
        }
        let noted = left.noted();
        decision = match job.options.consumers_ok {
            true => decision.noting(noted),
            false => decision.held_back(rotation, left.shown(), job.options.times.ttl).noting(noted),
        };
    }
    decision
}

/// Writes the entry in the spool; there is none for a run whose state directory cannot be used.
pub(super) fn note(
    job: &Job<'_>,
    words: &Words,
    before: &[Before],
    (ends, word): (spool::Ends, Option<&str>),
    receipts: Vec<Receipt>,
) -> Result<(), StoreError> {
    let Some((reason, live)) = job.options.force.as_ref().zip(words.live) else {
        return Err(StoreError::Failed("the state directory cannot be used".to_owned()));
    };
    let now = job.context.clock.wall_ms();
    let held = i64::try_from(words.held(job).as_millis()).unwrap_or_default();
    let forced = Forced {
        grant: job.grant,
        owner: job.owner.clone(),
        resources: job.plan.resources.clone(),
        reason: [Some(reason.as_str()), word].into_iter().flatten().collect::<Vec<_>>().join("; "),
        began_at: now.saturating_sub(held),
        ended_at: now,
        files: job.records(before),
        receipts,
        end: ends.whole,
        apart: ends.apart,
    };
    spool::write(job.state, &job.store, job.grant, live, spool::News::Forced(forced))
}

fn say_ending(job: &Job<'_>, decision: &Decision) {
    for telling in &decision.tellings {
        match telling {
            Telling::Kept { .. } => {}
            Telling::Consumers { resource, consumers, .. } => {
                report::say(&report::not_completed_by_force(resource, consumers));
            }
            Telling::OpenEdit { shown } => {
                report::say(&format!("locked: {shown} is plaintext now, and no lease protects it"));
            }
            Telling::Unproven { why, .. } => {
                report::say(&report::telling(&Telling::Unproven { why: why.clone(), stays: None }, &job.wanted()));
            }
            Telling::MayRunOn { reason, .. } => report::say(&format!("locked: {reason}")),
            told @ (Telling::Bad { .. } | Telling::Unverified { .. }) => {
                report::say(&report::telling(told, &job.wanted()));
            }
        }
    }
}
