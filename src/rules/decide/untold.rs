//! Whether a rule is about what a command is told where nobody can look: `gh api …/dispatches --input -` out of a pipe,
//! `psql` that reads its statements from one.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use super::fits::{Around, fits};
use crate::rules::book::{Book, Rule};
use crate::rules::grammar::Line;
use crate::rules::step::{STDIN, Step, UNKNOWN, is_known};
use crate::rules::wanted::Filling;
use crate::rules::zones::told;
use crate::shell::Sourced;

/// Whether it would fit, were it not for that.
pub(super) fn is_untold(rule: &Rule, step: &Step<'_>, line: &Line<'_>, around: Around<'_>) -> bool {
    let by_text = !rule.text.is_empty() && text_is_hidden(rule, step, line, around);
    let by_sql = !rule.sql.is_empty() && sql_is_hidden(step, line, around);
    let without = || Rule { text: Vec::new(), sql: Vec::new(), ..rule.clone() };
    (by_text || by_sql) && rule.writes.is_empty() && fits(&without(), step, line, &[], around).is_some()
}

fn sql_is_hidden(step: &Step<'_>, line: &Line<'_>, (book, command): Around<'_>) -> bool {
    let told = told(step, line, book, command);
    let here = step.host.is_none() && !step.inside;
    let unseen = |file: &std::path::PathBuf| file.as_os_str() != STDIN && book.sourced(file) == Sourced::Unseen;
    told.hidden || told.input.iter().any(unseen) || told.files.iter().any(|file| !here || unseen(file))
}

/// The files that say what it does, where the rule names some: those that are not at hand.
fn text_is_hidden(rule: &Rule, step: &Step<'_>, line: &Line<'_>, (book, command): Around<'_>) -> bool {
    let filling = Filling { step, line, caught: &[], env: command.env };
    let mut words = rule.uses.iter().flat_map(|uses| filling.words(uses));
    // gh reads the value of a field out of a file (`-F event_type=@FILE`).
    let is_file = |value: &OsStr| value.as_encoded_bytes().windows(2).any(|two| two == b"=@");
    let by_field = step.name() == "gh" && line.values("-F|--field").any(is_file);
    by_field || words.any(|word| is_hidden(&word, step, book))
}

fn is_hidden(word: &OsStr, step: &Step<'_>, book: &Book) -> bool {
    let unread = |file: &std::path::PathBuf| !matches!(book.sourced(file), Sourced::Text(_));
    if word == "-" || word == STDIN {
        let nothing = step.input.is_none() && step.input_from.iter().all(|file| file.as_os_str() == STDIN);
        return step.input_hidden || (!nothing && step.input.is_none() && step.input_from.iter().any(unread));
    }
    if word.as_encoded_bytes() == [UNKNOWN] && !step.within.is_nothing() {
        return step.within.hidden || step.within.files.iter().any(unread);
    }
    let path = step.path(&OsString::from(word));
    let is_made = step.made.iter().any(|(made, printed)| *made == path && !printed.hidden);
    let here = step.host.is_none() && !step.inside;
    !is_known(word) || (here && !is_made && unread(&path))
}
