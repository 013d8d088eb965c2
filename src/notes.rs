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

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::state::StateDir;
use crate::terms::{Digest, SessionId};

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

fn name_of(file: &str, plaintext: &str, session: SessionId) -> String {
    format!("{file}.{plaintext}.{}", session.whole().replace('-', ""))
}

fn put(state: &StateDir, name: &str, text: &str) {
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
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)?.write_all(text.as_bytes())
}

/// A version in the name of a note.
fn short(version: &Digest) -> &str {
    &version.as_str()[..16]
}

/// A path in the name of a note.
fn named(path: &Path) -> String {
    Digest::of(path.as_os_str().as_encoded_bytes()).as_str()[..32].to_owned()
}

impl Note {
    /// Whether it is older than this, at that moment (ms since 1970).
    #[must_use]
    pub fn is_older_than(&self, span: Duration, now_ms: i64) -> bool {
        now_ms.saturating_sub(self.at) >= i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
    }

    /// Whether nobody knows where its plaintext went.
    fn went_nowhere(&self) -> bool {
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
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_found_by_file_and_by_plaintext_and_goes_on_to_what_was_made_of_it() {
        let place = tempfile::tempdir().expect("place");
        let env = |name: &str| (name == "LOCKED_STATE_DIR").then(|| place.path().join("state").into_os_string());
        let state = StateDir::open(&env).expect("state");
        let session = |number: u128| SessionId(uuid::Uuid::from_u128(number));
        let digest = |text: &str| Digest::of(text.as_bytes());
        let [file, other, plain] = ["/r/a.sops", "/r/b.sops", "/tmp/a"].map(Path::new);
        leave(&state, session(1), file, Some(plain), &digest("1"), 1_000, How::Read);
        leave(&state, session(1), file, Some(plain), &digest("2"), 2_000, How::Read);
        leave(&state, session(2), file, None, &digest("1"), 3_000, How::Read);
        leave(&state, session(2), other, None, &digest("3"), 3_000, How::Read);
        fs::write(state.path().join(PLACE).join("nonsense"), "x").expect("written");
        let seen = |notes: Vec<Note>| {
            let mut seen: Vec<_> = notes.into_iter().map(|note| (note.session, note.version)).collect();
            seen.sort();
            seen
        };
        let now = Notes::of(&state, 10_000);
        assert_eq!(seen(now.of_file(file)), [(session(1), digest("2")), (session(2), digest("1"))]);
        assert_eq!(seen(now.of_plaintext(plain)), [(session(1), digest("2"))], "the newest, once");
        assert_eq!(seen(now.of_plaintext(file)), []);
        let note = &now.of_plaintext(plain)[0];
        assert!(note.is_of(file) && !note.is_of(other));
        let apart = Path::new("/tmp/b");
        now.carry(note, apart);
        assert_eq!(seen(now.of_plaintext(plain)), [(session(1), digest("2"))], "it stays where it is, too");
        assert_eq!(seen(now.of_plaintext(apart)), [(session(1), digest("2"))]);
        // What was encrypted aside has been put over the file: so is what it came from.
        now.made(session(1), file, Some(apart), &digest("4"));
        assert_eq!(seen(now.of_plaintext(plain)), [(session(1), digest("4"))]);
        assert_eq!(seen(now.of_plaintext(apart)), [(session(1), digest("4"))]);
        assert!(now.of_plaintext(plain).iter().all(|note| note.how == How::Made));
        // A reading again is one; a program that was run with it takes nothing from what was read.
        leave(&state, session(1), file, Some(plain), &digest("5"), 11_000, How::Read);
        leave(&state, session(2), file, None, &digest("6"), 11_000, How::Run);
        let mut of_two = now.of_file(file);
        of_two.retain(|note| note.session == session(2));
        assert_eq!(seen(of_two), {
            let mut both = [(session(2), digest("1")), (session(2), digest("6"))];
            both.sort();
            both
        });
        // Nor does a look; with the encrypting both are done.
        leave(&state, session(2), file, None, &digest("7"), 12_000, How::Read);
        let of_two = |notes: &Notes| {
            let mut of_two = seen(notes.of_file(file));
            of_two.retain(|(whose, _)| *whose == session(2));
            of_two
        };
        assert_eq!(of_two(&now).len(), 3);
        now.made(session(2), file, None, &digest("8"));
        assert_eq!(of_two(&now), [(session(2), digest("8"))]);
        // However old it is, it is a base.
        let later = Notes::of(&state, 11_000 + 20 * 24 * 60 * 60 * 1000);
        assert_eq!(seen(later.of_plaintext(plain)), [(session(1), digest("5"))]);
        now.sweep();
        assert_eq!(seen(now.of_file(other)).len(), 1, "fresh files stay");
    }
}
