//! `locked agents`: coding agents, whose hands start no program.
#![forbid(unsafe_code)]

mod around;
mod by_hand;
mod check;
mod command;
mod files;
mod hold;
mod installed;
mod place;
mod seen;
mod sops;
mod start;

use crate::exit::Exit;
use crate::run::Context;

use super::RunOptions;
use super::verbs::AgentsVerbs;

pub(super) fn agents(context: &Context, options: &RunOptions, verb: &AgentsVerbs) -> Exit {
    match verb {
        AgentsVerbs::Install(verb) => installed::install(context, verb),
        AgentsVerbs::Remove(verb) => installed::remove(context, verb),
        AgentsVerbs::Status(form) => installed::status(context, form.json),
        AgentsVerbs::Check(verb) => check::check(context, options, verb),
    }
}

/// An agent is here whose hooks do not call us.
pub(super) fn lacks_hooks(context: &Context) -> bool {
    installed::lacks_hooks(context)
}
