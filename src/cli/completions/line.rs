//! What a line that is being typed wants next: pure, over the definitions of the command line.
#![forbid(unsafe_code)]

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, Command};

use crate::cli::find::{is_verb, skip_options};
use crate::config::Key;

/// What the shell is to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Complete as if the line began with the word of this index, counted from the one behind `locked`: the program has the
    /// word now.
    Command(usize),
    /// Offer these, and more of the shell's own.
    Offers(Vec<Offer>, More),
}

/// What the shell offers beside ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    Nothing,
    Files,
    Programs,
}

/// One offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) value: String,
    pub(super) help: String,
}

/// Which names of resources: those that are held now, or also those that ever were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    Held,
    Known,
}

/// Where names of resources come from.
type Ask<'a> = &'a dyn Fn(Names) -> Vec<String>;

/// What is wanted after `words`: the words behind `locked`, the last as far as it is typed, maybe empty.
pub(super) fn wanted(words: &[OsString], definition: &Command, names: Ask<'_>) -> Wanted {
    let Some((typing, before)) = words.split_last() else { return Wanted::Offers(Vec::new(), More::Nothing) };
    // One word more shows what the next is: a program's or verb's place, or the value of the option before it.
    let probe: Vec<OsString> = before.iter().cloned().chain([OsString::from("x")]).collect();
    let typing = typing.to_string_lossy();
    let wanted = match skip_options(&probe) {
        Some((at, dashes)) if at < before.len() => match definition.find_subcommand(&before[at]) {
            Some(verb) if !dashes => below(verb, &before[at + 1..], &typing, at + 1, names),
            None if !dashes && before[at] == "help" => offers(verbs(definition)),
            None if !dashes && is_verb(&before[at]) => offers(Vec::new()),
            _ => Wanted::Command(at),
        },
        Some((_, true)) => Wanted::Offers(Vec::new(), More::Programs),
        Some(_) if typing.starts_with('-') => options(definition, &typing, names),
        Some(_) => Wanted::Offers(verbs(definition), More::Programs),
        None => before
            .last()
            .and_then(|word| option(definition, word))
            .map_or_else(|| offers(Vec::new()), |arg| values(definition, arg, names)),
    };
    match wanted {
        Wanted::Offers(mut offers, more) => {
            offers.retain(|offer| offer.value.starts_with(&*typing));
            Wanted::Offers(offers, more)
        }
        command => command,
    }
}

/// The same below a verb, whose words begin at `at`.
fn below(verb: &Command, before: &[OsString], typing: &str, at: usize, names: Ask<'_>) -> Wanted {
    let trailing = verb.get_positionals().any(Arg::is_trailing_var_arg_set);
    let (mut index, mut operands, mut dashes) = (0, 0, false);
    while let Some(word) = before.get(index) {
        index += 1;
        match word.as_encoded_bytes() {
            b"--" if !dashes => dashes = true,
            [b'-', _, ..] if !dashes => {
                let arg = option(verb, word).filter(|arg| arg.get_action().takes_values());
                let Some(arg) = arg.filter(|_| !word.as_encoded_bytes().contains(&b'=')) else { continue };
                if index == before.len() {
                    return values(verb, arg, names);
                }
                index += 1;
            }
            _ if trailing => return Wanted::Command(at + index - 1),
            _ => match verb.find_subcommand(word) {
                Some(inner) if operands == 0 => return below(inner, &before[index..], typing, at + index, names),
                _ => operands += 1,
            },
        }
    }
    if typing.starts_with('-') && !dashes {
        return options(verb, typing, names);
    }
    if verb.has_subcommands() {
        return offers(verbs(verb));
    }
    let positional = verb.get_positionals().filter(|arg| !arg.is_hide_set()).nth(operands);
    let last = || verb.get_positionals().last().filter(|arg| arg.get_num_args().is_some_and(|it| it.max_values() > 1));
    match positional.or_else(last) {
        Some(_) if trailing => Wanted::Offers(Vec::new(), More::Programs),
        Some(arg) => values(verb, arg, names),
        None => offers(Vec::new()),
    }
}

fn offers(offers: Vec<Offer>) -> Wanted {
    Wanted::Offers(offers, More::Nothing)
}

/// The verbs of a group, or of all.
fn verbs(command: &Command) -> Vec<Offer> {
    let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help");
    shown.map(|verb| Offer { value: verb.get_name().to_owned(), help: first_line(verb.get_about()) }).collect()
}

/// The options, or with `--option=` the values of that one.
fn options(command: &Command, typing: &str, names: Ask<'_>) -> Wanted {
    if let Some((name, _)) = typing.split_once('=')
        && let Some(arg) = option(command, OsStr::new(name))
    {
        return match values(command, arg, names) {
            // A file behind `=` is the shell's own, if it can do that.
            Wanted::Offers(found, more) => {
                let joined = |offer: Offer| Offer { value: format!("{name}={}", offer.value), ..offer };
                Wanted::Offers(found.into_iter().map(joined).collect(), more)
            }
            command => command,
        };
    }
    let shown = command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set());
    let mut found: Vec<Offer> = Vec::new();
    for arg in shown {
        let help = first_line(arg.get_help());
        let short = arg.get_short().map(|letter| format!("-{letter}"));
        let long = arg.get_long().map(|word| format!("--{word}"));
        found.extend(short.into_iter().chain(long).map(|value| Offer { value, help: help.clone() }));
    }
    // clap adds these two by itself.
    found.push(Offer { value: "--help".to_owned(), help: "Print help".to_owned() });
    offers(found)
}

/// The option that this word ends with: `--ttl`, `-r`, the last letter of `-vr`.
fn option<'a>(command: &'a Command, word: &OsStr) -> Option<&'a Arg> {
    let word = word.to_str()?;
    match word.strip_prefix("--") {
        Some(long) => command.get_arguments().find(|arg| arg.get_long() == Some(long)),
        None => command.get_arguments().find(|arg| arg.get_short().is_some() && arg.get_short() == word.chars().last()),
    }
}

/// What the value of an option or an operand may be.
fn values(command: &Command, arg: &Arg, names: Ask<'_>) -> Wanted {
    let fixed = arg.get_possible_values();
    if !fixed.is_empty() {
        let offer = |value: &clap::builder::PossibleValue| Offer {
            value: value.get_name().to_owned(),
            help: first_line(value.get_help()),
        };
        return offers(fixed.iter().filter(|value| !value.is_hide_set()).map(offer).collect());
    }
    let bare = |value: String| Offer { value, help: String::new() };
    match arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str()) {
        Some("KIND:NAME") => {
            // These are about what is held; everything else may be about what was.
            let held = ["renew", "release", "check", "steal", "status"].contains(&command.get_name());
            offers(names(if held { Names::Held } else { Names::Known }).into_iter().map(bare).collect())
        }
        Some("KEY") => offers(Key::ALL.map(|key| bare(key.name().trim_matches(['[', ']']).to_owned())).into()),
        _ if arg.get_value_parser().type_id() == TypeId::of::<PathBuf>() => Wanted::Offers(Vec::new(), More::Files),
        _ => offers(Vec::new()),
    }
}

/// A help's first line, without what would end an offer.
fn first_line(help: Option<&clap::builder::StyledStr>) -> String {
    let text = help.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().replace('\t', " ")
}
