//! `locked doctor`: each planted fault is found with its remedy, a healthy setup has none, and nothing holds it up.
#![forbid(unsafe_code)]

pub(crate) mod bed;
mod fixes;
mod healthy;
mod hostile;
mod once;
mod people;
mod repository;
mod server;
mod shims;
mod stores;
mod tools;
