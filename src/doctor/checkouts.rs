//! Two checkouts of one repository that look at two stores: each would be granted what the other has.
#![forbid(unsafe_code)]

use crate::config::{Address, StoreSetting};
use crate::report::day_and_time;
use crate::run::{self, env_of};
use crate::store;
use crate::terms::shell_quote;

use super::Finding;
use super::patient::Patient;

/// So many work trees are compared at most.
const MOST: usize = 50;

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let (Ok(setting), Some(repository)) = (&patient.setting, patient.repository()) else { return Vec::new() };
    let mut found: Vec<Finding> = noted(patient, setting).into_iter().collect();
    let ours = run::said_store(patient.context, Some(&repository.worktree_root), false);
    for root in repository.work_trees().into_iter().take(MOST) {
        let theirs = run::said_store(patient.context, Some(&root), false);
        // What cannot be followed there is told to who works there.
        if let (Ok(ours), Ok(theirs)) = (&ours, &theirs)
            && !is_one(ours, theirs)
        {
            let place = shell_quote(root.as_os_str().as_encoded_bytes());
            found.push(
                Finding::fault(
                    "checkouts.other-store",
                    format!("the work tree {place} of this repository uses another store"),
                )
                .because("commands there and here are granted the same resources at one time")
                .remedy(format!("let both say the same store: compare `locked config show store` here and in {place}")),
            );
        }
    }
    if found.is_empty() {
        found.push(Finding::ok("checkouts.one-store", "the checkouts of this repository look at one store"));
    }
    found
}

/// The store that a lease was last taken from, by whichever checkout.
fn noted(patient: &Patient<'_>, setting: &StoreSetting) -> Option<Finding> {
    let used = run::last_used(patient.repository()?)?;
    let state = patient.state.as_ref().ok().and_then(Option::as_ref)?;
    let (place, shown) = run::place_here(setting, &env_of(patient.context), state.path());
    (used.place != place).then(|| {
        let when = day_and_time(used.since_ms);
        let what = format!(
            "leases of this repository come from another store since {when}: {}; here it is {shown}",
            used.shown
        );
        Finding::warn("checkouts.last-store", what)
            .because("whoever works with that one and whoever works here are granted the same resources at one time")
            .remedy("set the same store for both; if it was moved, the next command under a lease notes the new one")
    })
}

fn is_one(ours: &StoreSetting, theirs: &StoreSetting) -> bool {
    match (&ours.address, &theirs.address) {
        (Address::Text(_), Address::Text(_)) => store::place_of(ours) == store::place_of(theirs),
        (ours, theirs) => ours == theirs,
    }
}
