//! What a launcher starts, by its table.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::rc::Rc;

use super::each::each;
use super::elsewhere::{in_container, on_host};
use super::shells::{is_fed, shell};
use super::{Inner, Text};
use crate::rules::argument::tail;
use crate::rules::book::{Book, Launcher};
use crate::rules::grammar::{self, Level, Line};
use crate::rules::set::Set;
use crate::rules::sops;
use crate::rules::step::{LONGEST_PATH, Step, UNKNOWN, called, name_of};
use crate::rules::transfer;
use crate::rules::words::Words;
use crate::rules::xargs::{by_xargs, told};
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
        switches: &launcher.switches,
        stop_at: if launcher.copies || launcher.behind_dashes { None } else { Some(launcher.stop_at.unwrap_or(1)) },
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
        return Inner::Commands(transfer::copied(line, &around, book));
    }
    if launcher.reads && text.is_none() {
        return read(around);
    }
    let mut words = args.from(line.places.get(launcher.skip).copied().unwrap_or(args.len()));
    if launcher.behind_dashes && text.is_none() {
        let dashes = args.iter().position(|word| word == "--" || launcher.behind.has(&word.to_string_lossy()));
        let Some(dashes) = dashes else {
            return if launcher.shell_alone { read(around) } else { Inner::Nothing };
        };
        words = args.from(dashes + 1);
    }
    around.env = environment(launcher, line, around.env);
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
        // `env $(cat .env | xargs) PROGRAM`: assignments that only run time knows.
        while words.len() > 1 && words[0].as_encoded_bytes() == [UNKNOWN] {
            words = words.from(1);
        }
        let own: Vec<_> = words.iter().map_while(|word| assignment(word)).collect();
        words = words.from(own.len());
        around.env = around.env.and(own);
    }
    if let Some(directory) = launcher.directory_operand.and_then(|number| line.operands.get(number.get() - 1)) {
        around.cwd = around.path(directory);
    }
    // `direnv exec . -- sops`: a launcher's own end of options behind its operands.
    words = behind("--", words);
    if let Some(text) = text {
        let mut script = text.as_encoded_bytes().to_vec();
        for word in words.iter().filter(|_| launcher.assignments || launcher.joined) {
            script.push(b' ');
            script.extend_from_slice(shell_quote(word.as_encoded_bytes()).as_bytes());
        }
        return Inner::Script(Text::Made(script), Words::default(), Box::new(around));
    }
    if words.is_empty() && (launcher.shell_alone || line.is_any_on(&launcher.shell_with)) {
        return read(around);
    }
    if launcher.program.has("xargs") && is_each_a_script(&words, line) {
        let told = told(line, &around);
        return read(Step { name: "sh".into(), called: "sh".into(), args: Words::default(), ..told });
    }
    if launcher.program.has("xargs") {
        return Inner::Commands(by_xargs(&words, line, &around, book));
    }
    if launcher.each {
        return each(&words, line, told(line, &around), book);
    }
    if launcher.joined {
        let script = words.iter().map(|word| word.as_encoded_bytes()).collect::<Vec<_>>().join(&b' ');
        return Inner::Script(Text::Made(script), Words::default(), Box::new(around));
    }
    if line.doubtful.contains(&launcher.skip) && !launcher.behind_dashes {
        return in_doubt(words, around, launcher, book);
    }
    command(words, around, launcher)
}

/// Whether only run time knows what it sets for the program (`env $(xargs <.env) docker compose up`).
pub(super) fn hides_assignments(step: &Step<'_>) -> bool {
    let is_set = |word: &OsString| word.as_encoded_bytes() == [UNKNOWN];
    let mut before = step.args.iter().take_while(|word| is_set(word) || assignment(word).is_some());
    step.name() == "env" && before.any(is_set)
}

/// What is left of the environment: sudo makes a new one and takes few variables over (sudo(8), sudoers(5) `env_reset`, which
/// is on until somebody switches it off).
fn environment(launcher: &Launcher, line: &Line<'_>, around: Set) -> Set {
    let Some(keeps) = &launcher.keeps else { return around };
    let mut keeps = keeps.clone();
    for said in launcher.preserve.iter().flat_map(|names| line.given(names)) {
        let Some(names) = said else { return around };
        keeps.extend(names.to_string_lossy().split(',').map(str::to_owned));
    }
    around.only(keeps)
}

/// The words may begin with the value of an option that nobody knows: then the command stands behind it. Where the book
/// knows the first word, that is the program.
fn in_doubt<'a>(words: Words<'a>, around: Step<'a>, launcher: &Launcher, book: &Book) -> Inner<'a> {
    let known = |words: &Words<'a>| {
        let first = words.first().map(|first| name_of(first));
        first.is_some_and(|name| sops::is_sops(&name) || name.to_str().is_some_and(|name| book.has(name)))
    };
    let later = behind("--", words.from(1));
    if known(&words) || !known(&later) {
        return command(words, around, launcher);
    }
    match command(later, around, launcher) {
        Inner::Command(step) => Inner::Command(Box::new(Step { is_guessed: true, ..*step })),
        other => other,
    }
}

/// What comes in by standard input, as a script.
pub(super) fn read(around: Step<'_>) -> Inner<'_> {
    match &around.input {
        Some(text) => Inner::Script(Text::Read(Rc::clone(text)), Words::default(), Box::new(around.clone())),
        None if is_fed(&around) => Inner::Fed(Box::new(around)),
        None => Inner::Nothing,
    }
}

/// `xargs -I{} bash -c {}`: each line that comes in is a script.
fn is_each_a_script(words: &Words<'_>, line: &Line<'_>) -> bool {
    let place = line.value("-I").unwrap_or(OsStr::new("{}"));
    let is_shell = |program: &OsString| {
        let name = name_of(program);
        ["sh", "bash", "zsh", "dash", "ksh"].iter().any(|shell| name == *shell)
    };
    matches!(words.get(..), Some([program, option, script]) if is_shell(program) && option == "-c" && script == place)
}

/// The words behind this one, if it is the first.
fn behind<'a>(word: &str, words: Words<'a>) -> Words<'a> {
    if words.first().is_some_and(|first| first == word) { words.from(1) } else { words }
}

pub(super) fn command<'a>(words: Words<'a>, around: Step<'a>, launcher: &Launcher) -> Inner<'a> {
    let Some((program, mut args)) = words.split() else { return Inner::Nothing };
    let mut name = name_of(program);
    if launcher.versions {
        name = without_version(&name);
        // `nix run nixpkgs#sops -- …`
        args = behind("--", args);
    }
    Inner::Command(Box::new(Step { name, called: called(program), args, ..around }))
}

/// `wrangler` of `wrangler@4`, and of `nixpkgs#wrangler`.
fn without_version(name: &OsStr) -> OsString {
    let text = name.to_string_lossy();
    let text = text.rsplit_once('#').map_or(&*text, |(_, name)| name);
    let name = text.split_once('@').map_or(text, |(name, _)| if name.is_empty() { text } else { name });
    name.into()
}

/// The arguments behind the launcher's sub-command; none when the line has another one.
fn behind_subcommand<'a>(launcher: &Launcher, args: &Words<'a>) -> Option<Words<'a>> {
    let Some(wanted) = &launcher.subcommand else { return Some(args.clone()) };
    wanted.iter().find_map(|words| behind_words(launcher, args, words))
}

/// The arguments behind these words, before each of which options may stand.
fn behind_words<'a>(launcher: &Launcher, args: &Words<'a>, words: &str) -> Option<Words<'a>> {
    let (values, switches) = (&*launcher.values, &*launcher.switches);
    let level = Level { values, switches, attached: &launcher.attached, group: true, ..Level::default() };
    let mut at = 0;
    for word in words.split(' ') {
        let mut line = Line::default();
        at = grammar::read_level(level, args, at, &mut line);
        // Behind an option that nobody knows it may be a value.
        while line.operands.pop().is_some_and(|found| found != word) {
            if std::mem::take(&mut line.doubtful).is_empty() {
                return None;
            }
            at = grammar::read_level(level, args, at, &mut line);
        }
        if args.get(at.checked_sub(1)?)? != word {
            return None;
        }
    }
    Some(args.from(at))
}

/// `NAME=value`. What is longer than any path is no name of a variable either.
fn assignment(word: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = word.as_encoded_bytes();
    let equals = bytes.iter().take(LONGEST_PATH).position(|&byte| byte == b'=').filter(|&at| at > 0)?;
    let name = std::str::from_utf8(&bytes[..equals]).ok()?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && !bytes[0].is_ascii_digit()).then(|| (name.into(), tail(word, equals + 1).into_owned()))
}
