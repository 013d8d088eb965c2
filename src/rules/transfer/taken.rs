//! What rsync takes away on another host (rsync(1), `--delete`, `--remove-source-files`). Nobody here sees what stands there:
//! a name that a rule says is presumed to be there, unless the line keeps it.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::{begins, below, is_whole, listed, place, without};
use crate::rules::argument::tail;
use crate::rules::book::Book;
use crate::rules::grammar::Line;
use crate::rules::host;
use crate::rules::sent::{Pattern, Sent};
use crate::rules::step::Step;
use crate::rules::unfold::there;

/// Each of them deletes. `--delete-excluded` takes along what is excluded, which the others keep.
const DELETES: [&str; 7] = [
    "--del",
    "--delete",
    "--delete-before",
    "--delete-during",
    "--delete-delay",
    "--delete-excluded",
    "--delete-after",
];

/// Filters by which files are kept where they are, whether they are sent or not.
const PROTECTS: [&str; 3] = ["P ", "P_", "protect "];

/// `rsync -a --delete DIR/ HOST:DIR`: what stands there and not here goes.
pub(super) fn deleted(line: &Line<'_>, around: &Step<'_>, sources: &[&OsStr], to: &Path) -> Vec<Sent> {
    if !deletes(line, around) {
        return Vec::new();
    }
    let mut kept = kept(line);
    if !line.is_on("--delete-excluded") {
        kept.extend(without(line));
    }
    let places = sources.iter().map(|source| below(to, source, true));
    places.map(|place| Sent::Others { place, kept: kept.clone() }).collect()
}

/// Whether it takes away what is not here.
pub(super) fn deletes(line: &Line<'_>, around: &Step<'_>) -> bool {
    let says_so = around.name() == "rsync" && DELETES.iter().any(|option| line.is_on(option));
    says_so && (is_whole(line, around) || line.is_on("-d|--dirs"))
}

/// `rsync --remove-source-files HOST:FILE .`, and the same of files here.
pub(super) fn taken<'a>(line: &Line<'_>, around: &Step<'a>, book: &Book) -> Vec<Step<'a>> {
    let takes = line.is_on("--remove-source-files") || line.is_on("--remove-sent-files");
    let sources = line.operands.split_last().map(|(_, sources)| sources).filter(|_| takes);
    let places = sources.unwrap_or_default().iter().filter_map(|source| place(source));
    // What lies here, `rm` takes away.
    let own = sources.unwrap_or_default().iter().filter(|source| place(source).is_none());
    let own: Vec<OsString> = own.map(|&source| source.to_owned()).collect();
    let here = (!own.is_empty()).then(|| {
        let whole = is_whole(line, around).then(|| OsString::from("-r"));
        let args = whole.into_iter().chain([OsString::from("--")]).chain(own).collect();
        Step { name: "rm".into(), called: "rm".into(), args, ..around.clone() }
    });
    let steps = places.map(|(name, path)| {
        let there = there(around.clone(), &book.host(&host::options(line, around, book), &name));
        let sent = listed(line, around, Path::new(&path)).or_else(|| {
            is_whole(line, around).then(|| Sent::Others { place: Path::new(&path).to_owned(), kept: without(line) })
        });
        let args = [OsString::from("--"), path].into_iter().collect();
        Step { name: "rm".into(), args, sent: sent.into_iter().collect(), ..there }
    });
    steps.chain(here).collect()
}

/// What is kept by filters that say so.
fn kept(line: &Line<'_>) -> Vec<Pattern> {
    let is_risk = |filter: &OsStr| {
        ["!", "clear", "R", "risk", "+", "include", ".", ":", "merge", "dir-merge"]
            .iter()
            .any(|sign| begins(filter, sign))
    };
    if line.is_given("-F") || line.values("-f|--filter").any(is_risk) {
        return Vec::new();
    }
    let protecting = |filter: &OsStr| PROTECTS.iter().find(|sign| begins(filter, sign)).copied();
    let named =
        line.values("-f|--filter").filter_map(|filter| Some(tail(filter, protecting(filter)?.len()).into_owned()));
    named.filter_map(|pattern| Pattern::new(&pattern)).collect()
}
