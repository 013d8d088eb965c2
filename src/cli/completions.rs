//! `locked completions`: a script for a shell, and the answers that it asks for at every Tab.
//!
//! The scripts know nothing of verbs and options: they hand the words over and are told what to offer, from the same
//! definitions as the help. So a script that was installed with an older version stays right.
#![forbid(unsafe_code)]

mod line;
mod names;
#[cfg(test)]
mod tests;

use clap_complete::Shell;

use crate::exit::Exit;
use crate::report;
use crate::run::Context;

use self::line::{More, Wanted, wanted};
use super::out::print;
use super::verbs::Completions;

pub(super) fn completions(context: &Context, verb: &Completions) -> Exit {
    if !verb.line.is_empty() {
        // Nothing of ours may stand between what a person types.
        report::hush();
        return print(&answer(&wanted(&verb.line, &super::definition(), &|which| names::names(context, which))));
    }
    match verb.shell {
        Shell::Bash => print(include_str!("../../install/completions/locked.bash").trim_end()),
        Shell::Zsh => print(include_str!("../../install/completions/_locked").trim_end()),
        Shell::Fish => print(include_str!("../../install/completions/locked.fish").trim_end()),
        // Shells that we cannot ask us from: what clap makes for them.
        other => {
            let mut script = Vec::new();
            clap_complete::generate(other, &mut super::definition(), "locked", &mut script);
            print(String::from_utf8_lossy(&script).trim_end())
        }
    }
}

/// As the scripts read it: a line that says what kind of answer it is, then a line for each offer, with a tab before what
/// explains it.
fn answer(wanted: &Wanted) -> String {
    let (offers, more) = match wanted {
        Wanted::Command(at) => return format!("command {at}"),
        Wanted::Offers(offers, more) => (offers, more),
    };
    let head = match more {
        More::Nothing => "offers nothing",
        More::Files => "offers files",
        More::Programs => "offers programs",
    };
    let rows = offers.iter().map(|offer| match offer.help.is_empty() {
        true => offer.value.clone(),
        false => format!("{}\t{}", offer.value, offer.help),
    });
    std::iter::once(head.to_owned()).chain(rows).collect::<Vec<_>>().join("\n")
}
