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
    let whole = line.is_on("-r");
    let here = || OsStr::new(".");
    let place = words.first().copied();
    // `HOST:DIR` goes there, `HOST:FILE` fetches it into this directory: only the host knows which.
    let names_one = !from.is_empty() && from != "." && !from.as_encoded_bytes().ends_with(b"/");
    let taken = (place.is_some() || names_one).then(|| fetched(&from, place.unwrap_or_else(here), whole, &around));
    if let (Some(taken), Some(_)) = (&taken, place) {
        return Inner::Command(Box::new(taken.clone()));
    }
    let also = |inner: Inner<'a>| match taken.clone() {
        Some(taken) => Inner::Both(vec![taken], Box::new(inner)),
        None => inner,
    };
    let said = match said(line, &around, book) {
        Said::Text(text) => text,
        Said::Nothing => return also(Inner::Nothing),
        Said::Hidden => return also(Inner::Unread),
        Said::Sent(sent) => {
            let step = Step { name: "put".into(), args: Words::default(), sent: vec![sent], ..there(around) };
            return also(Inner::Command(Box::new(step)));
        }
    };
    let mut gotten = gotten(&said, &around, book);
    gotten.extend(taken);
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

/// The commands without what stands before them: `-` (go on if it fails) and `@` (say nothing of it). In whatever letters they
/// are typed, and by the names that other programs have for the same.
fn plain(commands: &[u8]) -> Vec<u8> {
    let lines = commands.split(|&byte| byte == b'\n').map(|line| {
        let begin = line.iter().position(|byte| !b" \t-@".contains(byte)).unwrap_or(line.len());
        let end = line[begin..].iter().position(u8::is_ascii_whitespace).map_or(line.len(), |at| begin + at);
        let command = match line[begin..end].to_ascii_lowercase() {
            symlink if symlink == b"symlink" => b"ln".to_vec(),
            copy if copy == b"copy" => b"cp".to_vec(),
            several if several == b"mput" => b"put".to_vec(),
            other => other,
        };
        [command.as_slice(), &line[end..]].concat()
    });
    lines.collect::<Vec<_>>().join(&b'\n')
}

/// `sftp HOST:FILE PLACE`: as `cp` onto this machine.
fn fetched<'a>(from: &OsStr, place: &OsStr, whole: bool, around: &Step<'a>) -> Step<'a> {
    let option = whole.then(|| OsString::from("-r"));
    // What another host sends, nobody here sees.
    let args = option.into_iter().chain([OsString::from("--"), elsewhere(from), place.to_owned()]);
    Step { name: "cp".into(), called: "cp".into(), args: args.collect(), input: None, ..around.clone() }
}

/// The same of a pattern: of what it may stand for over there, what has the same name here. Where nobody can say which,
/// everything below.
fn each_fetched<'a>(pattern: &str, place: &OsStr, whole: bool, around: &Step<'a>, book: &Book) -> Vec<Step<'a>> {
    let name = pattern.rsplit('/').next().unwrap_or(pattern);
    if !pattern.contains(['*', '?', '[']) {
        return vec![fetched(OsStr::new(pattern), place, whole, around)];
    }
    match book.named(&around.path(place), name.as_bytes()).filter(|_| !around.inside && around.host.is_none()) {
        Some(names) => names
            .iter()
            .map(|name| fetched(OsStr::new(&*String::from_utf8_lossy(name)), place, whole, around))
            .collect(),
        None => vec![fetched(OsStr::new("."), place, true, around)],
    }
}

/// What sftp fetches onto this machine (`get FILE [PLACE]`): as `cp` here.
fn gotten<'a>(commands: &[u8], around: &Step<'a>, book: &Book) -> Vec<Step<'a>> {
    let mut here = Step { input: None, ..around.clone() };
    let mut steps = Vec::new();
    for line in commands.split(|byte| b"\n;".contains(byte)) {
        let line = String::from_utf8_lossy(line).replace(['"', '\''], "");
        let mut words = line.split_whitespace();
        let command = words.next().unwrap_or_default();
        let (options, files): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('-'));
        let whole = options.iter().any(|option| option.contains(['r', 'R']));
        let mut files = files.into_iter();
        match (command, files.next()) {
            ("lcd", Some(directory)) => here.cwd = here.path(OsStr::new(directory)),
            ("get" | "mget" | "reget", Some(file)) => {
                let place = OsStr::new(files.next().unwrap_or("."));
                steps.extend(each_fetched(file, place, whole, &here, book));
            }
            _ => {}
        }
    }
    steps
}
