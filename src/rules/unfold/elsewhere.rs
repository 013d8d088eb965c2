//! What runs on another host or in a container.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::rc::Rc;

use super::launched::command;
use super::shells::is_fed;
use super::{Inner, Text};
use crate::rules::book::{Book, Launcher};
use crate::rules::grammar::{self, Line};
use crate::rules::host;
use crate::rules::sent::{Sent, put_whole};
use crate::rules::set::Set;
use crate::rules::step::{STDIN, Step, is_known, nowhere};
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
    if let Some(hosts) = launcher.hosts.iter().find_map(|names| line.value(names)) {
        return on_each(hosts, line, around);
    }
    let Some((destination, words)) = line.operands.split_first() else { return Inner::Nothing };
    let Some(host) = host::of_destination(destination.as_encoded_bytes()) else { return Inner::Nothing };
    let host = String::from_utf8_lossy(&host).into_owned();
    let options = host::options(line, &around, book);
    let path = crate::rules::transfer::place(destination).map_or_else(OsString::new, |(_, path)| path);
    if let Some(sent) = Some(launcher).filter(|launcher| launcher.input).and_then(|_| commands(line, &around)) {
        let there = there(around, &book.host(&options, &host));
        let step = Step { name: "put".into(), args: Words::default(), sent: vec![sent], ..there };
        return Inner::Command(Box::new(step));
    }
    if let Some(taken) = Some(launcher).filter(|launcher| launcher.input).and_then(|_| fetched(words, &path, &around)) {
        return Inner::Command(Box::new(taken));
    }
    let said = launcher.script.iter().find_map(|names| line.value(names)).or_else(|| by_setting(line));
    let script = match (words, &around.input) {
        _ if said.is_some() => Text::Made(said.unwrap_or_default().as_encoded_bytes().to_vec()),
        (_, Some(input)) if launcher.input => Text::Read(Rc::clone(input)),
        (_, None) if launcher.input => Text::Made(Vec::new()),
        ([], Some(input)) => Text::Read(Rc::clone(input)),
        (words, _) => Text::Made(words.iter().map(|word| word.as_encoded_bytes()).collect::<Vec<_>>().join(&b' ')),
    };
    let is_empty = script.bytes().is_empty();
    if is_empty && words.is_empty() && around.input.is_none() && is_fed(&around) {
        return Inner::Unread;
    }
    let gotten = if launcher.input { gotten(script.bytes(), &around) } else { Vec::new() };
    let whole =
        if launcher.input && around.host.is_none() { put_whole(script.bytes(), &around.cwd) } else { Vec::new() };
    let there = Step { sent: whole, ..there(around, &book.host(&options, &host)) };
    if is_empty {
        return Inner::Nothing;
    }
    let script = Inner::Script(script, Words::default(), Box::new(there));
    if gotten.is_empty() { script } else { Inner::Both(gotten, Box::new(script)) }
}

/// The same on several hosts.
fn on_each<'a>(hosts: &OsStr, line: &Line<'_>, around: Step<'a>) -> Inner<'a> {
    let hosts = hosts.to_string_lossy().into_owned();
    let steps = hosts.split(',').filter(|host| !host.is_empty()).map(|host| {
        let words = [OsString::from(host)].into_iter().chain(line.operands.iter().map(|&word| word.to_owned()));
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

/// `sftp HOST:FILE PLACE`: as `cp` onto this machine.
fn fetched<'a>(words: &[&OsStr], from: &OsStr, around: &Step<'a>) -> Option<Step<'a>> {
    let [place] = words else { return None };
    // What another host sends, nobody here sees.
    let args = [OsString::from("--"), crate::rules::transfer::elsewhere(from), (*place).to_owned()];
    Some(Step { name: "cp".into(), args: args.into_iter().collect(), ..around.clone() })
}

/// What sftp fetches onto this machine (`get FILE [PLACE]`, sftp(1)): as `cp` here.
fn gotten<'a>(commands: &[u8], around: &Step<'a>) -> Vec<Step<'a>> {
    let mut here = Step { input: None, ..around.clone() };
    let mut steps = Vec::new();
    for line in commands.split(|byte| b"\n;".contains(byte)) {
        let line = String::from_utf8_lossy(line).replace(['"', '\''], "");
        let mut words = line.split_whitespace();
        let command = words.next().unwrap_or_default().trim_start_matches(['-', '@']);
        let mut files = words.filter(|word| !word.starts_with('-')).map(OsString::from);
        match (command, files.next()) {
            ("lcd", Some(directory)) => here.cwd = here.path(&directory),
            ("get" | "mget" | "reget", Some(file)) => {
                let place = files.next().unwrap_or_else(|| ".".into());
                steps.extend(fetched(&[&place], &file, &here));
            }
            _ => {}
        }
    }
    steps
}

/// The file with the commands of sftp, which the plan reads: `-b FILE`, or what the line hands to its standard input.
fn commands(line: &Line<'_>, around: &Step<'_>) -> Option<Sent> {
    let named = line.value("-b").filter(|file| *file != "-").map(|file| around.path(file));
    let handed = || around.input_from.iter().find(|file| file.as_os_str() != STDIN).cloned();
    let path = named.or_else(|| if around.input.is_none() { handed() } else { None })?;
    let seen = around.host.is_none() && is_known(path.as_os_str());
    Some(if seen { Sent::Commands { path, directory: around.cwd.clone() } } else { Sent::Unseen })
}
