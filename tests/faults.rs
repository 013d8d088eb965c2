//! Fault injection: wrappers, keepers, children and stores that are killed, frozen and starved, by real signals. The
//! children themselves say who was alive when, in one log, and the checker looks for two at once.
#![cfg(target_os = "linux")]

mod actor;
mod campaign;
mod frozen;
mod killed;
mod leftovers;
mod litter;
mod log;
mod namespaces;
mod nesting;
mod owed;
mod schedules;
mod sops;
mod stage;
mod store;
mod taken;
mod unsettled;
