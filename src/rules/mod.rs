//! `rules`: what a command line would change. Pure: argv, environment and a look at descriptor 1 go in, a
//! [`Classification`] comes out; no file is read and nothing runs.
//!
//! A line is taken apart first (`unfold`): launchers come off, scripts are read, and simple commands are left. Each is
//! read by the grammar of its program and held against the rules (`decide`); what they want is put together here.
#![forbid(unsafe_code)]

mod apart;
mod archive;
mod argument;
pub mod book;
mod by_hand;
mod change;
mod decide;
mod find;
mod followed;
mod format;
mod golang;
mod grammar;
mod host;
mod manifest;
mod open;
mod passing;
mod piped;
mod plain;
mod policy;
mod printed;
mod reads;
mod script;
mod sent;
mod set;
mod sops;
mod sql;
mod step;
mod switched;
mod transfer;
mod unfold;
mod urfave;
mod wanted;
mod words;
mod xargs;
mod zones;

pub use crate::shell::Sourced;
pub use apart::{Part, apart};
pub use archive::Unpacked;
pub use book::{Author, Book, Fault, Program, Rotation, Rule, Safe, Sound, Stale, Tables, Zone, workflow_rules};
pub use by_hand::by_hand;
pub use change::{
    Asked, Change, Classification, Command, Decrypted, Deed, Leaves, Named, Stdin, Stdout, Told, Tree, Via, Write,
};
pub use policy::{Canary, Follow, HOLD_FOR, Keep, Policy};
pub use reads::is_device;
pub use sent::{Pattern, Sending, Sent, put_whole};
pub use set::{Said, Set};
pub use sops::{LineEnds, hint, types, types_for};
pub use sql::{bare_sql, included};
pub use step::{Caller, STDIN, below_nowhere, is_known};
pub use wanted::{Claim, Compose, Engine, Wanted};

use std::collections::HashSet;
use std::path::PathBuf;

use self::decide::{Wants, decide};
use self::step::Step;
use crate::terms::{may_hold_a_secret, percent_encode};

/// Whether this exit status of the rule's program means that the work was done. sops' 200 means that the editor changed
/// nothing, so nothing was to be done.
#[must_use]
pub fn succeeded(rule: Option<&str>, status: i32) -> bool {
    status == 0 || (status == 200 && rule.is_some_and(|rule| rule.starts_with("sops.")))
}

/// What a command would write, by the rules of the book. A program that no rule knows writes nothing that is shared.
///
/// Of a word that no system hands to a program no more is read than shows that it is one: whoever asks with a mebibyte waits
/// no longer than for the longest word that can be run.
#[must_use]
pub fn classify(command: &Command<'_>, book: &Book) -> Classification {
    let cut = argument::cut(command.args);
    let command = &Command { args: cut.as_deref().unwrap_or(command.args), ..*command };
    plain::read(command, book).unwrap_or_else(|| by_tables(command, book))
}

fn by_tables(command: &Command<'_>, book: &Book) -> Classification {
    let mut paths = HashSet::new();
    let mut unfolded = unfold::unfold(Step::typed(command), book, command.env);
    passing::mark(&mut unfolded.steps, book, command);
    let mut class = Classification { reason: "no rule knows this program".to_owned(), ..Classification::default() };
    let mut engines = switched::Engines::default();
    for step in &unfolded.steps {
        let on_engine = engines.on(step);
        one(on_engine.as_ref().unwrap_or(step), book, command, &mut paths, &mut class);
    }
    class.known |= unfolded.steps.iter().all(|step| book.launches(step.name()));
    let open = open::told(&unfolded.steps, book, command, &class);
    class.notes.extend(open);
    if unfolded.incomplete {
        class.notes.push("a part of the script could not be read; what it writes is not known".to_owned());
    }
    if unfolded.unread && class.may_hold() {
        class.notes.push(
            "what the line reads in (`. FILE`, `eval \"$(…)\"`, `env $(…)`) could not be looked at: it is presumed to change nothing of this"
                .to_owned(),
        );
    }
    if class.operation.is_empty() {
        class.operation = step::shown(command.name);
    }
    let mut told = HashSet::new();
    class.notes.retain(|note| told.insert(note.clone()));
    class
}

/// Decides about one command, and puts what it wants to what the others want.
fn one(step: &Step<'_>, book: &Book, command: &Command<'_>, paths: &mut HashSet<PathBuf>, class: &mut Classification) {
    let wants = decide(step, book, command);
    let launches = book.launches_here(step.name());
    class.known |= step.host.is_some() || (wants.known && !launches);
    if !book.zones().is_empty() {
        let deed = zones::deed(step, &wants, book, command);
        zones::enter(step, &deed, book, class);
        class.deeds.push(deed);
    }
    add(step, wants, paths, class);
}

/// What runs, without arguments: any of them may be a value.
fn operation(step: &Step<'_>, path: &str) -> String {
    let mut words = step.shown();
    if !path.is_empty() && !may_hold_a_secret(path.as_bytes()) {
        words = format!("{words} {path}");
    }
    match &step.host {
        Some(host) => format!("{words} on {}", percent_encode(host.as_bytes())),
        None => words,
    }
}

/// Puts what one command wants to what the others want. The first that locks by a rule gives the line its name, before it
/// what it writes without one: `echo x >y` says little of a line that goes on to restart a server.
fn add(step: &Step<'_>, wants: Wants, paths: &mut HashSet<PathBuf>, class: &mut Classification) {
    let mut wants = wants;
    // Every other line of a shell sends something to `/dev/null`.
    wants.writes.retain(|write| write.change != Change::Other || !reads::is_nobodys(&write.path));
    let locks = !wants.writes.is_empty() || !wants.claims.is_empty();
    let first = !class.may_hold();
    let says_more = class.rule.is_none() && locks && wants.rule.is_some();
    if says_more || (first && (locks || class.rule.is_none())) {
        if let Some(reason) = wants.reason {
            class.reason = reason;
        } else if wants.known && class.rule.is_none() {
            class.reason = format!("no rule locks this line of {}", step.shown());
        }
        class.rule = wants.rule.or_else(|| class.rule.take());
        if let Some(operation) = wants.operation.or_else(|| locks.then(|| operation(step, &wants.path))) {
            class.operation = operation;
        }
    }
    class.unnamed |= wants.unnamed;
    if let Some(host) = step.host.as_ref().filter(|_| step.is_open()) {
        let host = percent_encode(host.as_bytes());
        class.notes.push(format!("what runs on {host} only run time knows, and it runs without a lease on that"));
    }
    if wants.unnamed {
        class
            .notes
            .push(format!("what {} writes only run time knows, and it runs without a lease on that", step.shown()));
    }
    if wants.doubtful {
        let name = step.shown();
        class.notes.push(format!(
            "nobody knows an option of {name}: the word behind it may be its value, and names nothing ([[program]] says what takes a value)"
        ));
    }
    class.asks |= wants.asks;
    class.notes.extend(wants.notes);
    class.decrypted.extend(wants.decrypted);
    class.trees.extend(wants.trees);
    class.unpacked.extend(wants.unpacked);
    if step.is_open() && step.host.is_none() && !step.inside {
        let words = step.args.iter().filter(|word| word.len() <= step::LONGEST_PATH && is_known(word));
        class.open.extend(words.map(|word| step.path(word)).filter(|path| is_known(path.as_os_str())).map(Named));
    }
    // Of files the plan says which are shared at all.
    class.remote |= !wants.claims.is_empty() && (step.escapes || step.host.is_some() || wants.elsewhere);
    class.writes.extend(wants.writes.into_iter().filter(|write| paths.insert(write.path.clone())));
    class.claims.extend(wants.claims);
    if let Some(policy) = wants.policy {
        class.policy = if first { policy } else { std::mem::take(&mut class.policy).and(policy) };
    }
}

/// Is there a built-in rule of this name? Those for sops begin with its name and a dot.
#[must_use]
pub fn is_built_in(rule: &str) -> bool {
    rule.starts_with("sops.") || Book::has_built_in(rule)
}

/// Is anything known of this program: do the built-in tables speak of it, or is it one that reads?
#[must_use]
pub fn knows(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    sops::is_sops(name.as_ref()) || Book::knows(name) || reads::knows(name)
}
