//! A run under a lease, from the state directory to the exit.
#![forbid(unsafe_code)]

use std::io::IsTerminal as _;

use crate::clock::Clock as _;
use crate::config::StoreSetting;
use crate::exit::{self, Exit};
use crate::holder::{ProcFs, Processes as _, Session, Source};
use crate::invocation;
use crate::lease::{self, Asker, Busy, Obtained, Witness as _};
use crate::plan::HoldPlan;
use crate::platform;
use crate::report::{self, Refusal, Voice, Waiting};
use crate::state::{LiveFile, StateDir};
use crate::store::advisory;
use crate::store::{Claim, FileRecord, Granted, LeaseState, LeaseView, Mode, Owner, Request, Store, StoreError};
use crate::supervise::{self, Cause, News, Order, Ran, Watch, Wrapper};
use crate::terms::{FencingToken, GrantId, LeaseKey};

use super::base::{self, Base};
use super::duty::KeeperDuty;
use super::ending::{After, Ended, finish, give_back};
use super::follow::Follower;
use super::job::Job;
use super::successor::{self, Successor};
use super::words::Words;
use super::{Context, Keepers, Options, arbiter, files, forced, loose, on_lost, read, recheck, retry_witness, setting};

/// Holds what the plan asks for while the program runs.
pub(super) fn hold(context: &Context, options: &Options, plan: &HoldPlan, order: &Order) -> Exit {
    // Before the first wait: the real program would show its arguments only while it runs.
    invocation::wipe_arguments();
    context.account.wants(plan, options.operation.as_deref());
    let store = match setting::for_plan(context, plan) {
        Ok(store) => store,
        Err(wrong) => return wrong.refuse(context),
    };
    if store.advisory && plan.policy.hold_for.is_some() && plan.policy.follow.is_empty() {
        let error = advisory::without_a_table(&format!("{}, which stays for a while after success,", plan.shown()));
        return refuse(context, &report::store_down(&error), setting::status_of(&error));
    }
    let options = options.under(&plan.policy);
    let over_a_session = store.advisory.then(|| options.over_a_session());
    attempt(context, &over_a_session.unwrap_or(options), plan, order, store)
        .unwrap_or_else(|error| refuse(context, &report::store_down(&error), setting::status_of(&error)))
}

fn attempt(
    context: &Context,
    options: &Options,
    plan: &HoldPlan,
    order: &Order,
    store: StoreSetting,
) -> Result<Exit, StoreError> {
    if let Some(exit) = successor::instead(context, options, plan, order, &store)? {
        return Ok(exit);
    }
    let grant = GrantId::random();
    let forced::Ground { state, live, refuge } = forced::ground(context, options, grant)?;
    let session = match super::session(context, options.session, &options.settings) {
        Ok(session) => session,
        Err(refusal) => {
            live.remove();
            return Ok(refuse(context, &refusal, exit::USAGE));
        }
    };
    let job = Job {
        context,
        options,
        plan,
        order,
        copies: state.copies()?,
        owner: owner(context, options, plan, &session, &state),
        anchor: anchor(&session),
        nameless: session.source == Source::Unanchored,
        grant,
        key: LeaseKey::random().map_err(|error| StoreError::Failed(error.to_string()))?,
        arbiter: arbiter::arbiter(context, Some(&order.program)),
        state: &state,
        store,
    };
    let edits_unseen = plan.rule.as_deref() == Some("sops.edit") && !std::io::stdin().is_terminal();
    let give_back = plan.gives_back_after();
    let watch = Watch { times: options.times, stopped_max: options.stopped_max, give_back, edits_unseen };
    let keep = [platform::tied(live.file())];
    // Order: live file, what a store starts for itself (none of the tree that we stop), keeper, connection. The keeper is
    // forked while there is no thread and no connection.
    let opened = super::entry::open_untold(context, &state, &job.store).and_then(|mut store| {
        store.prepare()?;
        Ok(store)
    });
    let wrapper = supervise::hire(order, watch, context.clock.as_ref(), &keep, KeeperDuty::new(&job))
        .map_err(|error| StoreError::Failed(format!("no process for the keeper: {error}")))?;
    let (shelter, down) = refuge.map_or((None, None), |(directory, error)| (Some(directory), Some(error)));
    let exit = under_watch(&job, &live, wrapper, down, opened);
    if let Some(shelter) = shelter.filter(|_| matches!(&exit, Ok(ended) if ended.exit == Exit::Code(exit::QUARANTINED)))
    {
        report::say(&format!("locked: how the file was before is kept below {}", shelter.keep().display()));
    }
    // A lease that may still stand is proven gone by this file; it goes with the lease, or when it is swept.
    if matches!(exit, Ok(Ended { unsettled: false, .. })) {
        live.remove();
        super::litter::sweep(context, &state, &job.store);
    }
    exit.map(|ended| ended.exit)
}

fn under_watch(
    job: &Job<'_>,
    live: &LiveFile,
    wrapper: Wrapper,
    down: Option<StoreError>,
    opened: Result<Box<dyn Store>, StoreError>,
) -> Result<Ended, StoreError> {
    let in_refuge = down.is_some();
    let opened = down.map_or(opened, Err).map(|mut store| {
        super::spool::send(job.state, &job.store, store.as_mut());
        store
    });
    let asked = opened.and_then(|mut store| {
        can_keep(job.options, store.as_ref())?;
        let records = job.records(&job.observe());
        let obtained = ask(job, live, records.clone(), store.as_mut())?;
        Ok((store, records, obtained))
    });
    let (mut store, records, obtained) = match asked {
        Ok(asked) => asked,
        Err(error) => {
            if let Some(reason) = job.options.force.as_deref().filter(|_| forced::answers(&error)) {
                return forced::run(job, reason, live.live(), in_refuge, &error, wrapper);
            }
            wrapper.dismiss();
            return Err(error);
        }
    };
    match obtained {
        Obtained::Granted { granted, sent } => {
            report::say_words(&granted.words, store.as_mut(), job.owner.session);
            super::used::note(job);
            let words = Words {
                sent: u64::try_from(sent.0.as_millis()).unwrap_or(u64::MAX),
                lasts: u64::try_from(granted.lasts.as_millis()).unwrap_or(u64::MAX),
                tokens: granted.tokens.iter().map(|(_, token)| token.0).collect(),
                forced: false,
                live: Some(live.live()),
                carried: job.carried(&granted),
                accepted: Vec::new(),
                bases: Vec::new(),
                issues: recheck::issues_of_option(job),
            };
            match granted_run(job, &granted, &words, &records, store.as_mut(), wrapper) {
                Ok(ended) => Ok(ended),
                Err(error) => Ok(give_back(job, &granted, store.as_mut(), &error)),
            }
        }
        Obtained::Busy(busy) => {
            wrapper.dismiss();
            job.context.account.in_the_way(&busy);
            if let Some(above) = taken_above(job, &busy) {
                return Ok(refuse(job.context, &report::taken_above(above), exit::LOST).into());
            }
            let keepers = Keepers::of(job.state, &job.store);
            let renewed = super::keepers::renewed_for(&keepers, &job.options.settings, &busy);
            let mut refusal = report::busy(&busy, &job.wanted(), job.context.clock.wall_ms(), renewed);
            if busy.deadlock {
                let above = job.context.invocation.var("LOCKED_RESOURCES").unwrap_or_default();
                refusal = refusal.along_with(&above.to_string_lossy());
            }
            if job.nameless {
                refusal.why.push_str(report::NAMELESS);
            }
            Ok(refuse(job.context, &refusal, job.options.conflict_status).into())
        }
        Obtained::Quarantined(busy) => {
            wrapper.dismiss();
            job.context.account.in_the_way(&busy);
            let bad = busy.blockers.iter().find(|blocker| blocker.quarantined());
            let file = bad.and_then(|bad| files::bad_file(job.context, &bad.lease, &job.plan.files));
            Ok(refuse(job.context, &report::quarantined(&busy, file.as_deref()), exit::QUARANTINED).into())
        }
    }
}

/// What is being taken away from a command above us: nothing new begins under it.
fn taken_above<'b>(job: &Job<'_>, busy: &'b Busy) -> Option<&'b LeaseView> {
    let (within, witness) = (super::within(job.context), retry_witness(job.state, &job.owner.host_id));
    let is_above = |lease: &LeaseView| Some(lease.grant) == within || witness.is_above_us(lease);
    let mut leases = busy.blockers.iter().map(|blocker| &blocker.lease);
    leases.find(|lease| lease.state == LeaseState::Revoked && is_above(lease))
}

/// Who asks for a lease to be kept after a failure gets one that can be, or nothing is run.
fn can_keep(options: &Options, store: &dyn Store) -> Result<(), StoreError> {
    match options.keep && !store.keeps() {
        true => Err(StoreError::Misnamed {
            why: "--keep asks for a lease that stays after a failure, and session locks (advisory) fall with their command"
                .to_owned(),
            remedy: "leave --keep out, or use the ledger: a store without advisory".to_owned(),
        }),
        false => Ok(()),
    }
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
        remote: job.plan.remote,
        ask: job.plan.ask.clone(),
        gone: Vec::new(),
    };
    let mut waiting = Waiting::new(job.wanted(), job.context.voice);
    let witness = retry_witness(job.state, &job.owner.host_id);
    let mut notice = |notice: lease::Notice<'_>| waiting.notice(&notice);
    let mut asker = Asker { store, clock: job.context.clock.as_ref(), witness: &witness, notice: &mut notice };
    let began = asker.clock.now();
    let obtained = lease::acquire(request, job.options.patience, &mut asker);
    job.context.account.waited(began.until(job.context.clock.now()));
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
    let (before, accepted) = match base::prove(job, granted, &tokens, records, store) {
        Ok(Base::Sound { before, accepted }) => (before, accepted),
        Ok(Base::Refused { refusal, status }) => {
            stay_or_leave(job, granted, words, status, wrapper);
            let lost = status == exit::LOST;
            if lost {
                job.context.account.ended("lost", words.held(job), None);
            }
            let exit = refuse(job.context, &refusal, status);
            if lost {
                on_lost::run(job, Cause::Gone);
            }
            return Ok(exit.into());
        }
        Ok(Base::Left { refusal, status }) => {
            wrapper.dismiss();
            return Ok(Ended { exit: refuse(job.context, &refusal, status), unsettled: true });
        }
        Err(error) => {
            wrapper.dismiss();
            return Err(error);
        }
    };
    let words = &match recheck::look(job, granted, words.clone(), store) {
        Ok(Ok(words)) => words,
        Ok(Err((refusal, status))) => {
            stay_or_leave(job, granted, words, status, wrapper);
            return Ok(refuse(job.context, &refusal, status).into());
        }
        Err(error) => {
            wrapper.dismiss();
            return Err(error);
        }
    };
    job.context.account.runs(&granted.tokens);
    read::note_under_lease(job);
    let follower = Follower::before(job, granted.lasts);
    let bases = before.iter().map(|before| before.base.clone()).collect();
    let words = &Words { accepted, bases, ..words.clone() };
    let text = serde_json::to_string(words).map_err(|error| StoreError::Failed(error.to_string()))?;
    // Order: before the command, so that it knows the files as they are now.
    let successor = Successor::of(job, words);
    let mut news = |news: News| {
        // The connection is for a short command; others may want it.
        store.hang_up();
        if news == News::Loose && job.context.voice == Voice::Verbose {
            report::say(&report::loose(&job.wanted()));
        }
    };
    let Ran { outcome, hold } = match wrapper.run(text, &words.begin(job), job.context.clock.as_ref(), &mut news) {
        Ok(ran) => ran,
        Err(error) => {
            report::say(&format!("locked: {error}"));
            job.context.account.ended("left-to-keeper", words.held(job), Some(&error.to_string()));
            wrapper.leave_to_keeper();
            return Ok(Ended { exit: Exit::Code(exit::INTERNAL), unsettled: true });
        }
    };
    if hold.is_over() {
        return Ok(loose::end(job, Ran { outcome, hold }, words, store, wrapper));
    }
    let after = After { outcome, before: &before, words, follower, successor };
    Ok(finish(job, after, store, wrapper))
}

/// Nothing was run, and the lease is settled: an open edit that it is of is looked after as before.
fn stay_or_leave(job: &Job<'_>, granted: &Granted, words: &Words, status: i32, wrapper: Wrapper) {
    let is_over = status == exit::LOST || status == exit::QUARANTINED;
    match serde_json::to_string(words) {
        Ok(text) if !is_over && base::open_edit(job, granted).is_some() => wrapper.leave_to_stay(text),
        _ => wrapper.dismiss(),
    }
}

pub(super) fn refuse(context: &Context, refusal: &Refusal, status: i32) -> Exit {
    context.account.refused(refusal);
    report::say(&refusal.to_string());
    Exit::Code(status)
}

/// The process that stands for the session.
fn anchor(session: &Session) -> Option<(u32, u64)> {
    let Source::Anchor { pid, .. } = &session.source else { return None };
    ProcFs::new().process(*pid).map(|process| (process.pid, process.started))
}

fn owner(context: &Context, options: &Options, plan: &HoldPlan, session: &Session, state: &StateDir) -> Owner {
    let operation = beside(options, options.operation.as_deref().unwrap_or(&plan.operation));
    super::owner(context, state, session, operation, plan.rule.clone())
}

/// What is done, and for which issue.
fn beside(options: &Options, operation: &str) -> String {
    options.issue.as_ref().map_or_else(|| operation.to_owned(), |issue| issue.beside(operation))
}
