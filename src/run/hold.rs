//! A run under a lease, from the state directory to the exit.
#![forbid(unsafe_code)]

use std::os::fd::AsRawFd as _;
use std::time::Duration;

use crate::clock::Clock as _;
use crate::exit::{self, Exit};
use crate::holder::{ProcFs, Session};
use crate::invocation;
use crate::lease::{self, Asker, Obtained};
use crate::plan::HoldPlan;
use crate::report::{self, Refusal, Voice, Waiting};
use crate::state::{self, LiveFile, StateDir};
use crate::store::{Claim, FileRecord, Granted, Mode, Owner, Release, Request, Settlement, Store, StoreError};
use crate::supervise::{self, Order, Outcome, Watch, Wrapper};
use crate::terms::{FencingToken, GrantId, LeaseKey};

use super::base::{self, Base};
use super::duty::{KeeperDuty, Words};
use super::job::Job;
use super::{Context, Options, arbiter, env_of, files, retry_witness};

/// How long giving the lease back may take before the keeper goes on with it.
pub(super) const SETTLE: Duration = Duration::from_secs(2);

/// Holds what the plan asks for while the program runs.
pub(super) fn hold(context: &Context, options: &Options, plan: &HoldPlan, order: &Order) -> Exit {
    // Before the first wait: the real program would show its arguments only while it runs.
    invocation::wipe_arguments();
    match attempt(context, options, plan, order) {
        Ok(exit) => exit,
        Err(error) => {
            report::say(&report::store_down(&error).to_string());
            Exit::Code(exit::UNREACHABLE)
        }
    }
}

fn attempt(context: &Context, options: &Options, plan: &HoldPlan, order: &Order) -> Result<Exit, StoreError> {
    let state = StateDir::open(&env_of(context))?;
    let session = match super::session(context, options.session) {
        Ok(session) => session,
        Err(refusal) => return Ok(refuse(&refusal, exit::USAGE)),
    };
    let job = Job {
        context,
        options,
        plan,
        order,
        copies: state.copies()?,
        owner: owner(context, options, plan, &session, &state),
        grant: GrantId::random(),
        key: LeaseKey::random().map_err(|error| StoreError::Failed(error.to_string()))?,
        arbiter: arbiter::arbiter(context, Some(&order.program)),
        state: &state,
    };
    // Order: live file, keeper, connection. The keeper is forked while there is no thread and no connection.
    let live = LiveFile::create(&state, job.grant, context.clock.now())?;
    let watch = Watch { times: options.times, stopped_max: options.times.ttl };
    let keep = [live.file().as_raw_fd()];
    let wrapper = supervise::hire(order, watch, context.clock.as_ref(), &keep, KeeperDuty::new(&job))
        .map_err(|error| StoreError::Failed(format!("no process for the keeper: {error}")))?;
    let exit = under_watch(&job, &live, wrapper);
    if !matches!(exit, Ok(Ended { live_file_stays: true, .. })) {
        live.remove();
    }
    exit.map(|ended| ended.exit)
}

struct Ended {
    exit: Exit,
    live_file_stays: bool,
}

impl From<Exit> for Ended {
    fn from(exit: Exit) -> Self {
        Self { exit, live_file_stays: false }
    }
}

fn under_watch(job: &Job<'_>, live: &LiveFile, wrapper: Wrapper) -> Result<Ended, StoreError> {
    let asked = super::open_store(job.context, job.state).and_then(|mut store| {
        let records = job.records(&job.observe());
        let obtained = ask(job, live, records.clone(), store.as_mut())?;
        Ok((store, records, obtained))
    });
    let (mut store, records, obtained) = match asked {
        Ok(asked) => asked,
        Err(error) => {
            wrapper.dismiss();
            return Err(error);
        }
    };
    match obtained {
        Obtained::Granted { granted, sent } => {
            let words = Words {
                sent: u64::try_from(sent.0.as_millis()).unwrap_or(u64::MAX),
                lasts: u64::try_from(granted.lasts.as_millis()).unwrap_or(u64::MAX),
                tokens: granted.tokens.iter().map(|(_, token)| token.0).collect(),
                carried: job.carried(&granted),
            };
            if !granted.unsettled.is_empty() {
                // Somebody was killed here: then there is litter.
                state::sweep(job.state);
            }
            match granted_run(job, &granted, &words, &records, store.as_mut(), wrapper) {
                Ok(ended) => Ok(ended),
                Err(error) => Ok(give_back(job, &granted, store.as_mut(), &error)),
            }
        }
        Obtained::Busy(busy) => {
            wrapper.dismiss();
            let refusal = report::busy(&busy, &job.wanted(), job.context.clock.wall_ms());
            Ok(refuse(&refusal, job.options.conflict_status).into())
        }
        Obtained::Quarantined(busy) => {
            wrapper.dismiss();
            let bad = busy.blockers.iter().find(|blocker| blocker.quarantined());
            let file = bad.and_then(|bad| files::bad_file(job.context, &bad.lease, &job.plan.files));
            Ok(refuse(&report::quarantined(&busy, file.as_deref()), exit::QUARANTINED).into())
        }
    }
}

/// Something failed between the grant and the child. Nothing was run, so the lease goes back; if the store does not
/// take it, the live file stays as the proof that nobody has it.
fn give_back(job: &Job<'_>, granted: &Granted, store: &mut dyn Store, error: &StoreError) -> Ended {
    let tokens: Vec<FencingToken> = granted.tokens.iter().map(|(_, token)| *token).collect();
    let settlement = Settlement { ending: base::undone(granted), receipts: Vec::new() };
    let back = store.settle(&job.holding(&tokens), &settlement, SETTLE);
    report::say(&report::store_down(error).to_string());
    Ended { exit: Exit::Code(exit::UNREACHABLE), live_file_stays: back.is_err() }
}

fn ask(job: &Job<'_>, live: &LiveFile, files: Vec<FileRecord>, store: &mut dyn Store) -> Result<Obtained, StoreError> {
    let request = Request {
        grant: job.grant,
        key: job.key.clone(),
        resources: job.plan.resources.clone(),
        owner: job.owner.clone(),
        claim: Claim::Command,
        ttl: job.options.times.ttl,
        first_grant: job.options.times.first_grant(),
        within: super::within(job.context),
        mode: Mode::Try,
        live: Some(live.live()),
        files,
        remote: false,
        gone: Vec::new(),
    };
    let mut waiting = Waiting::new(job.wanted(), job.context.voice);
    let witness = retry_witness(job.state, &job.owner.host_id);
    let mut notice = |notice: lease::Notice<'_>| waiting.notice(&notice);
    let mut asker = Asker { store, clock: job.context.clock.as_ref(), witness: &witness, notice: &mut notice };
    let obtained = lease::acquire(request, job.options.patience, &mut asker);
    waiting.done();
    obtained
}

fn granted_run(
    job: &Job<'_>,
    granted: &Granted,
    words: &Words,
    records: &[FileRecord],
    store: &mut dyn Store,
    wrapper: Wrapper,
) -> Result<Ended, StoreError> {
    let tokens: Vec<FencingToken> = granted.tokens.iter().map(|(_, token)| *token).collect();
    let before = match base::prove(job, granted, &tokens, records, store) {
        Ok(Base::Sound(before)) => before,
        Ok(Base::Refused { refusal, status }) => {
            wrapper.dismiss();
            return Ok(refuse(&refusal, status).into());
        }
        Err(error) => {
            wrapper.dismiss();
            return Err(error);
        }
    };
    let text = serde_json::to_string(words).map_err(|error| StoreError::Failed(error.to_string()))?;
    let outcome = match wrapper.run(text, &words.begin(job), job.context.clock.as_ref()) {
        Ok(outcome) => outcome,
        Err(error) => {
            report::say(&format!("locked: {error}"));
            wrapper.leave_to_keeper();
            return Ok(Ended { exit: Exit::Code(exit::INTERNAL), live_file_stays: true });
        }
    };
    Ok(finish(job, outcome, (&before, &words.carried), &tokens, store, wrapper))
}

/// Everything from here on yields values: no path out of it forgets the lease.
fn finish(
    job: &Job<'_>,
    outcome: Outcome,
    (before, carried): (&[super::Before], &[FileRecord]),
    tokens: &[FencingToken],
    store: &mut dyn Store,
    wrapper: Wrapper,
) -> Ended {
    let (decision, receipts) = job.decide(outcome, before, carried);
    let proofs = receipts.len();
    let settled = job.settle(store, tokens, &decision, receipts, SETTLE);
    tell(job, outcome, &decision);
    if job.context.voice == Voice::Verbose {
        report::say(&report::settled(&decision.ending, &job.wanted(), proofs));
    }
    match settled {
        Ok(Release::Released) => wrapper.dismiss(),
        Ok(Release::NotOurs) => {
            wrapper.dismiss();
            if !matches!(outcome, Outcome::Stopped(_)) {
                report::say(&report::lost(&job.wanted(), supervise::Cause::Gone));
                return Exit::Code(exit::LOST).into();
            }
        }
        Err(error) => {
            report::say(&report::kept_by_keeper(&job.wanted(), &error.to_string()));
            wrapper.leave_to_keeper();
            return Ended { exit: decision.exit, live_file_stays: true };
        }
    }
    decision.exit.into()
}

fn tell(job: &Job<'_>, outcome: Outcome, decision: &crate::settle::Decision) {
    if job.context.voice == Voice::Quiet {
        return;
    }
    match outcome {
        Outcome::Stopped(cause) => report::say(&report::lost(&job.wanted(), cause)),
        Outcome::NeverStarted(errno) => {
            let error = std::io::Error::from_raw_os_error(errno);
            report::say(&format!("locked: the program cannot be executed: {error}"));
        }
        Outcome::Exited(_) | Outcome::Signaled(_) => {}
    }
    if let Some(hint) = super::hint::hint(job, outcome) {
        report::say(&format!("locked: {hint}"));
    }
    if let Some(telling) = &decision.telling {
        report::say(&report::telling(telling, &job.wanted()));
    }
}

fn refuse(refusal: &Refusal, status: i32) -> Exit {
    report::say(&refusal.to_string());
    Exit::Code(status)
}

fn owner(context: &Context, options: &Options, plan: &HoldPlan, session: &Session, state: &StateDir) -> Owner {
    Owner {
        session: session.id,
        label: session.label.clone(),
        host: ProcFs::host(),
        host_id: state.host_id(context.clock.as_ref()),
        pid: std::process::id(),
        operation: options.operation.clone().unwrap_or_else(|| plan.operation.clone()),
        rule: plan.rule.map(str::to_owned),
    }
}
