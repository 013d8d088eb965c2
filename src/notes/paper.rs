//! A note as a file: its name, and how it is written.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::state::StateDir;
use crate::terms::{Digest, SessionId};

use super::{How, PLACE};

/// Leaves a note: this session has read this version of the file, and its plaintext went there. Whatever goes wrong is
/// passed over; it must not be heard of by who only reads.
pub fn leave(
    state: &StateDir,
    session: SessionId,
    file: &Path,
    plaintext: Option<&Path>,
    version: &Digest,
    now_ms: i64,
    how: How,
) {
    let nowhere = || match how {
        How::Run => format!("x{}", short(version)),
        How::Read => format!("-{}", short(version)),
        How::Made => "-".to_owned(),
    };
    let plaintext = plaintext.map_or_else(nowhere, named);
    let name = name_of(&named(file), &plaintext, session);
    put(state, &name, &format!("{version} {now_ms} {}\n", how.letter()));
}

pub(super) fn name_of(file: &str, plaintext: &str, session: SessionId) -> String {
    format!("{file}.{plaintext}.{}", session.whole().replace('-', ""))
}

pub(super) fn put(state: &StateDir, name: &str, text: &str) {
    let _as_owner = state.as_owner();
    let path = state.path().join(PLACE).join(name);
    let _best_effort = write(&path, text).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            state.below(PLACE).map_err(|_| error)?;
            write(&path, text)
        }
        _ => Err(error),
    });
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    // Only the first line counts. Who empties a file first has the file system write it out when it is closed, and waits.
    crate::platform::owners_alone(options.write(true).create(true).truncate(false));
    options.open(path)?.write_all(text.as_bytes())
}

/// A version in the name of a note.
fn short(version: &Digest) -> &str {
    &version.as_str()[..16]
}

/// A path in the name of a note.
pub(super) fn named(path: &Path) -> String {
    Digest::of(path.as_os_str().as_encoded_bytes()).as_str()[..32].to_owned()
}
