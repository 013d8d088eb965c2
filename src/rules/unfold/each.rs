//! `parallel COMMAND ::: WORDS`: GNU parallel runs the command, as a line for a shell, for each of the words (parallel(1)).
#![forbid(unsafe_code)]

use std::ffi::OsString;

use super::{Inner, Text};
use crate::rules::step::{Step, UNKNOWN};
use crate::rules::words::Words;
use crate::terms::shell_quote;

/// What is beyond so many words is one that only run time knows.
const MOST: usize = 64;

/// The script: the line once for each word. Where the words come by standard input or from files, run time knows them.
pub(super) fn each<'a>(words: &Words<'a>, around: Step<'a>) -> Inner<'a> {
    let begin = words.iter().position(is_source).unwrap_or(words.len());
    let (command, rest) = words.split_at(begin);
    if command.is_empty() {
        // Each word is a line of its own.
        let lines: Vec<Vec<u8>> = rest.iter().filter(|word| !is_source(word)).map(bytes).collect();
        return Inner::Script(Text::Made(lines.join(&b'\n')), Words::default(), Box::new(around));
    }
    let named = rest.first().is_some_and(|source| source == ":::" || source == ":::+");
    let given = || rest.iter().filter(|word| !is_source(word));
    let mut fillings: Vec<Vec<u8>> = Vec::new();
    if named {
        fillings.extend(given().take(MOST).map(|word| shell_quote(word.as_encoded_bytes()).into_bytes()));
    }
    if !named || given().count() > MOST || rest.iter().any(|word| word == "::::") {
        // A variable that nobody sets.
        fillings.push(vec![UNKNOWN]);
    }
    let lines: Vec<Vec<u8>> = fillings.iter().map(|filling| line(command, filling)).collect();
    Inner::Script(Text::Made(lines.join(&b'\n')), Words::default(), Box::new(around))
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
