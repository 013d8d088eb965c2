//! `locked PROGRAM …`, whole: the binary as built, before the real sops, in real repositories.
#![forbid(unsafe_code)]

mod canary;
mod damage;
mod hammer;
mod holding;
mod meanwhile;
mod quarantined;
mod redirects;
mod restoring;
mod scopes;
mod secrecy;
pub(crate) mod server;
mod settling;
pub(crate) mod stage;
mod stealing;
mod store_down;
