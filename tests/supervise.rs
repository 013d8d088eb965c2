//! Tests of `supervise`: the program must not be able to tell that we stand in front of it, and nothing of it is left
//! when the lease is. Every observation is made three ways: the program itself, `locked` passing through, `locked`
//! with a lease.

mod editors;
mod endings;
mod footprint;
mod foreground;
mod frozen;
mod inherited;
mod jobs;
mod killed;
mod leftovers;
mod patience;
mod signals;
pub(crate) mod terminal;
mod waiting;
pub(crate) mod ways;
