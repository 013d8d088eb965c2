//! The front door: where our options end, and whether a verb or a program stands there.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::io::Write as _;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::clock::SystemClock;
use crate::exit::{self, Exit};
use crate::invocation::Invocation;
use crate::program::FileId;
use crate::report::{self, Voice};
use crate::run::{self, Account, Context};

use super::options::{OnlyOptions, RunOptions};
use super::verbs::{Line, Verb};

/// Every word that is a verb now or will be: none of them is ever taken for a program.
const VERBS: [&str; 20] = [
    "run",
    "status",
    "history",
    "acquire",
    "renew",
    "release",
    "check",
    "explain",
    "restore",
    "completions",
    "help",
    // Reserved by the design for later versions.
    "adopt",
    "steal",
    "init",
    "doctor",
    "audit",
    "session",
    "shims",
    "hooks",
    "agents",
];
const MORE_VERBS: [&str; 2] = ["config", "store"];

/// Where our words end.
#[derive(Debug, PartialEq, Eq)]
pub enum Front {
    /// A program; its words begin at this index.
    Program(usize),
    /// A verb stands at this index.
    Verb,
    /// Nothing but options (`--help`, `--version`, or a mistake).
    Options,
}

/// The whole of `locked`, from the door to the exit.
pub fn main(invocation: Invocation) -> Exit {
    let ourselves = match FileId::ourselves() {
        Ok(ourselves) => ourselves,
        Err(error) => {
            report::say(&format!("locked: cannot find out which file we are: {error}"));
            return Exit::Code(exit::INTERNAL);
        }
    };
    let args = invocation.args.clone();
    let clock = std::sync::Arc::new(SystemClock::new());
    let context = Context { invocation, clock, voice: Voice::Ready, ourselves, account: Account::default() };
    match find(&args) {
        Front::Program(at) => program(context, &args[..at], &args[at..]),
        Front::Verb | Front::Options => verb(context, &args),
    }
}

/// Finds the first word that is not an option of ours. The table of options is clap's own, so that the two never
/// disagree; it is only built when the first word is an option at all.
fn find(args: &[OsString]) -> Front {
    let at = match args.first() {
        Some(first) if first.as_encoded_bytes().starts_with(b"-") && first.len() > 1 => skip_options(args),
        Some(_) => Some((0, false)),
        None => None,
    };
    match at {
        None => Front::Options,
        Some((at, after_dashes)) if after_dashes || !is_verb(&args[at]) => Front::Program(at),
        Some(_) => Front::Verb,
    }
}

fn is_verb(word: &OsStr) -> bool {
    word.to_str().is_some_and(|word| VERBS.contains(&word) || MORE_VERBS.contains(&word))
}

/// The index of the first word behind our options, and whether `--` stood before it.
fn skip_options(args: &[OsString]) -> Option<(usize, bool)> {
    let definition = OnlyOptions::command();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let bytes = word.as_encoded_bytes();
        at += 1;
        match bytes {
            b"--" => return args.get(at).map(|_| (at, true)),
            [b'-', b'-', long @ ..] => {
                let name = long.split(|&byte| byte == b'=').next().unwrap_or_default();
                let option =
                    definition.get_arguments().find(|arg| arg.get_long().is_some_and(|long| long.as_bytes() == name));
                if option.is_some_and(takes_value) && !long.contains(&b'=') {
                    at += 1;
                }
            }
            [b'-', letters @ ..] if !letters.is_empty() => {
                if last_letter_takes_next(&definition, letters) {
                    at += 1;
                }
            }
            _ => return Some((at - 1, false)),
        }
    }
    None
}

/// In `-vr X` the value of `-r` is the next word; in `-rX` it is the rest of this one.
fn last_letter_takes_next(definition: &clap::Command, letters: &[u8]) -> bool {
    for (index, &letter) in letters.iter().enumerate() {
        let option = definition.get_arguments().find(|arg| arg.get_short() == Some(char::from(letter)));
        if option.is_some_and(takes_value) {
            return index + 1 == letters.len();
        }
    }
    false
}

fn takes_value(arg: &clap::Arg) -> bool {
    arg.get_action().takes_values()
}

fn program(mut context: Context, ours: &[OsString], words: &[OsString]) -> Exit {
    let ours = ours.strip_suffix(&[OsString::from("--")]).unwrap_or(ours);
    if ours.is_empty() {
        return under_options(&context, None, ours, words);
    }
    // What was typed must be right at once; the twins in the environment matter only when something is locked, so
    // that a mistake there never stands in the way of a read.
    let typed = OnlyOptions::command().mut_args(|arg| arg.env(None::<&str>));
    match parse(typed, ours) {
        Ok(typed) => {
            context.voice = typed.voice();
            context.account = account(&context, &typed);
            under_options(&context, Some(&typed), ours, words)
        }
        Err(error) => misuse(&error),
    }
}

fn account(context: &Context, options: &RunOptions) -> Account {
    Account::to(options.report.as_deref(), &context.invocation.cwd)
}

fn parse(definition: clap::Command, ours: &[OsString]) -> Result<RunOptions, clap::Error> {
    let with_name = std::iter::once(OsString::from("locked")).chain(ours.iter().cloned());
    OnlyOptions::from_arg_matches(&definition.try_get_matches_from(with_name)?).map(|only| only.options)
}

fn under_options(context: &Context, typed: Option<&RunOptions>, ours: &[OsString], words: &[OsString]) -> Exit {
    let resources = typed.map_or(&[][..], |typed| &typed.resource);
    if typed.is_some_and(|typed| typed.dry_run) {
        return super::explain::explain(context, resources, words, false);
    }
    let options = || {
        let whole = parse(OnlyOptions::command(), ours).map_err(|error| misuse(&error))?;
        whole.checked().map_err(|what| {
            context.account.because(&what);
            report::say(&report::misuse(&what, "locked --help").to_string());
            Exit::Code(exit::USAGE)
        })
    };
    run::run(context, resources, &options, words)
}

fn verb(mut context: Context, args: &[OsString]) -> Exit {
    if let Some(word) = args.iter().find(|word| !word.as_encoded_bytes().starts_with(b"-"))
        && is_verb(word)
        && super::definition().find_subcommand(word).is_none()
        && word != "help"
    {
        let what = format!("`locked {}` is not in this version yet", word.display());
        report::say(
            &report::misuse(&what, &format!("for a program of that name: locked run -- {}", word.display()))
                .to_string(),
        );
        return Exit::Code(exit::USAGE);
    }
    let with_name = std::iter::once(OsString::from("locked")).chain(args.iter().cloned());
    let parsed = Line::command().try_get_matches_from(with_name).and_then(|matches| Line::from_arg_matches(&matches));
    let line = match parsed {
        Ok(line) => line,
        Err(error) => return misuse(&error),
    };
    context.voice = line.options.voice();
    context.account = account(&context, &line.options);
    match &line.verb {
        Verb::Run(verb) => {
            let options = || {
                line.options.checked().map_err(|what| {
                    context.account.because(&what);
                    report::say(&report::misuse(&what, "locked --help").to_string());
                    Exit::Code(exit::USAGE)
                })
            };
            run::run(&context, &line.options.resource, &options, &verb.command)
        }
        Verb::Explain(verb) => super::explain::explain(&context, &line.options.resource, &verb.command, verb.json),
        Verb::Status(verb) => super::status::status(&context, verb),
        Verb::History(verb) => super::history::history(&context, verb),
        Verb::Acquire(verb) => super::acquire::acquire(&context, &line.options, verb),
        Verb::Renew(verb) => super::held::renew(&context, &line.options, verb),
        Verb::Release(verb) => super::held::release(&context, &line.options, verb),
        Verb::Check(verb) => super::check::check(&context, &line.options, verb),
        Verb::Restore(verb) => super::restore::restore(&context, &line.options, verb),
        Verb::Completions(verb) => super::completions::completions(verb.shell),
    }
}

/// Writes a verb's answer to standard output. A reader that went away is no fault of ours.
pub(super) fn print(text: &str) -> Exit {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            report::say(&format!("locked: cannot write the answer: {error}"));
            Exit::Code(exit::INTERNAL)
        }
        _ => Exit::OK,
    }
}

/// Says a refusal and gives its status.
pub(super) fn refuse(refusal: &report::Refusal, status: i32) -> Exit {
    report::say(&refusal.to_string());
    Exit::Code(status)
}

/// clap's own words for help and version; a mistake is ours to refuse with our own status.
fn misuse(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        let _nobody_may_listen = error.print();
        return Exit::OK;
    }
    let _nobody_may_listen = error.print();
    Exit::Code(exit::USAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str]) -> Front {
        find(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_first_word_that_is_no_option_of_ours_decides() {
        assert_eq!(found(&["sops", "-v"]), Front::Program(0));
        assert_eq!(found(&["-v", "sops", "-v"]), Front::Program(1));
        assert_eq!(found(&["-r", "a:b", "sops"]), Front::Program(2));
        assert_eq!(found(&["-ra:b", "sops"]), Front::Program(1));
        assert_eq!(found(&["-vr", "a:b", "sops"]), Front::Program(2));
        assert_eq!(found(&["--ttl", "5s", "sops"]), Front::Program(2));
        assert_eq!(found(&["--ttl=5s", "sops"]), Front::Program(1));
        assert_eq!(found(&["-n", "status"]), Front::Verb);
        assert_eq!(found(&["status", "sops:x"]), Front::Verb);
    }

    #[test]
    fn after_two_dashes_a_verb_is_a_program() {
        assert_eq!(found(&["--", "status"]), Front::Program(1));
        assert_eq!(found(&["-n", "--", "status"]), Front::Program(2));
        assert_eq!(found(&["--ttl", "--", "sops"]), Front::Program(2), "clap refuses it afterwards");
    }

    #[test]
    fn options_alone_are_for_clap_to_answer() {
        for words in [&["--help"][..], &["-V"], &[], &["--ttl"], &["--"]] {
            assert_eq!(found(words), Front::Options, "{words:?}");
        }
    }

    #[test]
    fn a_lone_dash_is_a_program() {
        assert_eq!(found(&["-"]), Front::Program(0));
    }
}
