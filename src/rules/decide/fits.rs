//! Whether a rule is about a command.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::rules::Command;
use crate::rules::book::{Book, Expression, Place, Rule, Several};
use crate::rules::grammar::Line;
use crate::rules::sql::bare_sql;
use crate::rules::step::{STDIN, Step, UNKNOWN, is_known};
use crate::rules::wanted::Filling;
use crate::rules::zones::told;
use crate::shell::Sourced;

/// The line behind one of the sub-commands, where there are some to be behind.
pub(in crate::rules) fn behind<'l, 'a>(wanted: Option<&Several>, line: &'l Line<'a>) -> Option<Cow<'l, Line<'a>>> {
    wanted.map_or(Some(Cow::Borrowed(line)), |wanted| line.behind(wanted))
}

/// An operand that is longer names nothing; a rule that looks for names in operands is taken to be about it, without its
/// being read.
const LONGEST_NAME: usize = 64 * 1024;

/// Whether all of these options are given: `-i|--in-place`, `--type=GLOB`.
pub(super) fn given(options: &Several, line: &Line<'_>) -> bool {
    options.iter().all(|option| is_given(option, line))
}

/// Whether one of them is.
fn any_given(options: &Several, line: &Line<'_>) -> bool {
    options.iter().any(|option| is_given(option, line))
}

fn is_given(option: &str, line: &Line<'_>) -> bool {
    match option.split_once('=') {
        // A switch that is on says `true`, as Go's `pflag` has it.
        Some((names, glob)) => {
            let said = |value: Option<&OsStr>| value.unwrap_or(OsStr::new("true")).to_owned();
            line.given(names).any(|value| fast_glob::glob_match(glob.as_bytes(), said(value).as_encoded_bytes()))
        }
        None => line.is_on(option),
    }
}

/// The book, and the line that was typed.
pub(super) type Around<'a> = (&'a Book, &'a Command<'a>);

/// What expressions caught: name and text.
pub(super) type Groups = Vec<(String, OsString)>;

/// Whether the rule is about this command; then what its expressions caught.
pub(super) fn fits(
    rule: &Rule,
    step: &Step<'_>,
    line: &Line<'_>,
    touched: &[PathBuf],
    (book, command): Around<'_>,
) -> Option<Groups> {
    let remote = step.host.is_some();
    let there = match rule.on {
        Place::Anywhere => true,
        // A container is neither this machine nor its host.
        _ if step.inside => false,
        Place::Here => !remote || !rule.remote.is_empty(),
        Place::Remote => remote,
    };
    let on_line = || {
        rule.remote.is_empty()
            || (remote && {
                let words = step.words(usize::MAX);
                rule.remote.iter().any(|glob| glob.fits_line(&words))
            })
    };
    let operands = || {
        rule.args.is_empty()
            || line.operands.iter().any(|word| rule.args.iter().any(|glob| glob.fits(word.as_encoded_bytes())))
    };
    let excused = || {
        let first = line.sure().next().filter(|_| !rule.unless_first.is_empty());
        first.is_some_and(|word| rule.unless_first.iter().any(|glob| glob.fits(word.as_encoded_bytes())))
    };
    // What a directory that goes there holds, the plan looks at.
    let written = || {
        rule.writes.is_empty() || !step.sent.is_empty() || touched.iter().any(|path| rule.is_about(path.as_os_str()))
    };
    let set = || rule.env.iter().all(|wanted| is_set(wanted, step, command));
    let fits = there
        && given(&rule.option, line)
        && !any_given(&rule.unless, line)
        && !excused()
        && operands()
        && on_line()
        && written()
        && set();
    if !fits {
        return None;
    }
    let operands: Vec<&[u8]> = line.operands.iter().map(|&word| word.as_encoded_bytes()).collect();
    let sure: Vec<&[u8]> = line.sure().map(OsStr::as_encoded_bytes).collect();
    let mut groups = caught(&rule.matches, &operands, LONGEST_NAME)?;
    if !line.doubtful.is_empty() {
        // What may be a value fits, and names nothing.
        groups = caught(&rule.matches, &sure, LONGEST_NAME).unwrap_or_default();
    }
    let handed = if rule.text.is_empty() { Vec::new() } else { handed(rule, step, line, (book, command)) };
    let values = line.all_values().map(OsStr::as_encoded_bytes);
    let said = operands.into_iter().chain(values).chain(step.input.as_deref());
    let texts: Vec<&[u8]> = said.chain(handed.iter().map(Vec::as_slice)).collect();
    groups.extend(caught(&rule.text, &texts, usize::MAX)?);
    if !rule.sql.is_empty() {
        let told = told(step, line, book, command);
        let here = step.host.is_none() && !step.inside;
        let files = told.files.iter().filter(|_| here).chain(&told.input).cloned().collect::<Vec<_>>();
        let bare: Vec<Vec<u8>> = told.texts.iter().chain(&read(&files, book)).map(|text| bare_sql(text)).collect();
        groups.extend(caught(&rule.sql, &bare.iter().map(Vec::as_slice).collect::<Vec<_>>(), usize::MAX)?);
    }
    Some(groups)
}

/// What stands in the files that come in by standard input, and in those that say what the command does.
fn handed(rule: &Rule, step: &Step<'_>, line: &Line<'_>, (book, command): Around<'_>) -> Vec<Vec<u8>> {
    let filling = Filling { step, line, caught: &[], env: command.env };
    let named: Vec<_> = rule.uses.iter().flat_map(|uses| filling.words(uses)).collect();
    let (mut texts, mut files) = (Vec::new(), step.input_from.clone());
    if named.iter().any(|word| word.as_encoded_bytes() == [UNKNOWN]) {
        // `--input <(cat FILE)`.
        texts.extend(step.within.text.as_deref().map(<[u8]>::to_vec));
        files.extend(step.within.files.iter().cloned());
    }
    let named = named.iter().map(|word| step.path(word));
    let here = step.host.is_none() && !step.inside;
    for file in named {
        match step.made.iter().find(|(made, _)| *made == file) {
            Some((_, printed)) => {
                texts.extend(printed.text.as_deref().map(<[u8]>::to_vec));
                files.extend(printed.files.iter().cloned());
            }
            None if here => files.push(file),
            None => {}
        }
    }
    texts.extend(read(&files, book));
    texts
}

/// So many files that a line names are read.
const MOST_FILES: usize = 16;

/// What stands in files of this machine, as far as they can be looked at.
fn read(files: &[PathBuf], book: &Book) -> Vec<Vec<u8>> {
    let known = files.iter().filter(|file| is_known(file.as_os_str()) && file.as_os_str() != STDIN).take(MOST_FILES);
    let texts = known.filter_map(|file| match book.sourced(file) {
        Sourced::Text(text) => Some(text),
        Sourced::Missing | Sourced::Unseen => None,
    });
    texts.collect()
}

/// Whether a word that only run time knows may be what the rule's expression asks for (`gh workflow run "$W"`).
pub(super) fn may_match(rule: &Rule, step: &Step<'_>, line: &Line<'_>, around: Around<'_>) -> bool {
    let unknown = |word: &&OsStr| word.as_encoded_bytes() == [UNKNOWN];
    !rule.matches.is_empty()
        && line.operands.first().is_some_and(unknown)
        && fits(&Rule { matches: Vec::new(), ..rule.clone() }, step, line, &[], around).is_some()
}

fn is_set(wanted: &str, step: &Step<'_>, command: &Command<'_>) -> bool {
    let (name, glob) = wanted.split_once('=').map_or((wanted, None), |(name, glob)| (name, Some(glob)));
    let value = step.variable(name, command.env);
    value.is_some_and(|value| glob.is_none_or(|glob| fast_glob::glob_match(glob.as_bytes(), value.as_encoded_bytes())))
}

/// What expressions caught in texts; none where there are some and none of them fits.
fn caught(expressions: &[Expression], texts: &[&[u8]], most: usize) -> Option<Groups> {
    let mut groups = Vec::new();
    // What nobody reads may be anything.
    let mut any = expressions.is_empty() || texts.iter().any(|text| text.len() > most);
    let texts = texts.iter().filter(|text| text.len() <= most);
    for expression in expressions {
        for found in texts.clone().filter_map(|text| expression.caught(text)) {
            any = true;
            let known = found.into_iter().filter(|(_, part)| !part.contains(&UNKNOWN));
            groups.extend(known.map(|(name, part)| (name, os(part))));
        }
    }
    any.then_some(groups)
}

/// What an expression caught; text, or it is shown as text.
fn os(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
