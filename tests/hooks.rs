//! Git's hooks: real commits of real SOPS files, in every way in which git makes them.
#![forbid(unsafe_code)]

mod amended;
mod audited;
mod bared;
mod beside;
mod bound;
mod commits;
mod managers;
mod merges;
mod moved;
mod places;
mod pushes;
mod sealed;
mod standing;
mod without;
pub(crate) mod yard;
mod zones;
