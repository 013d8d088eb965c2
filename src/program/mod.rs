//! `program`: which program is meant. Walks PATH as a shell does, stepping over ourselves, and answers with the path as
//! it was found, so that a program that looks at its own name still sees it. Reads file metadata, and the first bytes
//! of the one file it chooses; runs nothing.
#![deny(unsafe_code)]

mod candidate;
mod chain;
mod error;
mod escape;
mod identity;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(windows, test))]
mod path_ext;
#[cfg(unix)]
mod search_path;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(windows)]
use windows as platform;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

pub use chain::follow;
pub use error::{NotFound, SkipReason, Skipped};
pub use identity::FileId;

use candidate::{Candidate, Facts};

use crate::platform::OsStrExt as _;

/// Our own program's name. Under this name we are no shim, so it is never stepped over.
const OUR_NAME: &str = "locked";

/// Whether this is our own name, and not that of a program in whose place we stand. Builds are kept beside each other
/// with something after it (`locked-0.2`, `locked.old`).
#[must_use]
pub fn is_our_name(name: &OsStr) -> bool {
    let rest = name.as_bytes().strip_prefix(OUR_NAME.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || matches!(rest[0], b'-' | b'.' | b'_'))
}

/// Whether `locked` is at this path, of whatever build, over whatever link.
#[must_use]
pub fn is_ours(path: &Path, ourselves: FileId) -> bool {
    candidate::is_ours(path, ourselves)
}

/// The program that a word means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// What to execute: as found (PATH entry and word) or as typed, never its real path. Relative to the working
    /// directory if the word or the PATH entry was.
    pub path: PathBuf,
    /// Its own name, the last part of the word.
    pub name: OsString,
    /// What was stepped over on the way, in PATH's order.
    pub skipped: Vec<Skipped>,
}

/// Finds the program that `word` means in `cwd`.
///
/// A word with a `/` is a path and stays as typed. Any other word is looked for in the entries of `path` (none: the
/// system's default), byte for byte, an empty entry being the working directory; the first executable regular file
/// that is not ourselves is it. *Ourselves* is the file `ourselves`, reached over whatever link, and any other copy of
/// `locked`, known by the note that every build carries in its first page (a copy would step over itself only, find
/// us, and so on for ever). A path to one of our shims means the program that the shim stands in front of.
///
/// Costs one `stat` and one access check per entry until the hit, and one read of its first page.
///
/// # Errors
/// See [`NotFound`]; [`NotFound::status`] is 127 or 126 as a shell would say.
pub fn resolve(word: &OsStr, path: Option<&OsStr>, cwd: &Path, ourselves: FileId) -> Result<Program, NotFound> {
    find(word, &Walk { path, cwd, ourselves, avoid: &[] }).map(|(program, _)| program)
}

/// Where is looked, and what is not wanted.
#[derive(Clone, Copy)]
struct Walk<'a> {
    path: Option<&'a OsStr>,
    cwd: &'a Path,
    ourselves: FileId,
    avoid: &'a [FileId],
}

fn find(word: &OsStr, walk: &Walk<'_>) -> Result<(Program, Option<Facts>), NotFound> {
    if !platform::is_path(word) {
        return along_path(word, walk, Vec::new());
    }
    let name = Path::new(word).file_name().unwrap_or_default();
    let looked = |path: PathBuf| (candidate::look(&path, walk.cwd, walk.ourselves), path);
    let mut found = platform::spellings(Path::new(word)).into_iter().map(looked);
    let there = found.find(|(candidate, _)| !matches!(candidate, Candidate::Missing));
    let Some((candidate, path)) = there else { return Err(NotFound::NoSuchFile { path: word.into() }) };
    let typed = || Program { path: path.clone(), name: own_name(name), skipped: Vec::new() };
    match candidate {
        Candidate::Missing => Err(NotFound::NoSuchFile { path }),
        Candidate::Unusable(why) => Err(NotFound::NotExecutable { path, why, skipped: Vec::new() }),
        Candidate::Ours(why) if !is_our_name(name) => along_path(name, walk, vec![Skipped { path, why }]),
        Candidate::Ours(_) => Ok((typed(), None)),
        Candidate::Usable(facts) if walk.avoid.contains(&facts.id) => Err(NotFound::LedBack { path }),
        Candidate::Usable(facts) => Ok((typed(), Some(facts))),
    }
}

/// The name by which rules know the program that is called by this one.
#[must_use]
pub fn own_name(name: &OsStr) -> OsString {
    platform::own_name(name)
}

/// Goes on past files that cannot be executed, as shells do, and remembers the first: if nothing better comes, it is
/// what the refusal is about (126). Directories are no candidates at all.
fn along_path(word: &OsStr, walk: &Walk<'_>, mut skipped: Vec<Skipped>) -> Result<(Program, Option<Facts>), NotFound> {
    let mut unusable = None;
    for found in places(word, walk.path) {
        match candidate::look(&found, walk.cwd, walk.ourselves) {
            Candidate::Usable(facts) if walk.avoid.contains(&facts.id) => {
                step_over(&mut skipped, Skipped { path: found, why: SkipReason::LedBack }, walk.cwd);
            }
            Candidate::Usable(facts) => {
                return Ok((Program { path: found, name: own_name(word), skipped }, Some(facts)));
            }
            Candidate::Ours(_) if is_our_name(word) => {
                return Ok((Program { path: found, name: own_name(word), skipped }, None));
            }
            Candidate::Ours(why) => step_over(&mut skipped, Skipped { path: found, why }, walk.cwd),
            Candidate::Unusable(SkipReason::Directory | SkipReason::NotAFile) | Candidate::Missing => {}
            Candidate::Unusable(why) => {
                unusable.get_or_insert((found, why));
            }
        }
    }
    Err(match unusable {
        Some((path, why)) => NotFound::NotExecutable { path, why, skipped },
        None => NotFound::NotOnPath { word: word.to_owned(), skipped },
    })
}

/// One place is told once, however often the caller and PATH name it.
fn step_over(skipped: &mut Vec<Skipped>, place: Skipped, cwd: &Path) {
    if !skipped.iter().any(|known| cwd.join(&known.path) == cwd.join(&place.path)) {
        skipped.push(place);
    }
}

/// Every place on PATH where the word could be; relative to the working directory where the entry is.
pub fn places(word: &OsStr, path: Option<&OsStr>) -> Vec<PathBuf> {
    let default = path.is_none().then(platform::default_path);
    platform::candidates(path.or(default.as_deref()).unwrap_or_default(), word)
}
