//! The front door: to a program under a lease, or to a verb.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::clock::SystemClock;
use crate::config::{Settings, Shelf};
use crate::exit::{self, Exit};
use crate::invocation::Invocation;
use crate::platform::OsStrExt as _;
use crate::program::{self, FileId};
use crate::report::{self, Voice};
use crate::run::{self, Account, Context, Options};
use crate::terms::{ResourceName, SessionId};

use super::find::{Front, find};
use super::mistyped;
use super::options::{OnlyOptions, RunOptions};
use super::overruled::{is_typed, without_overruled, without_twins};
use super::verbs::{Explain, Line, RunVerb, ShimsVerb, ShimsVerbs, Verb};

/// The whole of `locked`, from the door to the exit.
pub fn main(invocation: Invocation) -> Exit {
    super::out::kept(entered(invocation))
}

fn entered(invocation: Invocation) -> Exit {
    // Without /proc (a bare chroot) the kernel still says what it executed; a read must not need more than that.
    let executed = || invocation.executed.as_ref().map(|path| FileId::of(&invocation.cwd.join(path)));
    let ourselves = match FileId::ourselves().or_else(|error| executed().unwrap_or(Err(error))) {
        Ok(ourselves) => ourselves,
        Err(error) => {
            report::say(&format!("locked: cannot find out which file we are: {error}"));
            return Exit::Code(exit::INTERNAL);
        }
    };
    if let Some(sandbox) = report::Sandbox::of(&|name| invocation.var(name)) {
        report::in_sandbox(sandbox);
    }
    // Order: before anything else is read. Under another name than ours every byte is the program's.
    let stands_for = stands_for(&invocation, ourselves);
    let args = invocation.args.clone();
    let clock = std::sync::Arc::new(SystemClock::new());
    let context = Context {
        invocation,
        clock,
        voice: Voice::Ready,
        ourselves,
        account: Account::default(),
        store: None,
        advisory: false,
        shim: None,
        session: None,
        shelf: Shelf::default(),
    };
    if let Some(name) = stands_for {
        let arg0 = Some(context.invocation.arg0.clone()).filter(|arg0| !arg0.is_empty());
        return in_place_of(context, name, arg0, &args);
    }
    match find(&args) {
        Front::Program(at) => program(context, &args[..at], &args[at..]),
        Front::Verb | Front::Options => verb(context, &args),
    }
}

/// The program in whose place we were called: the name of the link that the kernel followed, whatever the caller says
/// that it is; else the name we were called by. None under our own name.
fn stands_for(invocation: &Invocation, ourselves: FileId) -> Option<OsString> {
    let is_us = |path: &&PathBuf| FileId::of(&invocation.cwd.join(path)).is_ok_and(|file| file == ourselves);
    // An open descriptor says nothing of a name, and a loader that was called with us stands under its own.
    let named = |path: &&PathBuf| !path.starts_with("/dev/fd") && !path.starts_with("/proc");
    let loader =
        |name: &&OsStr| ["ld-", "ld.so", "ld64"].iter().any(|start| name.as_bytes().starts_with(start.as_bytes()));
    let link = invocation.executed.as_ref().filter(named).filter(is_us).and_then(|path| path.file_name());
    let name = program::own_name(link.filter(|name| !loader(name)).unwrap_or_else(|| invocation.called_as()));
    (!name.is_empty() && !program::is_our_name(&name)).then_some(name)
}

/// As the shim of this program; `arg0` is the name that the program is given (none: its own).
pub(super) fn in_place_of(mut context: Context, name: OsString, arg0: Option<OsString>, args: &[OsString]) -> Exit {
    context.shim = Some(arg0.unwrap_or_else(|| name.clone()));
    let words: Vec<OsString> = std::iter::once(name).chain(args.iter().cloned()).collect();
    program(context, &[], &words)
}

fn program(mut context: Context, ours: &[OsString], words: &[OsString]) -> Exit {
    let ours = ours.strip_suffix(&[OsString::from("--")]).unwrap_or(ours);
    if ours.is_empty() {
        let typed = context.voice;
        speak(&mut context, typed);
        context.advisory = set(&context, "LOCKED_ADVISORY");
        return under_options(&context, None, ours, words);
    }
    // What was typed must be right at once; the twins in the environment matter only when something is locked, so
    // that a mistake there never stands in the way of a read.
    match parse(without_twins(OnlyOptions::command()), &named(ours)) {
        Ok(typed) => {
            speak(&mut context, typed.voice());
            context.account = account(&context, &typed);
            context.store.clone_from(&typed.store);
            context.session = typed.session.map(SessionId);
            context.advisory = typed.advisory || set(&context, "LOCKED_ADVISORY");
            under_options(&context, Some(&typed), ours, words)
        }
        Err(error) => misuse(error),
    }
}

fn account(context: &Context, options: &RunOptions) -> Account {
    Account::to(options.report.as_deref(), &context.invocation.cwd)
}

/// A twin in the environment that is on.
fn set(context: &Context, name: &str) -> bool {
    context.invocation.var(name).is_some_and(|value| super::options::is_truthy(&value))
}

/// How much we say: as typed, else as the twins in the environment have it.
fn speak(context: &mut Context, typed: Voice) {
    context.voice = match typed {
        Voice::Ready if set(context, "LOCKED_QUIET") => Voice::Quiet,
        Voice::Ready if set(context, "LOCKED_VERBOSE") => Voice::Verbose,
        typed => typed,
    };
    if context.voice == Voice::Quiet {
        report::hush();
    }
}

fn parse(definition: clap::Command, words: &[OsString]) -> Result<RunOptions, clap::Error> {
    OnlyOptions::from_arg_matches(&definition.try_get_matches_from(words)?).map(|only| only.options)
}

/// As clap wants them, with our name before them.
fn named(words: &[OsString]) -> Vec<OsString> {
    std::iter::once(OsString::from("locked")).chain(words.iter().cloned()).collect()
}

fn checked(context: &Context, options: &RunOptions, settings: &Settings) -> Result<Options, Exit> {
    options.checked(settings).map_err(|error| {
        let (refusal, status) = error.refusal("locked --help");
        context.account.because(&refusal.what);
        refuse(&refusal, status)
    })
}

fn under_options(context: &Context, typed: Option<&RunOptions>, ours: &[OsString], words: &[OsString]) -> Exit {
    let resources = match typed.map_or(Ok(Vec::new()), |typed| by_hand(context, typed)) {
        Ok(resources) => resources,
        Err(exit) => return exit,
    };
    let options = |settings: &Settings| {
        let ours = named(ours);
        let definition = without_overruled(OnlyOptions::command(), &ours, context);
        parse(definition, &ours).map_err(misuse_of_twin).and_then(|whole| checked(context, &whole, settings))
    };
    if typed.is_some_and(|typed| typed.dry_run) {
        return super::explain::explain(context, &resources, &options, words, false);
    }
    let exit = run::run(context, &resources, &options, words);
    // A program that is there may end with this status too.
    if exit == Exit::Code(exit::NOT_FOUND) && context.shim.is_none() {
        let verb = words.first().filter(|word| !run::is_on_path(context, word)).and_then(|word| mistyped::meant(word));
        verb.into_iter().for_each(|verb| report::say(&format!("locked: did you mean the verb `locked {verb}`?")));
    }
    exit
}

/// What was named by hand: with `-r`, and with `--secret` as it was typed.
fn by_hand(context: &Context, typed: &RunOptions) -> Result<Vec<ResourceName>, Exit> {
    match super::options::rotations(&typed.secret) {
        Ok(rotations) => Ok([typed.resource.as_slice(), &rotations].concat()),
        Err(what) => {
            context.account.because(&what);
            report::say(&report::misuse(&what, "locked --secret DATABASE_URL PROGRAM").to_string());
            Err(Exit::Code(exit::USAGE))
        }
    }
}

fn verb(mut context: Context, args: &[OsString]) -> Exit {
    let words = named(args);
    // A variable that makes no sense is what the doctor is to find, and stands in the way of no agent.
    let definition = match super::find::verb(args) {
        Some(word) if word == "doctor" || word == "agents" => without_twins(Line::command()),
        _ => without_overruled(Line::command(), &words, &context),
    };
    let parsed = definition.try_get_matches_from(words).and_then(|matches| {
        let line = Line::from_arg_matches(&matches)?;
        Ok((line, matches))
    });
    let (mut line, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) if is_of_twin(args) => return misuse_of_twin(error),
        Err(error) => return misuse(error),
    };
    line.options.session = line.verb.session().or(line.options.session);
    speak(&mut context, line.options.voice());
    context.account = account(&context, &line.options);
    context.store.clone_from(&line.options.store);
    context.session = line.options.session.map(SessionId);
    context.advisory = line.options.advisory;
    if let Verb::Shims(ShimsVerb { verb: ShimsVerbs::Exec(verb) }) = &line.verb {
        return super::shims::exec(context, verb);
    }
    if matches!(line.verb, Verb::Run(_) | Verb::Explain(_)) && !is_typed(&matches, "secret") {
        // The twin goes with what is held anyway.
        line.options.secret.clear();
    }
    let options = |settings: &Settings| checked(&context, &line.options, settings);
    if let Verb::Run(RunVerb { command }) | Verb::Explain(Explain { command, .. }) = &line.verb
        && let Some(word) = command.first().filter(|word| word.as_encoded_bytes().starts_with(b"-"))
    {
        let what =
            format!("`{}` stands where the program should; options of ours stand before the verb", word.display());
        report::say(&report::misuse(&what, "locked -r KIND:NAME run -- PROGRAM").to_string());
        return Exit::Code(exit::USAGE);
    }
    let named = || by_hand(&context, &line.options);
    match &line.verb {
        Verb::Run(verb) => {
            named().map_or_else(|exit| exit, |named| run::run(&context, &named, &options, &verb.command))
        }
        Verb::Explain(verb) => named().map_or_else(
            |exit| exit,
            |named| super::explain::explain(&context, &named, &options, &verb.command, verb.json),
        ),
        Verb::Status(verb) => super::status::status(&context, &line.options, verb),
        Verb::History(verb) => super::history::history(&context, &line.options, verb),
        Verb::Acquire(verb) => super::acquire::acquire(&context, &line.options, verb),
        Verb::Renew(verb) => super::held::renew(&context, &line.options, verb),
        Verb::Release(verb) => super::held::release(&context, &line.options, verb),
        Verb::Check(verb) => super::check::check(&context, &line.options, verb),
        Verb::Restore(verb) => super::restore::restore(&context, &line.options, verb),
        Verb::Adopt(verb) => super::adopt::adopt(&context, &line.options, verb),
        Verb::Steal(verb) => super::steal::steal(&context, &line.options, verb),
        Verb::Session(verb) => super::session::session(&context, &line.options, verb),
        Verb::Store(verb) => super::store::store(&context, &verb.verb),
        Verb::Config(verb) => super::config::config(&context, &line.options, &matches, &verb.verb),
        Verb::Shims(verb) => super::shims::shims(&context, &verb.verb),
        Verb::Hooks(verb) => super::hooks::hooks(&context, &line.options, &verb.verb),
        Verb::Agents(verb) => super::agents::agents(&context, &line.options, &verb.verb),
        Verb::Audit(verb) => super::audit::audit(&context, &line.options, verb),
        Verb::Init(verb) => super::init::init(&context, verb),
        Verb::Completions(verb) => super::completions::completions(&context, verb),
        Verb::Doctor(verb) => super::doctor::doctor(&context, line.options.quiet, verb),
    }
}

/// Says a refusal and gives its status.
pub(super) fn refuse(refusal: &report::Refusal, status: i32) -> Exit {
    report::say(&refusal.to_string());
    Exit::Code(status)
}

/// Whether what was typed is right, so that what is wrong comes from the environment.
fn is_of_twin(args: &[OsString]) -> bool {
    without_twins(Line::command()).try_get_matches_from(named(args)).is_ok()
}

/// The same of a value that nobody typed: where it comes from.
fn misuse_of_twin(error: clap::Error) -> Exit {
    let twin = mistyped::twin(&error);
    let exit = misuse(error);
    twin.into_iter().for_each(|twin| report::say(&format!("locked: that value comes from the environment: {twin}")));
    exit
}

/// clap's own words for help and version; a mistake is ours to refuse with our own status.
fn misuse(error: clap::Error) -> Exit {
    if !error.use_stderr() {
        return super::out::told(error.print()).map_or_else(|exit| exit, |()| Exit::OK);
    }
    let _nobody_may_listen = mistyped::shown(error).print();
    Exit::Code(exit::USAGE)
}
