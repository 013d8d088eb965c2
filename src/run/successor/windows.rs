//! Windows: one is started before a command that opens an edit, or runs while the session has one open. It goes the way to
//! the same plan, and idles until it is told what stayed open.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use crate::config::StoreSetting;
use crate::exit::Exit;
use crate::plan::HoldPlan;
use crate::report;
use crate::rules::Change;
use crate::run::job::Job;
use crate::run::tending::{self, Edit};
use crate::run::words::Words;
use crate::run::{Before, Context, Options, arbiter, entry, env_of};
use crate::state::StateDir;
use crate::store::{FileRecord, Holding, Owner, StoreError};
use crate::supervise::{self, Order, Wrapper};
use crate::terms::{FencingToken, GrantId, LeaseKey, Resource};

use super::super::ending::settle_within;

/// What it is told: whose edit it is, and what is open. For a pipe between two processes of one user.
#[derive(Serialize, Deserialize)]
struct Work {
    grant: GrantId,
    key: LeaseKey,
    owner: Owner,
    anchor: Option<(u32, u64)>,
    tokens: Vec<(Resource, FencingToken)>,
    files: Vec<(FileRecord, Resource)>,
}

/// A process that idles; none where nothing can be open afterwards, or why there is none.
pub(in crate::run) struct Successor(Result<Option<supervise::Successor>, String>);

impl Successor {
    /// Starts one if this command may leave an edit open.
    pub(in crate::run) fn of(job: &Job<'_>, words: &Words) -> Self {
        let opens = |change: &Change| matches!(change, Change::DecryptInPlace | Change::DecryptTo);
        let may_open = job.plan.files.iter().any(|file| opens(&file.write.change)) || !words.carried.is_empty();
        let start = || supervise::Successor::start(&job.context.invocation.args).map_err(|error| error.to_string());
        Self(if may_open { start().map(Some) } else { Ok(None) })
    }

    /// Looks after what is open.
    pub(in crate::run) fn tend(self, job: &Job<'_>, before: &[Before], words: &Words, wrapper: Wrapper<'_>) {
        let told = self.0.and_then(|successor| {
            let mut successor = successor.ok_or("it was not to be expected")?;
            let work = Work {
                grant: job.grant,
                key: job.key.clone(),
                owner: job.owner.clone(),
                anchor: job.anchor,
                tokens: job.tokens_of(&words.tokens()),
                files: Edit::of(job, before, &words.carried).into_files(),
            };
            let text = serde_json::to_string(&work).map_err(|error| error.to_string())?;
            successor.tell(&text).map_err(|error| error.to_string())?;
            // It has taken it over.
            successor.hear().map(drop)
        });
        if let Err(why) = told {
            report::say(&report::unwatched(&job.wanted(), &why));
        }
        wrapper.dismiss();
    }
}

/// What we do in the place of a run, where we were started to succeed one.
pub(in crate::run) fn instead(
    context: &Context,
    options: &Options,
    plan: &HoldPlan,
    order: &Order,
    store: &StoreSetting,
) -> Result<Option<Exit>, StoreError> {
    let Some(maker) = supervise::maker() else { return Ok(None) };
    let state = StateDir::open(&env_of(context))?;
    let copies = state.copies()?;
    // What it looks at and how is as it was before the command, as far as that can be seen here.
    let arbiter = arbiter::arbiter(context, Some(&order.program));
    let Some(work) = maker.work() else { leave() };
    let Ok(Work { grant, key, owner, anchor, tokens, files }) = serde_json::from_str(&work) else { leave() };
    let plan = HoldPlan { resources: tokens.iter().map(|(resource, _)| resource.clone()).collect(), ..plan.clone() };
    let (state, store) = (&state, store.clone());
    let (plan, nameless) = (&plan, false);
    let job = Job { context, options, plan, order, state, copies, owner, anchor, nameless, grant, key, arbiter, store };
    maker.say("taken");
    supervise::leave_directory();
    let holding = Holding::Grant { grant, key: job.key.clone(), resources: tokens };
    tending::tend(&Edit::told(&job, files), |settlement| {
        let store = entry::open_untold(context, state, &job.store);
        store.is_ok_and(|mut store| {
            let limit = settle_within(store.as_ref());
            store.settle(&holding, settlement, limit).is_ok()
        })
    });
    leave()
}

/// Our maker tells of the run, and nobody else.
fn leave() -> ! {
    supervise::leave(Exit::OK)
}
