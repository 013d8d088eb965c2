//! What only the system can say: may we execute this, the default PATH, and the note by which copies know each other.
#![expect(unsafe_code, reason = "libc calls and a link section; each says why it is sound")]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::FileId;

/// An ELF note (gabi, "Note Section"): sizes of name and description, a type, then both, padded to four bytes.
#[repr(C, align(4))]
struct Note {
    name_size: u32,
    description_size: u32,
    kind: u32,
    name: [u8; 8],
    description: [u8; 36],
}

/// Every build carries this; linkers keep notes and collect them in the first page of the file, so that knowing a copy
/// of ourselves costs one small read.
#[used]
// SAFETY: the section holds notes; this is one, of the layout and alignment that the format asks for.
#[unsafe(link_section = ".note.locked")]
static NOTE: Note = Note {
    name_size: 7,
    description_size: 36,
    kind: 1,
    name: *b"locked\0\0",
    description: *b"d61f43b0-5a7c-4c0e-9f1b-8f2f4f0f6a55",
};

/// Whether this first page of a file shows our note. Notes lie at multiples of four, so only those are looked at.
pub(super) fn carries_our_note(page: &[u8]) -> bool {
    let is_ours = |rest: &[u8]| rest.strip_prefix(&NOTE.name).is_some_and(|rest| rest.starts_with(&NOTE.description));
    page.starts_with(b"\x7fELF") && (0..page.len()).step_by(4).any(|at| is_ours(&page[at..]))
}

/// Whether this first page of a file is that of a program, and not of a script.
pub(super) fn is_program(page: &[u8]) -> bool {
    page.starts_with(b"\x7fELF")
}

/// What this process has used of a processor since it was forked. It goes on over `exec`, as the process id does, so that
/// programs that replace each other for ever come to have used much of it.
pub(super) fn used() -> Duration {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `used` is valid for the call; the clock is one that every kernel has.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut used) };
    Duration::new(used.tv_sec.try_into().unwrap_or_default(), used.tv_nsec.try_into().unwrap_or_default())
}

/// The file that our parent runs, where the system lets us see it.
pub(super) fn program_of_parent() -> Option<FileId> {
    FileId::of(Path::new(&format!("/proc/{}/exe", std::os::unix::process::parent_id()))).ok()
}

/// Whether a word is a path, and not a name to be looked for.
pub(super) fn is_path(word: &OsStr) -> bool {
    word.as_bytes().contains(&b'/')
}

/// The program's own name: as it is called.
pub(super) fn own_name(name: &OsStr) -> OsString {
    name.to_owned()
}

/// The files that a typed path may mean: the one that it names.
pub(super) fn spellings(path: &Path) -> Vec<PathBuf> {
    vec![path.to_owned()]
}

/// Every place on PATH where the word could be.
pub(super) fn candidates(path: &OsStr, word: &OsStr) -> Vec<PathBuf> {
    super::search_path::candidates(path, word).collect()
}

/// Where programs are looked for when PATH is not set (POSIX `_CS_PATH`).
pub(super) fn default_path() -> OsString {
    // SAFETY: no buffer and no size: it only answers the size, the zero byte included.
    let size = unsafe { libc::confstr(libc::_CS_PATH, std::ptr::null_mut(), 0) };
    let mut bytes = vec![0u8; size];
    // SAFETY: the buffer has the size that is said.
    let written = unsafe { libc::confstr(libc::_CS_PATH, bytes.as_mut_ptr().cast(), size) };
    if written == 0 || written > size {
        return "/bin:/usr/bin".into();
    }
    bytes.truncate(written - 1);
    OsString::from_vec(bytes)
}
