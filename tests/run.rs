//! `locked PROGRAM …`, whole: the binary as built, before the real sops, in real repositories.
#![forbid(unsafe_code)]

mod hammer;
pub(crate) mod stage;
