//! What a launcher starts, by its table.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use super::elsewhere::{in_container, on_host};
use super::shells::shell;
use super::{Inner, Text};
use crate::rules::argument::tail;
use crate::rules::book::{Book, Launcher, Several};
use crate::rules::grammar::{self, Level, Line};
use crate::rules::set::Set;
use crate::rules::step::{Step, name_of};
use crate::rules::transfer;
use crate::rules::words::Words;
use crate::rules::xargs::by_xargs;
use crate::terms::shell_quote;

/// What this form of the line starts; none when the line has another form.
pub(super) fn inside<'a>(launcher: &Launcher, step: &Step<'a>, book: &Book) -> Option<Inner<'a>> {
    if launcher.shell {
        return Some(shell(step));
    }
    if launcher.inside {
        return in_container(launcher, step, book);
    }
    let args = behind_subcommand(launcher, &step.args)?;
    let mut line = Line::default();
    let level = Level {
        values: &launcher.values,
        attached: &launcher.attached,
        stop_at: if launcher.copies { None } else { Some(launcher.stop_at.unwrap_or(1)) },
        ..Level::default()
    };
    grammar::read_level(level, &args, 0, &mut line);
    if !launcher.option.is_empty() && !line.is_any_on(&launcher.option) {
        return None;
    }
    if line.is_any_on(&launcher.unless) {
        return Some(Inner::Nothing);
    }
    Some(started(launcher, &line, &args, step, book))
}

fn started<'a>(launcher: &Launcher, line: &Line<'_>, args: &Words<'a>, step: &Step<'a>, book: &Book) -> Inner<'a> {
    let mut around = Step { escapes: step.escapes || launcher.remote, ..step.clone() };
    if let Some(directory) = launcher.directory.iter().find_map(|names| line.value(names)) {
        around.cwd = around.path(directory);
    }
    let text = launcher.script.iter().find_map(|names| line.value(names));
    if launcher.host {
        return on_host(launcher, line, around, book);
    }
    if launcher.copies {
        return transfer::copied(line, around, book).map_or(Inner::Nothing, |step| Inner::Command(Box::new(step)));
    }
    let mut words = args.from(line.operands_at);
    if launcher.behind_dashes && text.is_none() {
        let Some(dashes) = args.iter().position(|word| word == "--") else { return Inner::Nothing };
        words = args.from(dashes + 1);
    }
    if launcher.assignments {
        // `env - PROGRAM`: an empty environment, as `-i` makes it.
        let is_empty = words.first().is_some_and(|first| first == "-");
        words = behind("-", words);
        if launcher.program.has("env") {
            if is_empty || line.is_given("-i|--ignore-environment") {
                around.env = Set::none();
            }
            let gone = line.values("-u|--unset").map(|name| (name.to_owned(), None));
            around.env = around.env.and_some(gone.collect());
        }
        let own: Vec<_> = words.iter().map_while(|word| assignment(word)).collect();
        words = words.from(own.len());
        around.env = around.env.and(own);
    }
    if let Some(directory) = launcher.directory_operand.and_then(|number| words.get(number.get() - 1)) {
        around.cwd = around.path(directory);
    }
    words = words.from(launcher.skip);
    // `direnv exec . -- sops`: a launcher's own end of options behind its operands.
    words = behind("--", words);
    if let Some(text) = text {
        let mut script = text.as_encoded_bytes().to_vec();
        for word in words.iter().filter(|_| launcher.assignments) {
            script.push(b' ');
            script.extend_from_slice(shell_quote(word.as_encoded_bytes()).as_bytes());
        }
        return Inner::Script(Text::Made(script), Words::default(), Box::new(around));
    }
    if launcher.program.has("xargs") {
        return Inner::Commands(by_xargs(&words, line, &around));
    }
    command(words, around)
}

/// The words behind this one, if it is the first.
fn behind<'a>(word: &str, words: Words<'a>) -> Words<'a> {
    if words.first().is_some_and(|first| first == word) { words.from(1) } else { words }
}

pub(super) fn command<'a>(words: Words<'a>, around: Step<'a>) -> Inner<'a> {
    let Some((program, args)) = words.split() else { return Inner::Nothing };
    let name = name_of(program);
    Inner::Command(Box::new(Step { name, called: program.to_owned(), args, ..around }))
}

/// The arguments behind the launcher's sub-command; none when the line has another one.
fn behind_subcommand<'a>(launcher: &Launcher, args: &Words<'a>) -> Option<Words<'a>> {
    let Some(wanted) = &launcher.subcommand else { return Some(args.clone()) };
    let level = Level { values: &launcher.values, group: true, ..Level::default() };
    let at = grammar::read_level(level, args, 0, &mut Line::default());
    let word = args.get(at.checked_sub(1)?)?;
    has(wanted, word).then(|| args.from(at))
}

fn has(names: &Several, word: &OsStr) -> bool {
    word.to_str().is_some_and(|word| names.has(word))
}

/// `NAME=value`.
fn assignment(word: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = word.as_encoded_bytes();
    let equals = bytes.iter().position(|&byte| byte == b'=').filter(|&at| at > 0)?;
    let name = std::str::from_utf8(&bytes[..equals]).ok()?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && !bytes[0].is_ascii_digit()).then(|| (name.into(), tail(word, equals + 1).into_owned()))
}
