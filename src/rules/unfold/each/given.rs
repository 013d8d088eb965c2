//! The words that the lines of parallel are run for, with what goes beside them (parallel(1), `:::`, `--link`, `--colsep`).
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use crate::rules::book::Book;
use crate::rules::grammar::Line;
use crate::rules::step::{Step, UNKNOWN, is_known};
use crate::rules::unfold::filled::Given;
use crate::rules::xargs::text;

/// What is beyond so many words is one that only run time knows.
const MOST: usize = 64;

/// What the line is run for.
pub(super) fn given(sources: &[OsString], line: &Line<'_>, around: &Step<'_>, book: &Book) -> Vec<Vec<Given>> {
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

pub(super) fn is_source(word: &OsString) -> bool {
    [":::", "::::", ":::+", "::::+"].iter().any(|source| word == source)
}
