//! No lost update across time: who edits an old copy is told, with the command that brings the new one.
#![forbid(unsafe_code)]

mod adopting;
mod back;
mod beside;
mod clones;
mod fetches;
mod filters;
mod forgotten;
mod joined;
mod kept;
mod notes;
mod odd;
mod older;
mod open_edit;
mod plain;
mod playbook;
mod replaced;
mod table;
mod taken_in;
mod unseen;

pub(crate) mod stage;
