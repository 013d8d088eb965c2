//! The front door: to a program under a lease, or to a verb.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::Write as _;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::clock::SystemClock;
use crate::exit::{self, Exit};
use crate::invocation::Invocation;
use crate::program::FileId;
use crate::report::{self, Voice};
use crate::run::{self, Account, Context};

use super::find::{Front, find, is_verb};
use super::options::{OnlyOptions, RunOptions};
use super::verbs::{Line, Verb};

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

fn program(mut context: Context, ours: &[OsString], words: &[OsString]) -> Exit {
    let ours = ours.strip_suffix(&[OsString::from("--")]).unwrap_or(ours);
    if ours.is_empty() {
        speak(&mut context, Voice::Ready);
        return under_options(&context, None, ours, words);
    }
    // What was typed must be right at once; the twins in the environment matter only when something is locked, so
    // that a mistake there never stands in the way of a read.
    let typed = OnlyOptions::command().mut_args(|arg| arg.env(None::<&str>));
    match parse(typed, ours) {
        Ok(typed) => {
            speak(&mut context, typed.voice());
            context.account = account(&context, &typed);
            under_options(&context, Some(&typed), ours, words)
        }
        Err(error) => misuse(&error),
    }
}

fn account(context: &Context, options: &RunOptions) -> Account {
    Account::to(options.report.as_deref(), &context.invocation.cwd)
}

/// How much we say: as typed, else as the twins in the environment have it.
fn speak(context: &mut Context, typed: Voice) {
    let set = |name: &str| context.invocation.var(name).is_some_and(|value| super::options::is_truthy(&value));
    context.voice = match typed {
        Voice::Ready if set("LOCKED_QUIET") => Voice::Quiet,
        Voice::Ready if set("LOCKED_VERBOSE") => Voice::Verbose,
        typed => typed,
    };
    if context.voice == Voice::Quiet {
        report::hush();
    }
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
    speak(&mut context, line.options.voice());
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
