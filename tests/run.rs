//! `locked PROGRAM …`, whole: the binary as built, before the real sops, in real repositories.
#![forbid(unsafe_code)]

mod damage;
mod hammer;
mod holding;
mod scopes;
mod settling;
mod secrecy;
pub(crate) mod stage;
mod store_down;
