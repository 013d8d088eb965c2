//! `LOCKED_BYPASS='reason'`: the one way through a shim without a lease. The program is run as if we were not there; what
//! it would have held is told on standard error and to the ledger, which learns of it later where it cannot be reached.
//!
//! It speaks to shims alone. Who types `locked` asks for the lease, and only need not type it; and a variable that is
//! left in an environment must not take the lease from those who ask for it. It stays in the program's environment, so
//! that shims below it are bypassed too, and each says so.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::time::Duration;

use crate::clock::Clock as _;
use crate::config::{Settings, StoreSetting};
use crate::exit::{self, Exit};
use crate::plan::HoldPlan;
use crate::report;
use crate::settle;
use crate::state::StateDir;
use crate::store::{Ended, Forced, ForcedEnd, HistoryFilter, Live, Store, StoreError};
use crate::supervise::{self, Order};
use crate::terms::{GrantId, Resource, said};

use super::{Context, env_of, setting, settings, spool};

/// The variable.
const VARIABLE: &str = "LOCKED_BYPASS";

/// How a reason begins in the ledger, so that it is told from that of a `--force`.
const MARK: &str = "bypass: ";

/// How long the store may take to hear of it; then the spool has it.
const LIMIT: Duration = Duration::from_secs(2);

/// What was said in the variable, if we stand in a program's place. Looked at only where a lease would be taken.
pub(super) fn asked(context: &Context) -> Option<OsString> {
    context.shim.as_ref().and_then(|_| context.invocation.var(VARIABLE))
}

/// Runs the program without the lease that the plan wants.
pub(super) fn run(context: &Context, reason: &OsStr, plan: &HoldPlan, order: &Order) -> Exit {
    let reason = match checked(context, reason) {
        Ok(reason) => reason,
        Err(exit) => return exit,
    };
    let told = match record(context, &reason, plan) {
        Ok(told) => told.to_owned(),
        Err(why) => format!("nothing could be recorded: {why}"),
    };
    go(context, &reason, &plan.shown(), &told, order)
}

/// The same where it cannot be said what the command would have held.
pub(super) fn unnamed(context: &Context, reason: &OsStr, why: &str, order: &Order) -> Exit {
    let reason = match checked(context, reason) {
        Ok(reason) => reason,
        Err(exit) => return exit,
    };
    go(context, &reason, "what it writes", &format!("nothing could be recorded: {why}"), order)
}

fn go(context: &Context, reason: &str, what: &str, told: &str, order: &Order) -> Exit {
    let program = order.program.file_name().unwrap_or_default().display();
    report::insist(&format!("locked: {program} runs without a lease on {what}, bypassed ({reason}); {told}"));
    context.account.forced(reason);
    context.account.passes("bypassed");
    let error = supervise::replace(order);
    report::say(&format!("locked: {}: {error}", order.program.display()));
    Exit::Code(settle::could_not_start(error.raw_os_error().unwrap_or_default()))
}

/// A reason that says something, on one line, as others may read it.
fn checked(context: &Context, reason: &OsStr) -> Result<String, Exit> {
    reason.to_str().and_then(|text| said(text).ok()).ok_or_else(|| {
        let what = "LOCKED_BYPASS does not say why, on one line of at most 200 characters";
        context.account.because(what);
        let next = "say why in LOCKED_BYPASS, or unset it";
        report::say(&report::misuse(what, next).to_string());
        Exit::Code(exit::USAGE)
    })
}

/// Tells the ledger of the plan's resources; the answer says how.
fn record(context: &Context, reason: &str, plan: &HoldPlan) -> Result<&'static str, String> {
    let layers = settings::layers_for(context, plan).map_err(|error| error.to_string())?;
    let settings = layers.settings(&settings::BUILT_IN).map_err(|error| error.to_string())?;
    let store = setting::for_plan(context, plan).map_err(|wrong| wrong.refusal().0.what)?;
    let deed = Deed { operation: &plan.operation, rule: plan.rule.as_deref(), resources: &plan.resources };
    tell(context, reason, &deed, &settings, &store)
}

/// The same for a hook, of git or of an agent, which lets an operation through that is about these resources.
///
/// # Errors
/// Why nobody could be told.
pub fn record_hook(
    context: &Context,
    reason: &str,
    operation: &str,
    resources: &[Resource],
) -> Result<&'static str, String> {
    let layers = settings::layers_here(context).map_err(|error| error.to_string())?;
    let settings = layers.settings(&settings::BUILT_IN).map_err(|error| error.to_string())?;
    let store = setting::store_here(context).map_err(|wrong| wrong.refusal().0.what)?;
    tell(context, reason, &Deed { operation, rule: None, resources }, &settings, &store)
}

/// What is done without a lease.
struct Deed<'a> {
    operation: &'a str,
    rule: Option<&'a str>,
    resources: &'a [Resource],
}

/// Tells the store, or the spool; the answer says which. An error is why neither was told.
fn tell(
    context: &Context,
    reason: &str,
    deed: &Deed<'_>,
    settings: &Settings,
    store: &StoreSetting,
) -> Result<&'static str, String> {
    let state = StateDir::open(&env_of(context)).map_err(|error| error.to_string())?;
    let session = super::session(context, None, settings).map_err(|refusal| refusal.what)?;
    let now = context.clock.wall_ms();
    let forced = Forced {
        grant: GrantId::random(),
        owner: super::owner(context, &state, &session, deed.operation.to_owned(), deed.rule.map(str::to_owned)),
        resources: deed.resources.to_vec(),
        reason: format!("{MARK}{reason}"),
        began_at: now,
        // We are gone when it ends: the program takes our place.
        ended_at: now,
        files: Vec::new(),
        receipts: Vec::new(),
        // A person's word: nobody is kept out by it, and nobody waits for its end.
        end: ForcedEnd::Ended(Ended::HumanAction),
        apart: Vec::new(),
    };
    let told =
        super::entry::open_untold(context, &state, store).and_then(|mut opened| opened.record_forced(&forced, LIMIT));
    if told.is_ok() {
        return Ok(if store.advisory { "its store keeps no history" } else { "the ledger knows" });
    }
    // No live file stands for it: what has ended is told whoever holds what.
    let nobody = Live { device: 0, inode: 0 };
    spool::write(&state, store, forced.grant, nobody, spool::News::Forced(forced))
        .map(|()| "the ledger will be told")
        .map_err(|error| error.to_string())
}

/// How often shims were bypassed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bypasses {
    /// What the ledger knows of: ended leases that were none.
    pub recorded: usize,
    /// Calls that it has not heard of yet.
    pub spooled: usize,
}

/// Whether a run without a lease was one by `LOCKED_BYPASS`, by the reason that is on record for it.
#[must_use]
pub fn is_bypass(reason: &str) -> bool {
    reason.starts_with(MARK)
}

/// Counts the bypasses that the store knows of, of the last `since` (none: of all its history, the newest thousand rows), and those that
/// wait in the spool. A call that would have held two resources is two rows.
///
/// # Errors
/// The store could not answer; [`spooled`] needs none.
pub fn bypasses(
    state: &StateDir,
    store: &mut dyn Store,
    since: Option<Duration>,
    limit: Duration,
) -> Result<Bypasses, StoreError> {
    let filter = HistoryFilter { name: None, since, limit: Some(1000) };
    let past = store.history(&filter, limit)?;
    // What the stores put before every reason of this kind.
    let went_around = |note: &String| note.strip_prefix("forced: ").is_some_and(is_bypass);
    let recorded = past.iter().filter(|lease| lease.note.as_ref().is_some_and(went_around)).count();
    Ok(Bypasses { recorded, spooled: spooled(state) })
}

/// Counts the bypasses that wait in the spool until their store can be told.
#[must_use]
pub fn spooled(state: &StateDir) -> usize {
    let Ok(files) = fs::read_dir(state.path().join("spool")) else { return 0 };
    let _as_owner = state.as_owner();
    let reasons = files.filter_map(|file| spool::reason(&file.ok()?.path()));
    reasons.filter(|reason| is_bypass(reason)).count()
}
