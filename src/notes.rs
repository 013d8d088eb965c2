//! `notes`: which version of a file a session has read. A `decrypt` that passes through leaves one in the state directory, so
//! that the plaintext that is encrypted later has a known base. Best effort in both directions: a note that is missing,
//! old or damaged is none.
//!
//! One small file per session, file and place of the plaintext, 0600, in `notes` below the state directory: its name is
//! `FILE.PLAINTEXT.SESSION`, the first two as digests of their paths (`-` where the plaintext went nowhere that is known), its
//! content the digest of the version and the moment. No path, no content and no secret is in it.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::state::StateDir;
use crate::terms::{Digest, SessionId};

/// After that long a note says nothing any more: 24 hours.
const LASTS: Duration = Duration::from_secs(24 * 60 * 60);

/// Where they lie.
const PLACE: &str = "notes";

/// What a session has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Which session.
    pub session: SessionId,
    /// The version of the file.
    pub version: Digest,
    /// When, wall clock, ms since 1970.
    pub at: i64,
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
) {
    let _as_owner = state.as_owner();
    let plaintext = plaintext.map_or_else(|| "-".to_owned(), named);
    let name = format!("{}.{plaintext}.{}", named(file), session.whole().replace('-', ""));
    let path = state.path().join(PLACE).join(name);
    let text = format!("{version} {now_ms}\n");
    let _best_effort = write(&path, &text).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            state.below(PLACE).map_err(|_| error)?;
            write(&path, &text)
        }
        _ => Err(error),
    });
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    // All notes are of one length. Who empties a file first has the file system write it out when it is closed, and waits.
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)?.write_all(text.as_bytes())
}

/// A path in the name of a note.
fn named(path: &Path) -> String {
    Digest::of(path.as_os_str().as_encoded_bytes()).as_str()[..32].to_owned()
}

impl Note {
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

    /// Takes a note away.
    pub fn forget(&self, note: &Note) {
        let _as_owner = self.state.as_owner();
        let _another_was_first = fs::remove_file(self.directory.join(&note.name));
    }

    /// Its plaintext has gone on to another place, encrypted or not.
    pub fn carry(&self, note: &Note, to: &Path) {
        let _as_owner = self.state.as_owner();
        let mut parts: Vec<&str> = note.name.split('.').collect();
        let to = named(to);
        if let Some(plaintext) = parts.get_mut(1) {
            *plaintext = &to;
            let _best_effort = fs::rename(self.directory.join(&note.name), self.directory.join(parts.join(".")));
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
        let (version, at) = text.lines().next()?.split_once(' ')?;
        let at: i64 = at.parse().ok()?;
        let fresh = self.now_ms.saturating_sub(at) < i64::try_from(LASTS.as_millis()).unwrap_or(i64::MAX);
        (fresh && version.len() == 64).then(|| Note { session, version: Digest::from(version.to_owned()), at, name })
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
    fn what_was_left_is_found_by_file_and_by_plaintext_and_only_while_it_is_fresh() {
        let place = tempfile::tempdir().expect("place");
        let env = |name: &str| (name == "LOCKED_STATE_DIR").then(|| place.path().join("state").into_os_string());
        let state = StateDir::open(&env).expect("state");
        let session = |number: u128| SessionId(uuid::Uuid::from_u128(number));
        let digest = |text: &str| Digest::of(text.as_bytes());
        let [file, other, plain] = ["/r/a.sops", "/r/b.sops", "/tmp/a"].map(Path::new);
        leave(&state, session(1), file, Some(plain), &digest("1"), 1_000);
        leave(&state, session(1), file, Some(plain), &digest("2"), 2_000);
        leave(&state, session(2), file, None, &digest("1"), 3_000);
        leave(&state, session(2), other, None, &digest("3"), 3_000);
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
        now.carry(note, Path::new("/tmp/b"));
        assert_eq!(seen(now.of_plaintext(plain)), []);
        assert_eq!(seen(now.of_plaintext(Path::new("/tmp/b"))), [(session(1), digest("2"))]);
        now.forget(&now.of_plaintext(Path::new("/tmp/b"))[0]);
        assert_eq!(seen(now.of_file(file)), [(session(2), digest("1"))]);
        let day = i64::try_from(LASTS.as_millis()).expect("small");
        assert_eq!(seen(Notes::of(&state, 3_000 + day).of_file(file)), []);
        now.sweep();
        assert_eq!(seen(now.of_file(other)).len(), 1, "fresh files stay");
    }
}
