//! `.pgpass`: passwords by host, port, database and user.
//! Source: libpq `passwordFromFile`; the PostgreSQL manual, "The Password File".
#![forbid(unsafe_code)]

use std::path::Path;

use super::note::Note;
use super::secret::Secret;
use super::surroundings::Surroundings;

/// A password file's text, when it may be used.
pub(super) struct Passfile {
    lines: Vec<String>,
}

impl Passfile {
    /// Opens the file. One that is missing is no file at all; one that others may read is ignored with a note.
    pub(super) fn open(path: &Path, around: &dyn Surroundings, notes: &mut Vec<Note>) -> Self {
        let none = Self { lines: Vec::new() };
        let Ok(look) = around.look(path) else { return none };
        if !look.plain {
            notes.push(Note::PassfileIsNoFile(path.to_owned()));
            return none;
        }
        if look.mode & 0o077 != 0 {
            notes.push(Note::PassfileIsOpen { path: path.to_owned(), mode: look.mode & 0o777 });
            return none;
        }
        match around.read(path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let lines = text.split('\n').map(|line| line.trim_end_matches('\r').to_owned());
                Self { lines: lines.filter(|line| !line.starts_with('#')).collect() }
            }
            Err(_) => {
                notes.push(Note::PassfileUnreadable(path.to_owned()));
                none
            }
        }
    }

    /// The password of the first line that fits.
    pub(super) fn password(&self, host: &str, port: u16, database: &str, user: &str) -> Option<Secret> {
        let port = port.to_string();
        self.lines.iter().find_map(|line| {
            let rest =
                [host, &port, database, user].iter().try_fold(line.as_str(), |rest, wanted| field(rest, wanted))?;
            Some(Secret::new(unescaped(rest)))
        })
    }
}

/// What follows the field and its colon, if the field is `*` or, without its backslashes, the wanted text.
fn field<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    if let Some(rest) = text.strip_prefix("*:") {
        return Some(rest);
    }
    let mut wanted = wanted.chars();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        let letter = match letter {
            ':' => return wanted.next().is_none().then(|| &text[at + 1..]),
            '\\' => letters.next()?.1,
            other => other,
        };
        if wanted.next() != Some(letter) {
            return None;
        }
    }
    None
}

/// The password: up to the next colon, a backslash taking the next character as it is.
fn unescaped(text: &str) -> String {
    let mut password = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' => break,
            '\\' => password.push(letters.next().unwrap_or('\\')),
            other => password.push(other),
        }
    }
    password
}
