//! `locked config`: what counts and who says so, and whose word is trusted.
#![forbid(unsafe_code)]

mod row;
mod show;
mod trust;

use clap::ArgMatches;

use crate::exit::Exit;
use crate::run::Context;

use super::RunOptions;
use super::verbs::ConfigVerbs;

/// `matches` knows which option was typed and which came from a variable.
pub(super) fn config(context: &Context, options: &RunOptions, matches: &ArgMatches, verb: &ConfigVerbs) -> Exit {
    let done = match verb {
        ConfigVerbs::Show(verb) => show::show(context, options, matches, verb),
        ConfigVerbs::Trust(verb) => trust::trust(context, verb),
    };
    done.unwrap_or_else(|exit| exit)
}
