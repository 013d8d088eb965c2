//! What runs on another host or in a container.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::rc::Rc;

use super::launched::command;
use super::shells::is_fed;
use super::{Inner, Text, hosts, sftp};
use crate::rules::book::{Book, Launcher};
use crate::rules::grammar::{self, Line};
use crate::rules::host;
use crate::rules::set::Set;
use crate::rules::step::{Step, nowhere};
use crate::rules::words::Words;

/// `docker exec [OPTIONS] CONTAINER COMMAND…`
pub(super) fn in_container<'a>(launcher: &Launcher, step: &Step<'a>, book: &Book) -> Option<Inner<'a>> {
    let line = grammar::read(book.program(step.name()), &step.args);
    let starts = launcher.subcommand.as_ref().is_none_or(|wanted| wanted.has(&line.path));
    if !starts || line.is_any_on(&launcher.unless) {
        return None;
    }
    let words: Words<'_> = line.operands.iter().skip(launcher.skip).map(|&word| word.to_owned()).collect();
    let inside = Step {
        inside: true,
        cwd: nowhere(),
        env: Set::default(),
        redirected: Vec::new(),
        made: Rc::default(),
        escapes: true,
        ..step.clone()
    };
    Some(command(words, inside, launcher))
}

/// The same on another host, where its files, its environment and its directory are others.
pub(in crate::rules) fn there<'a>(around: Step<'a>, host: &str) -> Step<'a> {
    Step {
        host: Some(host.to_owned()),
        cwd: nowhere(),
        env: Set::default(),
        redirected: Vec::new(),
        made: Rc::default(),
        escapes: true,
        ..around
    }
}

/// `ssh [OPTIONS] HOST COMMAND…`: the words are joined by spaces and read by the shell over there.
pub(super) fn on_host<'a>(launcher: &Launcher, line: &Line<'_>, around: Step<'a>, book: &Book) -> Inner<'a> {
    if launcher.hosts.iter().next().is_some() {
        return on_each(&hosts::named(launcher, line, &around, book), line, &around);
    }
    let Some((destination, words)) = line.operands.split_first() else { return Inner::Nothing };
    let Some(host) = host::of_destination(destination.as_encoded_bytes()) else { return Inner::Nothing };
    let host = String::from_utf8_lossy(&host).into_owned();
    let options = host::options(line, &around, book);
    if launcher.input {
        return sftp::on_host(line, around, book, |around| there(around, &book.host(&options, &host)));
    }
    let said = launcher.script.iter().find_map(|names| line.value(names)).or_else(|| by_setting(line));
    let script = match (words, &around.input) {
        _ if said.is_some() => Text::Made(said.unwrap_or_default().as_encoded_bytes().to_vec()),
        ([], Some(input)) => Text::Read(Rc::clone(input)),
        (words, _) => Text::Made(words.iter().map(|word| word.as_encoded_bytes()).collect::<Vec<_>>().join(&b' ')),
    };
    if script.bytes().is_empty() {
        let is_fed = words.is_empty() && around.input.is_none() && is_fed(&around);
        let there = || Box::new(there(around, &book.host(&options, &host)));
        return if is_fed { Inner::Fed(there()) } else { Inner::Nothing };
    }
    let there = there(around, &book.host(&options, &host));
    Inner::Script(script, Words::default(), Box::new(there))
}

/// The same on several hosts.
fn on_each<'a>(hosts: &[OsString], line: &Line<'_>, around: &Step<'a>) -> Inner<'a> {
    if line.operands.is_empty() {
        return Inner::Nothing;
    }
    let steps = hosts.iter().map(|host| {
        let words = std::iter::once(host.clone()).chain(line.operands.iter().map(|&word| word.to_owned()));
        Step { name: "ssh".into(), called: "ssh".into(), args: words.collect(), ..around.clone() }
    });
    Inner::Commands(steps.collect())
}

/// `-o RemoteCommand=…` (ssh_config(5)).
fn by_setting<'l>(line: &'l Line<'_>) -> Option<&'l OsStr> {
    line.values("-o").find_map(|setting| {
        let (name, value) = setting.to_str()?.split_once(['=', ' '])?;
        name.eq_ignore_ascii_case("RemoteCommand").then(|| OsStr::new(value.trim()))
    })
}
