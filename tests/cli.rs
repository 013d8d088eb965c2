//! The command line: verbs, options, refusals and help, through the binary as built.
#![forbid(unsafe_code)]

mod answers;
mod by_hand;
mod cases;
pub(crate) mod documented;
mod generated;
mod help;
mod manual;
mod mask;
mod nexts;
mod refusals;
mod schema;
pub(crate) mod store;
mod twins;
mod views;
mod watch;
mod words;
