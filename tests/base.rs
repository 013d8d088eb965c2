//! No lost update across time: who edits an old copy is told, with the command that brings the new one.
#![forbid(unsafe_code)]

mod adopting;
mod clones;
mod kept;
mod notes;
mod odd;
mod older;
mod open_edit;
mod playbook;
mod replaced;
mod table;
mod unseen;

mod stage;
