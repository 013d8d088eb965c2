//! Windows: a name without an extension means one of several files, and a section by its name tells copies of us.
#![expect(unsafe_code, reason = "a link section; it says why it is sound")]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::FileId;
use super::path_ext::{self, Extensions};
use crate::platform::OsStrExt as _;

/// The name of the section that every build carries. Names of sections stand in the first page of the file (PE format,
/// "Section Table"), so that knowing a copy of ourselves costs one small read.
const SECTION: &[u8; 8] = b".locked\0";

#[used]
// SAFETY: the section is ours alone and holds plain bytes.
#[unsafe(link_section = ".locked")]
static NOTE: [u8; 36] = *b"d61f43b0-5a7c-4c0e-9f1b-8f2f4f0f6a55";

/// The size of an entry of the section table, and where in the header of the file its parts stand (PE format).
const ENTRY: usize = 40;
const COUNT_AT: usize = 6;
const OPTIONAL_SIZE_AT: usize = 20;
const TABLE_AT: usize = 24;

/// Whether this first page of a file names our section.
pub(super) fn carries_our_note(page: &[u8]) -> bool {
    // Order: read once, so that no linker takes it for unused.
    std::hint::black_box(&NOTE);
    names_section(page).unwrap_or(false)
}

fn names_section(page: &[u8]) -> Option<bool> {
    let word = |at: usize| Some(usize::from(u16::from_le_bytes(page.get(at..at + 2)?.try_into().ok()?)));
    if !is_program(page) {
        return None;
    }
    let header = word(0x3C)?;
    if page.get(header..header + 4)? != b"PE\0\0" {
        return None;
    }
    let table = header + TABLE_AT + word(header + OPTIONAL_SIZE_AT)?;
    let mut names =
        (0..word(header + COUNT_AT)?).map_while(|nth| page.get(table + nth * ENTRY..table + nth * ENTRY + 8));
    Some(names.any(|name| name == SECTION))
}

/// Whether this first page of a file is that of a program, and not of a script.
pub(super) fn is_program(page: &[u8]) -> bool {
    page.starts_with(b"MZ")
}

/// No program replaces another in its process here, so that none is followed for what it used.
pub(super) fn used() -> Duration {
    Duration::ZERO
}

/// Not asked: a parent that is a shim of somebody else's is met by its child, whose calls are counted.
pub(super) fn program_of_parent() -> Option<FileId> {
    None
}

/// Without PATH there is no place where programs of a user's choice are.
pub(super) fn default_path() -> OsString {
    OsString::new()
}

/// Whether a word is a path, and not a name to be looked for.
pub(super) fn is_path(word: &OsStr) -> bool {
    word.as_bytes().iter().any(|byte| b"/\\:".contains(byte))
}

/// The program's own name: `sops` for `sops.exe`, `SOPS.EXE`, `Sops` and `sops.exe.`, as the rules call it. The system leaves out
/// dots and spaces at a name's end.
pub(super) fn own_name(name: &OsStr) -> OsString {
    let lower = OsString::from(name.to_string_lossy().to_lowercase().trim_end_matches(['.', ' ']));
    Extensions::of_environment().stem(&lower).map(OsStr::to_owned).unwrap_or(lower)
}

/// The files that a typed path may mean: itself, and itself with each extension of programs.
pub(super) fn spellings(path: &Path) -> Vec<PathBuf> {
    Extensions::of_environment().spellings(path)
}

/// Every place on PATH where the word could be.
pub(super) fn candidates(path: &OsStr, word: &OsStr) -> Vec<PathBuf> {
    path_ext::candidates(path, word, &Extensions::of_environment())
}
