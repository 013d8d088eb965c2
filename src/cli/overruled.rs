//! Options win over their twins in the environment, also over the twin of their opposite: `locked -n` where `LOCKED_WAIT`
//! is exported does not wait.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use crate::run::Context;

use super::options::is_truthy;

/// The definition with every twin deaf.
pub(super) fn without_twins(definition: Command) -> Command {
    definition.mut_args(|arg| arg.env(None::<&str>))
}

/// The definition with those twins deaf that something else wins over: what was typed, or among twins the one that says
/// less (`LOCKED_NO_WAIT`, `LOCKED_QUIET`).
pub(super) fn without_overruled(definition: Command, words: &[OsString], context: &Context) -> Command {
    // What makes no sense is told by who parses in earnest.
    let Ok(typed) = without_twins(definition.clone()).try_get_matches_from(words) else { return definition };
    let set = |name: &str| context.invocation.var(name).is_some_and(|value| is_truthy(&value));
    let (no_wait, quiet) = (set("LOCKED_NO_WAIT"), set("LOCKED_QUIET"));
    definition.mut_args(|arg| {
        let deaf = match arg.get_id().as_str() {
            "wait" => is_typed(&typed, "no_wait") || no_wait,
            "no_wait" => is_typed(&typed, "wait") || !no_wait,
            "verbose" => is_typed(&typed, "quiet") || quiet,
            "quiet" => is_typed(&typed, "verbose") || !quiet,
            _ => false,
        };
        if deaf { arg.env(None::<&str>) } else { arg }
    })
}

pub(super) fn is_typed(matches: &ArgMatches, id: &str) -> bool {
    matches.value_source(id) == Some(ValueSource::CommandLine)
}
