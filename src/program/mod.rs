//! `program`: which program is meant. Walks PATH as a shell does, stepping over ourselves, and answers with the path as
//! it was found, so that a program that looks at its own name still sees it. Reads file metadata, and the first bytes
//! of the one file it chooses; runs nothing.
#![deny(unsafe_code)]

mod candidate;
mod error;
mod escape;
mod identity;
#[cfg(target_os = "linux")]
mod linux;
mod search_path;

#[cfg(target_os = "linux")]
use linux as platform;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

pub use error::{NotFound, SkipReason, Skipped};
pub use identity::FileId;

use candidate::Candidate;

/// Our own program's name. Under this name we are no shim, so it is never stepped over.
const OUR_NAME: &str = "locked";

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
    if !word.as_bytes().contains(&b'/') {
        return walk(word, path, cwd, ourselves, Vec::new());
    }
    let name = Path::new(word).file_name().unwrap_or_default();
    match candidate::look(Path::new(word), cwd, ourselves) {
        Candidate::Missing => Err(NotFound::NoSuchFile { path: word.into() }),
        Candidate::Unusable(why) => Err(NotFound::NotExecutable { path: word.into(), why, skipped: Vec::new() }),
        Candidate::Ours(why) if name != OUR_NAME => {
            walk(name, path, cwd, ourselves, vec![Skipped { path: word.into(), why }])
        }
        Candidate::Ours(_) | Candidate::Usable => {
            Ok(Program { path: word.into(), name: name.to_owned(), skipped: Vec::new() })
        }
    }
}

/// Goes on past files that cannot be executed, as shells do, and remembers the first: if nothing better comes, it is
/// what the refusal is about (126). Directories are no candidates at all.
fn walk(
    word: &OsStr,
    path: Option<&OsStr>,
    cwd: &Path,
    ourselves: FileId,
    mut skipped: Vec<Skipped>,
) -> Result<Program, NotFound> {
    let mut unusable = None;
    let default = path.is_none().then(platform::default_path);
    for found in search_path::candidates(path.or(default.as_deref()).unwrap_or_default(), word) {
        match candidate::look(&found, cwd, ourselves) {
            Candidate::Usable => return Ok(Program { path: found, name: word.to_owned(), skipped }),
            Candidate::Ours(_) if word == OUR_NAME => {
                return Ok(Program { path: found, name: word.to_owned(), skipped });
            }
            Candidate::Ours(why) => skipped.push(Skipped { path: found, why }),
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
