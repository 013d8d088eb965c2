//! From a line to its commands: launchers are taken off, scripts are read.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::book::{Book, Launcher, Several};
use super::grammar::{self, Level, Line};
use super::script;
use super::step::{Step, UNKNOWN, nowhere};
use super::transfer;
use crate::terms::shell_quote;

/// Nobody puts more of them one into the other.
const DEEPEST: usize = 16;
/// Nobody has more commands in one line; what is beyond is not looked at.
const MOST: usize = 4_096;

/// What a line comes to.
#[derive(Default)]
pub(super) struct Unfolded {
    /// Its commands; launchers stand before what they start.
    pub(super) steps: Vec<Step>,
    /// Something of it could not be read.
    pub(super) incomplete: bool,
}

/// Takes a line apart.
pub(super) fn unfold(line: Step, book: &Book, env: &dyn Fn(&str) -> Option<OsString>) -> Unfolded {
    let mut found = Unfolded::default();
    open(line, (book, env), 0, &mut found);
    found
}

type Around<'a> = (&'a Book, &'a dyn Fn(&str) -> Option<OsString>);

fn open(step: Step, (book, env): Around<'_>, depth: usize, found: &mut Unfolded) {
    if depth > DEEPEST || found.steps.len() >= MOST {
        found.incomplete = true;
        return;
    }
    if super::sops::is_sops(&step.name) && step.host.is_some() && !step.redirected.is_empty() {
        // What it prints over there is none of its own files, and may be a `.env` all the same.
        found.steps.push(Step { name: OsString::new(), args: Vec::new(), ..step.clone() });
    }
    let inner = if super::sops::is_sops(&step.name) {
        // `sops exec-env FILE 'COMMAND'`: it runs by itself, with what the file says in its environment.
        let script = super::sops::started(&step.args, env);
        script.map_or(Inner::Nothing, |script| Inner::Script(script, Vec::new(), Box::new(own(&step))))
    } else if step.name() == "find" {
        Inner::Commands(super::find::started(&step))
    } else {
        book.launchers(step.name()).find_map(|launcher| inside(launcher, &step, book)).unwrap_or(Inner::Nothing)
    };
    found.steps.push(step);
    match inner {
        Inner::Nothing => {}
        Inner::Unread => found.incomplete = true,
        Inner::Command(step) => open(*step, (book, env), depth + 1, found),
        Inner::Commands(steps) => {
            for step in steps {
                open(step, (book, env), depth + 1, found);
            }
        }
        Inner::Script(text, parameters, around) => {
            let read = script::steps(&text, &parameters, &around, env);
            found.incomplete |= !read.complete;
            for step in read.steps {
                open(step, (book, env), depth + 1, found);
            }
        }
    }
}

/// What a launcher starts.
enum Inner {
    Nothing,
    Command(Box<Step>),
    Commands(Vec<Step>),
    /// A script, its `$0`, `$1`… if they are known, and the step as which the shell itself would run.
    Script(Vec<u8>, Vec<OsString>, Box<Step>),
    /// A script that the line does not show.
    Unread,
}

/// The same for a program that it starts, which opens no redirections again.
fn own(step: &Step) -> Step {
    Step { redirected: Vec::new(), ..step.clone() }
}

/// What this form of the line starts; none when the line has another form.
fn inside(launcher: &Launcher, step: &Step, book: &Book) -> Option<Inner> {
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
    grammar::read_level(level, args, 0, &mut line);
    if !launcher.option.is_empty() && !line.is_any_on(&launcher.option) {
        return None;
    }
    if line.is_any_on(&launcher.unless) {
        return Some(Inner::Nothing);
    }
    Some(started(launcher, &line, args, step, book))
}

fn started(launcher: &Launcher, line: &Line<'_>, args: &[OsString], step: &Step, book: &Book) -> Inner {
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
    let mut words: &[OsString] = &args[line.operands_at..];
    if launcher.behind_dashes && text.is_none() {
        let Some(dashes) = args.iter().position(|word| word == "--") else { return Inner::Nothing };
        words = &args[dashes + 1..];
    }
    if launcher.assignments {
        // `env - PROGRAM`: an empty environment, as `-i` makes it.
        words = words.strip_prefix(&[OsString::from("-")]).unwrap_or(words);
        while let Some((name, value)) = words.first().and_then(|word| assignment(word)) {
            around.env.push((name, value));
            words = &words[1..];
        }
    }
    if let Some(directory) = launcher.directory_operand.and_then(|number| words.get(number.get() - 1)) {
        around.cwd = around.path(directory);
    }
    words = words.get(launcher.skip..).unwrap_or_default();
    // `direnv exec . -- sops`: a launcher's own end of options behind its operands.
    words = words.strip_prefix(&[OsString::from("--")]).unwrap_or(words);
    if let Some(text) = text {
        let mut script = text.as_encoded_bytes().to_vec();
        for word in words.iter().filter(|_| launcher.assignments) {
            script.push(b' ');
            script.extend_from_slice(shell_quote(word.as_encoded_bytes()).as_bytes());
        }
        return Inner::Script(script, Vec::new(), Box::new(around));
    }
    command(words, around, launcher)
}

fn command(words: &[OsString], around: Step, launcher: &Launcher) -> Inner {
    let Some((program, args)) = words.split_first() else { return Inner::Nothing };
    let mut args = args.to_vec();
    if launcher.program.has("xargs") {
        args.push(unknown());
    }
    let name = Path::new(program).file_name().unwrap_or(program).to_owned();
    Inner::Command(Box::new(Step { name, args, ..around }))
}

fn unknown() -> OsString {
    String::from(char::from(UNKNOWN)).into()
}

/// The arguments behind the launcher's sub-command; none when the line has another one.
fn behind_subcommand<'a>(launcher: &Launcher, args: &'a [OsString]) -> Option<&'a [OsString]> {
    let Some(wanted) = &launcher.subcommand else { return Some(args) };
    let level = Level { values: &launcher.values, group: true, ..Level::default() };
    let at = grammar::read_level(level, args, 0, &mut Line::default());
    let word = args.get(at.checked_sub(1)?)?;
    has(wanted, word).then(|| &args[at..])
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
    (is_name && !bytes[0].is_ascii_digit()).then(|| (name.into(), super::argument::tail(word, equals + 1).into_owned()))
}

/// `sh -c SCRIPT`, `bash -lc SCRIPT`, `bash -s <<EOF`.
fn shell(step: &Step) -> Inner {
    let mut wants_script = false;
    let mut at = 0;
    while let Some(word) = step.args.get(at) {
        let bytes = word.as_encoded_bytes();
        if bytes.len() < 2 || !(bytes[0] == b'-' || bytes[0] == b'+') {
            break;
        }
        at += 1;
        if bytes == b"--" {
            break;
        }
        if bytes.starts_with(b"--") {
            at += usize::from(bytes == b"--rcfile" || bytes == b"--init-file");
            continue;
        }
        wants_script |= bytes[0] == b'-' && bytes.contains(&b'c');
        // `-o pipefail`: the name of an option comes behind.
        at += usize::from(bytes.ends_with(b"o") || bytes.ends_with(b"O"));
    }
    let reads_input = step.args.get(at).is_none() || step.args[..at].iter().any(is_s);
    match (step.args.get(at), &step.input) {
        (Some(script), _) if wants_script => {
            // Which shell's name stands for `$0` where none is given makes no difference.
            let given = step.args.get(at + 1..).unwrap_or_default();
            let zeroth = if given.is_empty() { vec![step.name.clone()] } else { Vec::new() };
            let parameters = zeroth.into_iter().chain(given.iter().cloned()).collect();
            Inner::Script(script.as_encoded_bytes().to_vec(), parameters, Box::new(step.clone()))
        }
        (_, Some(input)) if reads_input => Inner::Script(input.clone(), Vec::new(), Box::new(step.clone())),
        (_, None) if reads_input && is_fed(step) => Inner::Unread,
        _ => Inner::Nothing,
    }
}

/// `-s`, also in a bundle.
fn is_s(word: &OsString) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.starts_with(b"-") && !bytes.starts_with(b"--") && bytes.contains(&b's')
}

/// Whether the line itself sends something to its standard input, and not somebody at a terminal.
fn is_fed(step: &Step) -> bool {
    step.input_from.iter().all(|file| file.as_os_str() != super::step::STDIN)
}

/// `docker exec [OPTIONS] CONTAINER COMMAND…`
fn in_container(launcher: &Launcher, step: &Step, book: &Book) -> Option<Inner> {
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
pub(super) fn there(around: Step, host: &str) -> Step {
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
fn on_host(launcher: &Launcher, line: &Line<'_>, around: Step, book: &Book) -> Inner {
    let Some((destination, words)) = line.operands.split_first() else { return Inner::Nothing };
    let Some(host) = super::host::of_destination(destination.as_encoded_bytes()) else { return Inner::Nothing };
    let host = String::from_utf8_lossy(&host).into_owned();
    let script = match (words, &around.input) {
        (_, input) if launcher.input => input.clone().unwrap_or_default(),
        ([], Some(input)) => input.clone(),
        (words, _) => words.iter().map(|word| word.as_encoded_bytes()).collect::<Vec<_>>().join(&b' '),
    };
    if script.is_empty() && words.is_empty() && around.input.is_none() && is_fed(&around) {
        return Inner::Unread;
    }
    let options = super::host::options(line, &around, book);
    let there = there(around, &book.host(&options, &host));
    if script.is_empty() { Inner::Nothing } else { Inner::Script(script, Vec::new(), Box::new(there)) }
}
