//! `parallel COMMAND ::: WORDS`: GNU parallel runs the command, as a line for a shell, for each of the words (parallel(1)).
#![forbid(unsafe_code)]

use std::ffi::OsString;

use super::{Inner, Text};
use crate::rules::book::Book;
use crate::rules::step::{Step, UNKNOWN};
use crate::rules::words::Words;
use crate::rules::xargs::text;
use crate::terms::shell_quote;

/// What is beyond so many words is one that only run time knows.
const MOST: usize = 64;

/// The script: the line once for each of the words, wherever they come from (`:::`, `::::` and `-a` with files, standard
/// input). Those that nobody can look at run time knows.
pub(super) fn each<'a>(words: &Words<'a>, around: Step<'a>, book: &Book) -> Inner<'a> {
    let begin = words.iter().position(is_source).unwrap_or(words.len());
    let (command, rest) = words.split_at(begin);
    if command.is_empty() && rest.is_empty() {
        // What comes in are lines of their own.
        let args = Words::default();
        return super::launched::read(Step { name: "sh".into(), called: "sh".into(), args, ..around });
    }
    let given = given(rest, &around, book);
    let is_told = given.iter().all(Option::is_some);
    let is_all = is_told && given.len() <= MOST;
    let known = given.into_iter().flatten();
    if command.is_empty() {
        // Each word is a line of its own.
        let text = known.collect::<Vec<_>>().join(&b'\n').into();
        let around = Step { input_from: Vec::new(), input_hidden: !is_told, ..around };
        return Inner::Script(Text::Read(text), Words::default(), Box::new(around));
    }
    let mut fillings: Vec<Vec<u8>> = known.take(MOST).map(|word| shell_quote(&word).into_bytes()).collect();
    // A variable that nobody sets.
    fillings.extend((!is_all || fillings.is_empty()).then(|| vec![UNKNOWN]));
    let lines: Vec<Vec<u8>> = fillings.iter().map(|filling| line(command, filling)).collect();
    Inner::Script(Text::Made(lines.join(&b'\n')), Words::default(), Box::new(around))
}

/// What the line is run for; none where only run time knows.
fn given(sources: &[OsString], around: &Step<'_>, book: &Book) -> Vec<Option<Vec<u8>>> {
    let lines = |step: &Step<'_>| match text(step, book) {
        Some(text) => {
            text.split(|&byte| byte == b'\n').filter(|it| !it.is_empty()).map(|it| Some(it.to_vec())).collect()
        }
        None => vec![None],
    };
    if sources.is_empty() {
        return lines(around);
    }
    let (mut given, mut are_files) = (Vec::new(), false);
    for word in sources {
        if is_source(word) {
            are_files = word.as_encoded_bytes().starts_with(b"::::");
        } else if are_files && around.host.is_none() && !around.inside {
            let input_from = vec![around.path(word)];
            given.extend(lines(&Step { input: None, input_from, input_hidden: false, ..around.clone() }));
        } else {
            given.push(Some(bytes(word)).filter(|_| !are_files));
        }
    }
    given
}

fn bytes(word: &OsString) -> Vec<u8> {
    word.as_encoded_bytes().to_vec()
}

fn is_source(word: &OsString) -> bool {
    [":::", "::::", ":::+", "::::+"].iter().any(|source| word == source)
}

/// The command with this in the place of `{}`, `{1}`, `{.}`…, or at its end.
fn line(command: &[OsString], filling: &[u8]) -> Vec<u8> {
    let text = command.iter().map(bytes).collect::<Vec<_>>().join(&b' ');
    let mut line = Vec::with_capacity(text.len() + filling.len() + 1);
    let (mut filled, mut at) = (false, 0);
    while at < text.len() {
        let length = gap(&text[at..]);
        match length {
            Some(length) => {
                line.extend_from_slice(filling);
                filled = true;
                at += length;
            }
            None => {
                line.push(text[at]);
                at += 1;
            }
        }
    }
    if !filled {
        line.push(b' ');
        line.extend_from_slice(filling);
    }
    line
}

/// How long the gap is that begins here: braces with nothing in them but signs and numbers.
fn gap(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"{")?;
    let end = rest.iter().take(8).position(|&byte| byte == b'}')?;
    rest[..end].iter().all(|byte| b"./#%0123456789+".contains(byte)).then_some(end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_goes_where_the_gap_is_or_to_the_end() {
        let table: [(&[&str], &str); 4] = [
            (&["sops", "-r", "{}"], "sops -r F"),
            (&["sops", "edit"], "sops edit F"),
            (&["cp {1} {.}.bak"], "cp F F.bak"),
            (&["awk '{print}'"], "awk '{print}' F"),
        ];
        for (command, expected) in table {
            let command: Vec<OsString> = command.iter().map(OsString::from).collect();
            assert_eq!(String::from_utf8_lossy(&line(&command, b"F")), expected);
        }
    }
}
