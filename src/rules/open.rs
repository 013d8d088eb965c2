//! A program of this machine that only run time knows (`"$CMD" compose up -d`): what it would hold if it were one of those
//! that rules are about. It may be any, so nothing is held for it; where its own words say what it may be, that is told.
#![forbid(unsafe_code)]

use super::book::Book;
use super::decide::decide;
use super::step::{Step, is_known, name_of};
use super::unfold::unfold;
use super::{Change, Classification, Command};

/// What it may be, and the words by which its line is told from those of other programs: `"$TOOL" restart web` may be
/// anything.
const MAY_BE: [(&str, &[&str]); 9] = [
    ("docker", &["compose", "stack", "service", "container"]),
    ("docker-compose", &["up", "down", "-f", "-p", "--file", "--project-name"]),
    ("gh", &["workflow", "api"]),
    ("kubectl", &["create", "patch", "apply", "rollout"]),
    ("sops", &["set", "unset", "encrypt", "rotate", "updatekeys", "edit", "-e", "-i", "-r", "--encrypt", "--rotate"]),
    ("ssh", &[]),
    ("scp", &[]),
    ("rsync", &[]),
    ("vault", &["kv"]),
];

/// So many of a line are looked at: nobody reads more notes, and each is looked at several times.
const MOST: usize = 16;

/// What is to be said of the commands of a line, beside what is held anyway.
pub(super) fn told(steps: &[Step<'_>], book: &Book, command: &Command<'_>, class: &Classification) -> Option<String> {
    let mut open = steps.iter().filter(|step| step.host.is_none() && step.is_open()).take(MOST);
    let name = open.find_map(|step| may_be(step, book, command, class))?;
    Some(format!("a program that only run time knows may be {name}, and runs without a lease on what that would hold"))
}

/// The program that would hold something with these words.
fn may_be(step: &Step<'_>, book: &Book, command: &Command<'_>, class: &Classification) -> Option<String> {
    let begins =
        |words: &[&str]| words.is_empty() || step.args.first().is_some_and(|first| words.iter().any(|it| first == *it));
    let each = MAY_BE.iter().filter(|(_, words)| begins(words));
    each.map(|(name, _)| (*name).to_owned()).chain(started(step, book)).find(|name| {
        let args = if started(step, book).as_ref() == Some(name) { step.args.from(1) } else { step.args.clone() };
        let named = Step { name: name.into(), called: name.into(), args, ..step.clone() };
        unfold(named, book, command.env).steps.iter().any(|step| holds(step, book, command, class))
    })
}

/// The program that it starts, if it is something like `sudo`.
fn started(step: &Step<'_>, book: &Book) -> Option<String> {
    let name = name_of(step.args.first()?).into_string().ok()?;
    (super::sops::is_sops(name.as_ref()) || book.has(&name)).then_some(name)
}

/// Whether something would be held for it that is not held anyway.
fn holds(step: &Step<'_>, book: &Book, command: &Command<'_>, class: &Classification) -> bool {
    let wants = decide(step, book, command);
    let is_other = |path: &std::path::Path| !class.writes.iter().any(|write| write.path == path);
    let of_sops = |change: Change| !matches!(change, Change::Other | Change::DecryptTo);
    let writes =
        |write: &super::Write| of_sops(write.change) && is_known(write.path.as_os_str()) && is_other(&write.path);
    let same = |one: &super::Claim, other: &super::Claim| one.name == other.name && one.host == other.host;
    let more = |claim: &super::Claim| claim.sending.is_none() && !class.claims.iter().any(|held| same(held, claim));
    wants.asks || wants.writes.iter().any(writes) || wants.claims.iter().any(more)
}
