//! Files that a script reads in (`. FILE`, `source FILE`): what stands in them runs as if it stood in the script. And those
//! that a loop of it goes through.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use super::{Env, Reader, is_one_word};
use crate::rules::book::Book;
use crate::rules::step::{Step, is_known};
use crate::shell::{self, Directory, Part, Script, Sourced, Surroundings, Word};

/// Reads a script, and what it reads in where that is a file of this machine.
pub(super) fn parsed(
    text: &[u8],
    surroundings: &Surroundings,
    around: &Step<'_>,
    (book, env): (&Book, Env<'_>),
) -> Script {
    let nothing = Script::default();
    let reader = Reader::new(&nothing, around, env);
    let names = |directory: &Directory, word: &Word| reader.names(directory, word, book);
    if reads_in(text) || goes_through(text) {
        let reads = |directory: &Directory, file: &Word| reader.sourced(directory, file, book);
        return shell::parse_seeing(text, surroundings, &reads, &names);
    }
    shell::parse_seeing(text, surroundings, &|_, _| Sourced::Unseen, &names)
}

/// Whether a script may read a file in; most do not, and no test for a file need be made for them.
fn reads_in(text: &[u8]) -> bool {
    text.len() <= shell::LONGEST
        && (has(text, "source") || text.windows(2).any(|two| two[0] == b'.' && b" \t\"'".contains(&two[1])))
}

/// Whether a script may have a loop that goes through a file.
fn goes_through(text: &[u8]) -> bool {
    let has = |word| has(text, word);
    text.len() <= shell::LONGEST
        && ((has("while") && has("read")) || (has("for") && (has("$(cat") || has("$(<") || has("`cat"))))
}

/// Whether this stands in it. What is text is looked through in larger steps.
fn has(text: &[u8], word: &str) -> bool {
    match std::str::from_utf8(text) {
        Ok(text) => text.contains(word),
        Err(_) => text.windows(word.len()).any(|part| part == word.as_bytes()),
    }
}

impl Reader<'_, '_> {
    /// The files that a word with a pattern in it stands for, where they are files of this machine.
    fn names(&self, directory: &Directory, word: &Word, book: &Book) -> Option<Vec<Vec<u8>>> {
        let directory = self.directory(directory);
        if self.around.host.is_some() || self.around.inside || !is_known(directory.as_os_str()) {
            return None;
        }
        let mut pattern = Vec::new();
        for part in word.parts() {
            match part {
                Part::Known(text) => literal(text, &mut pattern),
                Part::Variable { name, splits } => {
                    let value = self.value(name).filter(|value| !splits || is_one_word(value))?;
                    literal(&value, &mut pattern);
                }
                // Braces that are too much, and patterns that not every shell knows.
                Part::Pattern(text) if text.iter().any(|byte| b"{(".contains(byte)) => return None,
                Part::Pattern(text) => pattern.extend_from_slice(text),
                Part::Unknown { .. } | Part::Output { .. } | Part::Stream(_) => return None,
            }
        }
        book.named(&directory, &pattern)
    }

    /// What stands in it. A name without a slash is looked for on PATH, and then in the directory (bash(1), `source`).
    fn sourced(&self, directory: &Directory, file: &Word, book: &Book) -> Sourced {
        let word = self.word(file);
        if self.around.host.is_some() || self.around.inside || word.is_empty() || !is_known(&word) {
            return Sourced::Unseen;
        }
        let path = self.around.variable("PATH", self.env).filter(|_| !word.as_encoded_bytes().contains(&b'/'));
        let places = path.iter().flat_map(std::env::split_paths).filter(|place| place.is_absolute());
        let places: Vec<PathBuf> = places.chain([self.directory(directory)]).collect();
        for place in places {
            let found = place.join(&word);
            if !is_known(found.as_os_str()) || self.made.iter().any(|(made, _)| *made == found) {
                return Sourced::Unseen;
            }
            match book.sourced(&found) {
                Sourced::Missing => {}
                seen => return seen,
            }
        }
        Sourced::Missing
    }
}

/// Text that stands for itself in a pattern.
fn literal(text: &[u8], pattern: &mut Vec<u8>) {
    for byte in text {
        pattern.extend(Some(b'\\').filter(|_| b"*?[]\\".contains(byte)));
        pattern.push(*byte);
    }
}
