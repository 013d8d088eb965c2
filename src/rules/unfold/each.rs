//! `parallel COMMAND ::: WORDS`: GNU parallel runs the command, as a line for a shell of its own, for each of the words
//! (parallel(1)).
#![forbid(unsafe_code)]

mod given;

use std::ffi::{OsStr, OsString};

use self::given::{given, is_source};

use super::filled::{self, Given, quoted};
use super::{Inner, Text};
use crate::rules::book::Book;
use crate::rules::grammar::Line;
use crate::rules::step::{Step, nowhere};
use crate::rules::words::Words;

/// Where the lines would come to more bytes (256 KiB), their words are such that only run time knows.
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

fn bytes(word: &OsString) -> Vec<u8> {
    word.as_encoded_bytes().to_vec()
}

/// Text, or it is shown as text.
fn os(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
