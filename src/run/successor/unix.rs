//! Unix: the keeper is there already, and knows everything.
#![forbid(unsafe_code)]

use crate::config::StoreSetting;
use crate::exit::Exit;
use crate::plan::HoldPlan;
use crate::run::job::Job;
use crate::run::words::Words;
use crate::run::{Before, Context, Options};
use crate::store::StoreError;
use crate::supervise::{Order, Wrapper};

/// The keeper.
pub(in crate::run) struct Successor(());

impl Successor {
    /// Nobody need be started.
    pub(in crate::run) fn of(_job: &Job<'_>, _words: &Words) -> Self {
        Self(())
    }

    /// Looks after what is open.
    #[expect(clippy::unused_self, reason = "the same as where one is started")]
    pub(in crate::run) fn tend(self, _job: &Job<'_>, _before: &[Before], _words: &Words, wrapper: Wrapper) {
        wrapper.leave_to_tend();
    }
}

/// What we do in the place of a run, where we were started to succeed one: we never are.
#[expect(clippy::unnecessary_wraps, reason = "the same as where one is started")]
pub(in crate::run) fn instead(
    _context: &Context,
    _options: &Options,
    _plan: &HoldPlan,
    _order: &Order,
    _store: &StoreSetting,
) -> Result<Option<Exit>, StoreError> {
    Ok(None)
}
