//! What runs on another host or in a container.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use super::Inner;
use super::launched::command;
use super::shells::is_fed;
use crate::rules::book::{Book, Launcher};
use crate::rules::grammar::{self, Line};
use crate::rules::host;
use crate::rules::step::{Step, nowhere};

/// `docker exec [OPTIONS] CONTAINER COMMAND…`
pub(super) fn in_container(launcher: &Launcher, step: &Step, book: &Book) -> Option<Inner> {
    let line = grammar::read(book.program(step.name()), &step.args);
    let starts = launcher.subcommand.as_ref().is_none_or(|wanted| wanted.has(&line.path));
    if !starts || line.is_any_on(&launcher.unless) {
        return None;
    }
    let words: Vec<OsString> = line.operands.iter().skip(launcher.skip).map(|&word| word.to_owned()).collect();
    let inside =
        Step { inside: true, cwd: nowhere(), env: Vec::new(), redirected: Vec::new(), escapes: true, ..step.clone() };
    Some(command(&words, inside, launcher))
}

/// The same on another host, where its files, its environment and its directory are others.
pub(in crate::rules) fn there(around: Step, host: &str) -> Step {
    Step {
        host: Some(host.to_owned()),
        cwd: nowhere(),
        env: Vec::new(),
        redirected: Vec::new(),
        escapes: true,
        ..around
    }
}

/// `ssh [OPTIONS] HOST COMMAND…`: the words are joined by spaces and read by the shell over there.
pub(super) fn on_host(launcher: &Launcher, line: &Line<'_>, around: Step, book: &Book) -> Inner {
    let Some((destination, words)) = line.operands.split_first() else { return Inner::Nothing };
    let Some(host) = host::of_destination(destination.as_encoded_bytes()) else { return Inner::Nothing };
    let host = String::from_utf8_lossy(&host).into_owned();
    let script = match (words, &around.input) {
        (_, input) if launcher.input => input.clone().unwrap_or_default(),
        ([], Some(input)) => input.clone(),
        (words, _) => words.iter().map(|word| word.as_encoded_bytes()).collect::<Vec<_>>().join(&b' '),
    };
    if script.is_empty() && words.is_empty() && around.input.is_none() && is_fed(&around) {
        return Inner::Unread;
    }
    let options = host::options(line, &around, book);
    let there = there(around, &book.host(&options, &host));
    if script.is_empty() { Inner::Nothing } else { Inner::Script(script, Vec::new(), Box::new(there)) }
}
