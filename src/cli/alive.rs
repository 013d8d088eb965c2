//! Does a holder live? Proven either way by the kernel lock on its live file, else unknown. What is kept alive between
//! commands has a holder that lives: its keeper leaves with the process it keeps for.
#![forbid(unsafe_code)]

use crate::run::Keepers;
use crate::state::{Gone, StateDir, probe};
use crate::store::LeaseView;

/// `yes`, `no` or `unknown`.
pub(super) fn alive(state: &StateDir, host_id: &str, keepers: &Keepers<'_>, lease: &LeaseView) -> &'static str {
    match lease.live.filter(|_| lease.host_id == host_id).map(|live| probe(state, lease.grant, live)) {
        Some(Gone::Alive) => "yes",
        Some(Gone::Proven) => "no",
        Some(Gone::Unknown) | None if keepers.keeper_of(lease).is_some() => "yes",
        Some(Gone::Unknown) | None => "unknown",
    }
}
