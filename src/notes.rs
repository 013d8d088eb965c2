//! `notes`: which version of a file a session has read. A `decrypt` that passes through leaves one in the state directory, so
//! that the plaintext that is encrypted later has a known base. Best effort in both directions: a note that is missing,
//! old or damaged is none.
//!
//! One small file per session, file and place of the plaintext, 0600, in `notes` below the state directory: its name is
//! `FILE.PLAINTEXT.SESSION`, the first two as digests of their paths, its content the digest of the version, the moment and how
//! it is known. No path, no content and no secret is in it. Where the plaintext went nowhere that is known it is `-`, and where a
//! program was run with it `x`, each with the version: a look at the newest one takes nothing from what was read before. Once
//! its plaintext was encrypted, a note is of the version that came of it: whoever keeps the plaintext and encrypts it a second
//! time must not undo what another session has written between.
#![forbid(unsafe_code)]

mod paper;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::state::StateDir;
use crate::terms::{Digest, SessionId};

pub use paper::leave;
use paper::{name_of, named, put};

/// After that long a note is swept away: 30 days. Until then it is a base, however old: plaintext that lay for days is the one
/// that most likely is of an older version.
const LASTS: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Where they lie.
const PLACE: &str = "notes";

/// How a session knows the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It has decrypted it.
    Read,
    /// It has run a program with it: most of them only use it.
    Run,
    /// It has made it: its plaintext was encrypted to it.
    Made,
}

impl How {
    fn letter(self) -> &'static str {
        match self {
            Self::Read => "r",
            Self::Run => "x",
            Self::Made => "m",
        }
    }
}

/// What a session has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Which session.
    pub session: SessionId,
    /// The version of the file.
    pub version: Digest,
    /// When, wall clock, ms since 1970.
    pub at: i64,
    /// How it is known.
    pub how: How,
    /// What lies there was encrypted from plaintext of this place, as names have it.
    origin: Option<String>,
    name: String,
}

/// The notes of this state directory.
#[derive(Debug)]
pub struct Notes {
    directory: PathBuf,
    now_ms: i64,
    state: StateDir,
}

impl Note {
    /// Whether it is older than this, at that moment (ms since 1970).
    #[must_use]
    pub fn is_older_than(&self, span: Duration, now_ms: i64) -> bool {
        now_ms.saturating_sub(self.at) >= i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
    }

    /// Whether nobody knows where its plaintext went.
    #[must_use]
    pub fn went_nowhere(&self) -> bool {
        self.name.split('.').nth(1).is_some_and(|plaintext| plaintext.starts_with(['-', 'x']))
    }

    /// Whether what lies there was encrypted from plaintext of another place.
    #[must_use]
    pub fn was_carried(&self) -> bool {
        self.origin.is_some()
    }

    /// Whether it is of this file.
    #[must_use]
    pub fn is_of(&self, file: &Path) -> bool {
        self.name.split('.').next() == Some(&*named(file))
    }
}

impl Notes {
    /// Those that count now.
    #[must_use]
    pub fn of(state: &StateDir, now_ms: i64) -> Self {
        Self { directory: state.path().join(PLACE), now_ms, state: state.clone() }
    }

    /// Who has read this file.
    #[must_use]
    pub fn of_file(&self, file: &Path) -> Vec<Note> {
        let file = named(file);
        self.all(|name| name.starts_with(&file))
    }

    /// Who has put plaintext of some file here.
    #[must_use]
    pub fn of_plaintext(&self, plaintext: &Path) -> Vec<Note> {
        let plaintext = named(plaintext);
        self.all(|name| name.split('.').nth(1) == Some(&*plaintext))
    }

    /// All of them, of whatever file.
    #[must_use]
    pub fn everything(&self) -> Vec<Note> {
        self.all(|_| true)
    }

    /// This session's plaintext there was encrypted to this version of the file; so was, where that is known, the place from
    /// which it came. What it has only looked at is done with.
    pub fn made(&self, session: SessionId, file: &Path, plaintext: Option<&Path>, version: &Digest) {
        let by_place = plaintext.and_then(|plaintext| {
            let mut there = self.of_plaintext(plaintext).into_iter();
            there.find(|note| note.session == session && note.is_of(file))?.origin
        });
        leave(&self.state, session, file, plaintext, version, self.now_ms, How::Made);
        self.forget(session, file);
        let Some(origin) = by_place else { return };
        let name = name_of(&named(file), &origin, session);
        put(&self.state, &name, &format!("{version} {} {}\n", self.now_ms, How::Made.letter()));
        if let Some(plaintext) = plaintext {
            let name = name_of(&named(file), &named(plaintext), session);
            put(&self.state, &name, &format!("{version} {} {} {origin}\n", self.now_ms, How::Made.letter()));
        }
    }

    fn forget(&self, session: SessionId, file: &Path) {
        let _as_owner = self.state.as_owner();
        let looks = |note: &Note| note.session == session && note.went_nowhere() && note.how != How::Made;
        for note in self.of_file(file).into_iter().filter(looks) {
            let _swept_later = fs::remove_file(self.directory.join(&note.name));
        }
    }

    /// Its plaintext, which stays where it is, has gone on to another place as well, encrypted or not.
    pub fn carry(&self, note: &Note, to: &Path) {
        let mut parts = note.name.split('.');
        let (Some(file), Some(plaintext)) = (parts.next(), parts.next()) else { return };
        let to = named(to);
        if plaintext != to {
            let name = name_of(file, &to, note.session);
            let text = format!("{} {} {} {plaintext}\n", note.version, note.at, note.how.letter());
            put(&self.state, &name, &text);
        }
    }

    fn all(&self, wanted: impl Fn(&str) -> bool) -> Vec<Note> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| wanted(name)).filter_map(|name| self.read(name)).collect()
    }

    fn read(&self, name: String) -> Option<Note> {
        let session = uuid::Uuid::parse_str(name.rsplit('.').next()?).ok().map(SessionId)?;
        let text = fs::read_to_string(self.directory.join(&name)).ok()?;
        let mut words = text.lines().next()?.split(' ');
        let (version, at) = (words.next()?, words.next()?.parse().ok()?);
        let how = match words.next() {
            Some("x") => How::Run,
            Some("m") => How::Made,
            _ => How::Read,
        };
        let origin = words.next().map(str::to_owned);
        (version.len() == 64).then(|| Note {
            session,
            version: Digest::from(version.to_owned()),
            at,
            how,
            origin,
            name,
        })
    }

    /// Takes away those that say nothing any more.
    pub fn sweep(&self) {
        let _as_owner = self.state.as_owner();
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let old = |modified: std::time::SystemTime| modified.elapsed().is_ok_and(|age| age > LASTS);
            if entry.metadata().and_then(|found| found.modified()).is_ok_and(old) {
                let _another_was_first = fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests;
