//! What sftp does, by its own commands (sftp(1)): what they put on the host, and what they fetch onto this machine.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use super::{Inner, Text};
use crate::rules::book::Book;
use crate::rules::grammar::Line;
use crate::rules::sent::{Sent, put_whole};
use crate::rules::step::{STDIN, Step, is_known};
use crate::rules::transfer::{elsewhere, place};
use crate::rules::words::Words;
use crate::shell::Sourced;

/// `sftp [OPTIONS] HOST[:FILE [PLACE]]`; `there` makes the command as it would run on the host.
pub(super) fn on_host<'a>(
    line: &Line<'_>,
    around: Step<'a>,
    book: &Book,
    there: impl FnOnce(Step<'a>) -> Step<'a>,
) -> Inner<'a> {
    let Some((destination, words)) = line.operands.split_first() else { return Inner::Nothing };
    let from = place(destination).map_or_else(OsString::new, |(_, path)| path);
    if let Some(taken) = fetched(words, &from, &around) {
        return Inner::Command(Box::new(taken));
    }
    let said = match said(line, &around, book) {
        Said::Text(text) => text,
        Said::Nothing => return Inner::Nothing,
        Said::Hidden => return Inner::Unread,
        Said::Sent(sent) => {
            let step = Step { name: "put".into(), args: Words::default(), sent: vec![sent], ..there(around) };
            return Inner::Command(Box::new(step));
        }
    };
    let gotten = gotten(&said, &around);
    let whole = if around.host.is_none() { put_whole(&said, &around.cwd) } else { Vec::new() };
    let there = Step { sent: whole, input: None, ..there(around) };
    let script = Inner::Script(Text::Made(said), Words::default(), Box::new(there));
    if gotten.is_empty() { script } else { Inner::Both(gotten, Box::new(script)) }
}

/// Its commands.
enum Said {
    /// These.
    Text(Vec<u8>),
    /// Somebody types them, or there are none.
    Nothing,
    /// They come from where nobody looks.
    Hidden,
    /// They stand in a file that the plan reads, or that nobody can read.
    Sent(Sent),
}

/// What stands in `-b FILE`, or comes in by standard input (`-b -` says so as well).
fn said(line: &Line<'_>, around: &Step<'_>, book: &Book) -> Said {
    let named = line.value("-b").filter(|file| *file != "-").map(|file| around.path(file));
    if named.is_none() && around.input_hidden {
        return Said::Hidden;
    }
    let mut text = Vec::new();
    if named.is_none() {
        text.extend(around.input.as_deref().unwrap_or_default());
    }
    let handed = around.input_from.iter().filter(|file| named.is_none() && file.as_os_str() != STDIN).cloned();
    for path in named.iter().cloned().chain(handed) {
        let made = around.made.iter().find(|(made, _)| *made == path).map(|(_, printed)| printed);
        let seen = around.host.is_none() && is_known(path.as_os_str());
        let read = match made {
            Some(made) if made.hidden || !made.files.is_empty() => Sourced::Unseen,
            Some(made) => Sourced::Text(made.text.as_deref().unwrap_or_default().to_vec()),
            None if seen => book.sourced(&path),
            None => Sourced::Unseen,
        };
        match read {
            Sourced::Text(more) => text.extend([more.as_slice(), b"\n"].concat()),
            _ if seen && made.is_none() => return Said::Sent(Sent::Commands { path, directory: around.cwd.clone() }),
            _ => return Said::Sent(Sent::Unseen),
        }
    }
    if text.is_empty() { Said::Nothing } else { Said::Text(plain(&text)) }
}

/// The commands without what stands before them: `-` (go on if it fails) and `@` (say nothing of it).
fn plain(commands: &[u8]) -> Vec<u8> {
    let lines = commands.split(|&byte| byte == b'\n').map(|line| {
        let begin = line.iter().position(|byte| !b" \t-@".contains(byte)).unwrap_or(line.len());
        &line[begin..]
    });
    lines.collect::<Vec<_>>().join(&b'\n')
}

/// `sftp HOST:FILE PLACE`: as `cp` onto this machine.
fn fetched<'a>(words: &[&OsStr], from: &OsStr, around: &Step<'a>) -> Option<Step<'a>> {
    let [place] = words else { return None };
    // What another host sends, nobody here sees.
    let args = [OsString::from("--"), elsewhere(from), (*place).to_owned()];
    Some(Step { name: "cp".into(), args: args.into_iter().collect(), ..around.clone() })
}

/// What sftp fetches onto this machine (`get FILE [PLACE]`): as `cp` here.
fn gotten<'a>(commands: &[u8], around: &Step<'a>) -> Vec<Step<'a>> {
    let mut here = Step { input: None, ..around.clone() };
    let mut steps = Vec::new();
    for line in commands.split(|byte| b"\n;".contains(byte)) {
        let line = String::from_utf8_lossy(line).replace(['"', '\''], "");
        let mut words = line.split_whitespace();
        let command = words.next().unwrap_or_default();
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
