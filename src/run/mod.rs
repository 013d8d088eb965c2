//! `run`: the story. argv → program → classification → plan → grant → proof of the base → child → canary → settling →
//! exit. Reads top to bottom as the product; every step is a room of its own.
#![forbid(unsafe_code)]

mod account;
mod arbiter;
mod base;
mod book;
mod bypass;
mod consumers;
mod drawn;
mod duty;
mod ending;
mod entry;
mod files;
mod follow;
mod forced;
mod gh;
mod globbed;
mod hint;
mod hold;
mod hosts;
mod in_person;
mod issue;
mod job;
mod keepers;
mod keeping;
mod known;
mod later;
mod litter;
mod loose;
mod manifests;
mod on_lost;
mod opened;
mod options;
mod past;
mod predecessors;
mod proof;
mod read;
mod receipt;
mod recheck;
mod setting;
mod settings;
mod sourced;
mod spool;
mod stack;
mod stale;
mod successor;
mod tell;
mod tending;
mod times;
mod trust;
mod used;
mod way;
mod witness;
mod words;
mod workflows;

pub use account::Account;
pub use arbiter::{arbiter, real, variables};
pub use book::{asking, book_here, classified, names_here, rotations_here, tables_here, zones};
pub use bypass::{Bypasses, bypasses, is_bypass, record_hook as record_bypass, spooled as spooled_bypasses};
pub use consumers::{Left, left as consumers_left};
pub use drawn::{Undrawn, drawn};
pub use entry::{Context, env_of, open_store, open_untold, outside, owner, retry_witness, session, within};
pub use files::{Before, bad_file, path_of, plaintext_of};
pub use forced::answers as force_answers;
pub use in_person::InPerson;
pub use issue::{ASK as ASK_ISSUE, IssueState, LOGGED_OUT, comment, issue_state};
pub use keepers::{Keepers, renewed_for};
pub use keeping::{Kept, Standby, standby};
pub use known::{can_be_restored, kept_here};
pub use litter::sweep_all;
pub use options::Options;
pub use past::was_sops;
pub use predecessors::{LeftBad, Predecessors, predecessors, still_running};
pub use proof::fault_of;
pub use receipt::of as receipt_of;
pub use setting::{NoSetting, completed, said_store, status_of, store_for, store_here, store_of_files};
pub use settings::{
    layers_here, origin_here, said_scope, settings_for, settings_here, settings_of, settings_or_fault, tell_ignored,
};
pub use spool::{Hold as ForcedHold, Waiting, note_hold, waiting};
pub use stale::{AtHand, taken, would_lose};
pub use times::{AskedTimes, NoTimes, times};
pub use trust::{Trusted, root_around, trust, trusted, untrust};
pub use used::{Used, last_used, place_here};
pub use way::{Tools, complete};
pub use workflows::workflow_file;

use std::ffi::OsString;

use crate::clock::Clock as _;
use crate::config::Settings;
use crate::exit::{self, Exit};
use crate::naming::{Local, Namer, NamingError};
use crate::plan::{self, Plan};
use crate::program;
use crate::report::{self, Voice};
use crate::rules::{Book, Command, Stdin};
use crate::supervise::{self, Entry, Order};
use crate::terms::{CHAIN, ResourceName};

/// Runs a program: `words` are the program and its arguments, every byte of them the program's.
///
/// `options` and settings are read only when something is to be held, so that a mistake in the environment or in a file
/// never stands in the way of a read; `resources` are those of `-r`.
pub fn run(
    context: &Context,
    resources: &[ResourceName],
    options: &dyn Fn(&Settings) -> Result<Options, Exit>,
    words: &[OsString],
) -> Exit {
    let exit = go(context, resources, options, words);
    context.account.close(exit);
    exit
}

fn go(
    context: &Context,
    resources: &[ResourceName],
    options: &dyn Fn(&Settings) -> Result<Options, Exit>,
    words: &[OsString],
) -> Exit {
    let Some((word, args)) = words.split_first() else {
        report::say(&report::misuse("no program was named", "locked --help").to_string());
        return Exit::Code(exit::USAGE);
    };
    let (path, followed) = (context.invocation.var("PATH"), context.invocation.var(CHAIN));
    let (cwd, now) = (&context.invocation.cwd, context.clock.now().0);
    let found = program::follow(word, path.as_deref(), cwd, context.ourselves, followed.as_deref(), now);
    let (program, followed) = match found {
        Ok(found) => found,
        Err(error) => {
            report::say(&format!("locked: {error}"));
            context.account.because(&error.to_string());
            return Exit::Code(error.status());
        }
    };
    let env = env_of(context);
    // Only commands that write ciphertext to standard output care where it leads; the look costs a few microseconds.
    let stdout = context.invocation.stdout();
    let stdin = context.invocation.stdin();
    let command = Command { name: &program.name, args, cwd, env: &env, stdout: stdout.as_ref(), stdin: stdin.as_ref() };
    let (class, book) = match classified(context, &command, resources) {
        Ok(classified) => classified,
        Err(exit) => return exit,
    };
    context.account.program(&program.path, class.rule.as_deref(), &class.operation);
    let order = Order {
        program: program.path.clone(),
        arg0: context.shim.clone().unwrap_or_else(|| word.clone()),
        args: args.to_vec(),
        env: with_chain(&context.invocation.env, followed),
        entry: Entry {
            closed: context.invocation.closed,
            ignored: context.invocation.ignored.bits(),
            blocked: context.invocation.mask.bits(),
        },
    };
    let known = class.known;
    let decrypted = class.decrypted.clone();
    let said = said_scope(context);
    let mut namer = Namer::new(Local::Make, &env).heeding(&said);
    match drawn(context, class, resources, &world(context, &book, &env), &mut namer) {
        Ok(Plan::PassThrough { reason, notes }) => {
            // Whoever called a shim has not asked for a lease.
            if !known && context.shim.is_none() && context.voice >= Voice::Ready {
                report::say(&report::no_lease(
                    &program.name.to_string_lossy(),
                    context.invocation.var("LOCKED_SECRET").is_some(),
                ));
            }
            say_notes(context, &notes);
            context.account.passes(&reason);
            read::note(context, &decrypted);
            pass_through(context, &order)
        }
        Ok(Plan::Hold(mut plan)) => {
            if let Some(reason) = bypass::asked(context) {
                return bypass::run(context, &reason, &plan, &order);
            }
            plan.remote |= program.escapes(&context.invocation.cwd);
            context.account.wants(&plan, None);
            match settings::for_plan(context, &plan).and_then(|settings| options(&settings)) {
                Ok(options) => {
                    say_notes(context, &plan.notes);
                    hold::hold(context, &options, &plan, &order)
                }
                Err(exit) => exit,
            }
        }
        Err(error) => {
            if let Some(reason) = bypass::asked(context) {
                return bypass::unnamed(context, &reason, &error.what(), &order);
            }
            error.refuse(context)
        }
    }
}

/// Whether this word is a program here.
#[must_use]
pub fn is_on_path(context: &Context, word: &std::ffi::OsStr) -> bool {
    let path = context.invocation.var("PATH");
    program::resolve(word, path.as_deref(), &context.invocation.cwd, context.ourselves).is_ok()
}

/// The environment at entry, with what follows the call through foreign shims, or without it.
fn with_chain(env: &[OsString], followed: Option<OsString>) -> Vec<OsString> {
    let is_chain = |entry: &OsString| {
        entry.as_encoded_bytes().strip_prefix(CHAIN.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
    };
    let ours = followed.map(|value| {
        let mut entry = OsString::from(format!("{CHAIN}="));
        entry.push(value);
        entry
    });
    env.iter().filter(|entry| !is_chain(entry)).cloned().chain(ours).collect()
}

/// What could not be told of a line is said: something may run without a lease.
fn say_notes(context: &Context, notes: &[String]) {
    for note in notes.iter().filter(|_| context.voice >= Voice::Ready) {
        report::say(&format!("locked: {note}"));
    }
}

/// A file has no name, so nothing may run.
pub fn refuse_unnamed(error: &NamingError) -> Exit {
    let words = if matches!(error, NamingError::Settings { .. }) { report::misconfigured } else { report::misuse };
    report::say(&words(&error.to_string(), error.remedy()).to_string());
    Exit::Code(if matches!(error, NamingError::Value) { exit::USAGE } else { exit::CONFIG })
}

/// What the plan may ask of the world.
pub fn world<'a>(context: &'a Context, book: &'a Book, env: &'a dyn Fn(&str) -> Option<OsString>) -> plan::World<'a> {
    // Only zones about SQL care where standard input comes from; the look costs a few microseconds.
    let asks = book.zones().iter().any(|zone| !zone.sql.is_empty());
    let stdin = match context.invocation.stdin().filter(|_| asks) {
        Some(Stdin::File(path)) => Some(path),
        Some(Stdin::Pipe) | None => None,
    };
    plan::World {
        env,
        is_python: Box::new(stack::is_python(context)),
        stack_of: Box::new(stack::lookup(context)),
        book,
        stdin,
        past: Box::new(past::AtHand::of(context)),
        is_late: Box::new(stack::clock()),
    }
}

fn pass_through(context: &Context, order: &Order) -> Exit {
    let error = supervise::replace(order);
    report::say(&format!("locked: {}: {error}", order.program.display()));
    context.account.because(&error.to_string());
    Exit::Code(crate::settle::could_not_start(error.raw_os_error().unwrap_or_default()))
}
