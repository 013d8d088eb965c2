//! `parallel COMMAND ::: WORDS`: GNU parallel runs the command, as a line for a shell of its own, for each of the words
//! (parallel(1)).
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use super::filled::{self, Given, quoted};
use super::{Inner, Text};
use crate::rules::book::Book;
use crate::rules::grammar::Line;
use crate::rules::step::{Step, UNKNOWN, is_known, nowhere};
use crate::rules::words::Words;
use crate::rules::xargs::text;

/// What is beyond so many words is one that only run time knows; and so are all where the lines would come to more bytes
/// (256 KiB).
const MOST: usize = 64;
const MOST_BYTES: usize = 256 * 1024;

/// The lines: the command once for each of the words, wherever they come from (`:::`, `::::` and `-a` with files, standard
/// input). Those that nobody can look at run time knows.
pub(super) fn each<'a>(words: &Words<'a>, line: &Line<'_>, around: Step<'a>, book: &Book) -> Inner<'a> {
    let begin = words.iter().position(is_source).unwrap_or(words.len());
    let (command, rest) = words.split_at(begin);
    let is_alone = line.is_on("--nonall") || line.is_on("--pipe|--spreadstdin");
    if command.is_empty() && rest.is_empty() {
        // What comes in are lines of their own.
        let args = Words::default();
        return super::launched::read(Step { name: "sh".into(), called: "sh".into(), args, ..around });
    }
    if command.is_empty() {
        return lines_of_their_own(rest, around, book);
    }
    let given = if is_alone { vec![Vec::new()] } else { given(rest, line, &around, book) };
    let word = |word: &OsString| {
        if line.is_on("-q|--quote") { quoted(word.as_encoded_bytes()) } else { bytes(word) }
    };
    let text = command.iter().map(word).collect::<Vec<_>>().join(&b' ');
    let given = if given.len() * text.len() > MOST_BYTES { vec![vec![None]] } else { given };
    let own = Step { redirected: Vec::new(), ..around.clone() };
    let own = if is_alone { own } else { Step { input: None, input_from: Vec::new(), input_hidden: false, ..own } };
    let jobs = given.iter().flat_map(|words| {
        let script = os(&filled::line(&text, words));
        let there = line.value("--workdir|--wd").map(|directory| filled_directory(directory, words));
        let own = Step { cwd: there.map_or_else(|| own.cwd.clone(), |there| own.path(&there)), ..own.clone() };
        on_hosts(script, line, &own, book)
    });
    Inner::Commands(jobs.collect())
}

/// Each word is a line, and each line a job.
fn lines_of_their_own<'a>(rest: &[OsString], around: Step<'a>, book: &Book) -> Inner<'a> {
    let given = given(rest, &Line::default(), &around, book);
    let is_told = given.iter().flatten().all(Option::is_some);
    if !is_told {
        let known = given.into_iter().flatten().flatten().collect::<Vec<_>>().join(&b'\n').into();
        let around = Step { input_from: Vec::new(), input_hidden: true, ..around };
        return Inner::Script(Text::Read(known), Words::default(), Box::new(around));
    }
    let own = Step { redirected: Vec::new(), input: None, input_from: Vec::new(), ..around };
    Inner::Commands(given.into_iter().flatten().flatten().map(|line| job(os(&line), &own)).collect())
}

fn job<'a>(script: OsString, own: &Step<'a>) -> Step<'a> {
    let args = [OsString::from("-c"), script].into_iter().collect();
    Step { name: "sh".into(), called: "sh".into(), args, ..own.clone() }
}

/// A job where it runs: on these hosts (`-S a,b`, or as a file says it), of which `:` is this one. It may be any of them.
fn on_hosts<'a>(script: OsString, line: &Line<'_>, own: &Step<'a>, book: &Book) -> Vec<Step<'a>> {
    let mut hosts: Vec<OsString> = Vec::new();
    for list in line.values("-S|--sshlogin") {
        let logins = list.as_encoded_bytes().split(|byte| b", ".contains(byte)).filter(|it| !it.is_empty());
        // `8/host` has eight processors.
        hosts.extend(logins.map(|login| os(login.rsplit(|&byte| byte == b'/').next().unwrap_or_default())));
    }
    for file in line.values("--slf|--sshloginfile") {
        hosts.extend(super::hosts::in_file(file, own, book));
    }
    if hosts.is_empty() {
        return vec![job(script, own)];
    }
    let there = hosts.into_iter().map(|host| {
        if host == ":" {
            return job(script.clone(), own);
        }
        Step {
            name: "ssh".into(),
            called: "ssh".into(),
            args: [host, script.clone()].into_iter().collect(),
            ..own.clone()
        }
    });
    there.collect()
}

/// Where the jobs run: three dots are a directory of parallel's own.
fn filled_directory(directory: &OsStr, words: &[Given]) -> OsString {
    let bytes = directory.as_encoded_bytes();
    let is_plain = |word: &Given| word.as_ref().is_some_and(|word| quoted(word) == *word);
    let has_gap = bytes.contains(&b'{');
    if directory == "..." || (has_gap && !words.iter().all(is_plain)) {
        return nowhere().into_os_string();
    }
    if has_gap { os(&filled::line(bytes, words)) } else { directory.to_owned() }
}

/// What the line is run for.
fn given(sources: &[OsString], line: &Line<'_>, around: &Step<'_>, book: &Book) -> Vec<Vec<Given>> {
    let mut rows: Vec<Vec<Given>> = Vec::new();
    for (at, (words, linked)) in all_sources(sources, around, book).into_iter().enumerate() {
        let columns: Vec<Vec<Given>> = words.into_iter().map(|word| in_columns(word, line)).collect();
        rows = match at {
            0 => columns,
            // Side by side, the shorter one again and again.
            _ if linked || line.is_on("--link|--xapply") => {
                let most = rows.len().max(columns.len()).min(MOST + 1);
                let pair = |at: usize| [&*rows[at % rows.len()], &*columns[at % columns.len()]].concat();
                if rows.is_empty() || columns.is_empty() { Vec::new() } else { (0..most).map(pair).collect() }
            }
            _ => {
                let each = rows.iter().flat_map(|row| columns.iter().map(|column| [&**row, &**column].concat()));
                each.take(MOST + 1).collect()
            }
        };
    }
    if let Some(most) = most_args(line) {
        rows = rows.concat().chunks(most).map(<[Given]>::to_vec).collect();
    }
    if rows.len() > MOST || rows.is_empty() {
        let width = rows.first().map_or(1, Vec::len);
        rows.truncate(MOST);
        rows.push(vec![None; width]);
    }
    rows
}

fn most_args(line: &Line<'_>) -> Option<usize> {
    let most = line.value("-n|--max-args").or_else(|| line.value("-N|--max-replace-args"))?;
    most.to_str()?.parse().ok().filter(|&most| most > 0)
}

/// The words of each source, and whether it goes beside the one before it.
fn all_sources(sources: &[OsString], around: &Step<'_>, book: &Book) -> Vec<(Vec<Given>, bool)> {
    let lines = |step: &Step<'_>| match text(step, book) {
        Some(text) => text.split(|&byte| byte == b'\n').filter(|it| !it.is_empty()).map(given_word).collect(),
        None => vec![None],
    };
    if sources.is_empty() {
        return vec![(lines(around), false)];
    }
    let (mut all, mut are_files): (Vec<(Vec<Given>, bool)>, bool) = (Vec::new(), false);
    for word in sources {
        if is_source(word) {
            are_files = word.as_encoded_bytes().starts_with(b"::::");
            all.push((Vec::new(), word.as_encoded_bytes().ends_with(b"+")));
            continue;
        }
        let Some((words, _)) = all.last_mut() else { continue };
        if are_files && around.host.is_none() && !around.inside && is_known(word) {
            let input_from = vec![around.path(word)];
            words.extend(lines(&Step { input: None, input_from, input_hidden: false, ..around.clone() }));
        } else {
            words.push(if are_files { None } else { given_word(word.as_encoded_bytes()) });
        }
    }
    all
}

/// A word of which nothing is known may be several.
fn given_word(word: &[u8]) -> Given {
    (word != [UNKNOWN]).then(|| word.to_vec())
}

/// `--colsep`: a word is several, parted by what is an expression; by one that is more than a sign they are not known.
fn in_columns(word: Given, line: &Line<'_>) -> Vec<Given> {
    let apart = line.value("-C|--colsep").map(OsStr::as_encoded_bytes);
    let sign = match apart {
        None => return vec![word],
        Some(b"\\t") => b'\t',
        Some(b"\\s" | b"\\s+" | b" +") => b' ',
        Some([sign]) if !b".*+?|^$\\".contains(sign) => *sign,
        Some([b'\\', sign]) if sign.is_ascii_punctuation() => *sign,
        // More columns than these nobody asks for.
        Some(_) => return vec![None; 9],
    };
    match word {
        Some(word) => word.split(|&byte| byte == sign).map(given_word).collect(),
        None => vec![None; 9],
    }
}

fn bytes(word: &OsString) -> Vec<u8> {
    word.as_encoded_bytes().to_vec()
}

/// Text, or it is shown as text.
fn os(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

fn is_source(word: &OsString) -> bool {
    [":::", "::::", ":::+", "::::+"].iter().any(|source| word == source)
}
