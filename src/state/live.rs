//! Live files: proof that a holder is gone, by kernel lock and never by a missing pid.
#![forbid(unsafe_code)]

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::clock::Moment;
use crate::store::{Live, StoreError};
use crate::terms::GrantId;

use super::place::refuse;
use super::{Account, StateDir, platform};

/// A live file with its kernel lock. A process that was forked after it was made shares the lock; when the last of them
/// is gone, and however it went, the lock is free. Dropping it leaves the file: only a settled grant removes it.
#[derive(Debug)]
pub struct LiveFile {
    path: PathBuf,
    file: File,
    live: Live,
    account: Account,
}

impl LiveFile {
    /// Makes `live/<grant>` (0600, descriptor 10 or above, closed at exec), notes in it when that was (ms on the boot
    /// clock: no process older than that can descend from its maker) and in which pid namespace, and takes its lock.
    ///
    /// # Errors
    /// [`StoreError::Place`] when it cannot be made or locked, or is there already.
    pub fn create(state: &StateDir, grant: GrantId, now: Moment) -> Result<Self, StoreError> {
        let path = state.live(grant);
        let _as_owner = state.as_owner();
        let file = match platform::create_new(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                state.below("live")?;
                platform::create_new(&path)
            }
            other => other,
        };
        let mut file = file.map_err(|error| problem(&path, &error))?;
        write!(file, "{} {}", now.0.as_millis(), platform::pid_namespace()).map_err(|error| problem(&path, &error))?;
        // Order: locked before the grant is asked for, so that nobody can know of an unlocked live file.
        match platform::try_lock(&file) {
            Ok(true) => {}
            Ok(false) => return Err(refuse(&path, "another process locked a file that we just made")),
            Err(error) => return Err(problem(&path, &error)),
        }
        let (device, inode) = platform::identity(&file).map_err(|error| problem(&path, &error))?;
        Ok(Self { path, file, live: Live { device, inode }, account: state.account() })
    }

    /// Its identity, for the store.
    #[must_use]
    pub fn live(&self) -> Live {
        self.live
    }

    /// The descriptor's owner, for keeping it open past a cleanup of descriptors.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Removes the file of a settled grant. A file that is gone already is no fault.
    pub fn remove(self) {
        let _as_owner = self.account.act();
        // A file that stays is litter, nothing worse: its grant has ended, and its lock is free.
        let _litter = std::fs::remove_file(&self.path);
    }
}

fn problem(path: &std::path::Path, error: &std::io::Error) -> StoreError {
    if matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded) {
        return StoreError::Full { path: path.to_owned() };
    }
    refuse(path, format!("the live file cannot be made: {error}"))
}

/// Is the holder of a live file gone?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// Wrapper and keeper are gone: we got the lock on that very file.
    Proven,
    /// At least one of them lives.
    Alive,
    /// Nothing can be said: the file is missing or another one, or cannot be read. The TTL decides.
    Unknown,
}

/// Looks whether wrapper and keeper of this grant are gone. Asks the kernel for the lock on the very file that the store
/// names; a missing file proves nothing. Call it only when the store's `host_id` is ours. The file stays, so that the proof
/// can be had again if the store does not learn of it; [`discard`] removes it once the store knows.
#[must_use]
pub fn probe(state: &StateDir, grant: GrantId, live: Live) -> Gone {
    let path = state.live(grant);
    let _as_owner = state.as_owner();
    let Ok(file) = platform::open_existing(&path) else { return Gone::Unknown };
    if !platform::identity(&file).is_ok_and(|identity| identity == (live.device, live.inode)) {
        return Gone::Unknown;
    }
    match platform::try_lock(&file) {
        Ok(true) => Gone::Proven,
        Ok(false) => Gone::Alive,
        Err(_) => Gone::Unknown,
    }
}

/// When the live file of this grant was made, on the boot clock; none when it cannot be read.
#[must_use]
pub fn born(state: &StateDir, grant: GrantId) -> Option<Moment> {
    let _as_owner = state.as_owner();
    let text = std::fs::read_to_string(state.live(grant)).ok()?;
    Some(Moment(Duration::from_millis(text.split(' ').next()?.parse().ok()?)))
}

/// Can we see every process that this grant's holder may have started? Not from within a pid namespace that is not the
/// holder's, unless ours is the one that has all others in it.
#[must_use]
pub fn in_sight(state: &StateDir, grant: GrantId) -> bool {
    let _as_owner = state.as_owner();
    let ours = platform::pid_namespace();
    let Ok(text) = std::fs::read_to_string(state.live(grant)) else { return false };
    ours == platform::OUTERMOST || (ours != 0 && text.split(' ').nth(1) == Some(ours.to_string().as_str()))
}

/// A live file that nobody holds and that has lain here for a while, with its lock in our hands.
#[derive(Debug)]
pub struct Abandoned {
    /// The grant that it was made for.
    pub grant: GrantId,
    path: PathBuf,
    account: Account,
    _locked: File,
}

impl Abandoned {
    /// Removes it. Only when the store knows nothing of its grant: else it is the proof that its holder is gone.
    pub fn remove(self) {
        let _as_owner = self.account.act();
        // See `LiveFile::remove`: what stays is litter.
        let _litter = std::fs::remove_file(&self.path);
    }
}

/// Up to `limit` abandoned live files that have not been touched for `age`: its maker takes a moment to lock a new one.
#[must_use]
pub fn abandoned(state: &StateDir, age: Duration, limit: usize) -> Vec<Abandoned> {
    let _as_owner = state.as_owner();
    let Ok(entries) = std::fs::read_dir(state.path().join("live")) else { return Vec::new() };
    let mut entries: Vec<std::fs::DirEntry> = entries.flatten().collect();
    if entries.len() > limit {
        // Not always the same ones: those may have to stay.
        let any = usize::try_from(RandomState::new().hash_one(entries.len()) >> 32).unwrap_or_default();
        let first = any % entries.len();
        entries.rotate_left(first);
    }
    entries.iter().take(limit).filter_map(|entry| abandoned_one(state, entry, age)).collect()
}

fn abandoned_one(state: &StateDir, entry: &std::fs::DirEntry, age: Duration) -> Option<Abandoned> {
    let grant = GrantId(entry.file_name().to_str()?.parse().ok()?);
    let file = platform::open_existing(&entry.path()).ok()?;
    let old = file.metadata().ok()?.modified().ok()?.elapsed().is_ok_and(|passed| passed >= age);
    let free = old && platform::try_lock(&file).is_ok_and(|free| free);
    free.then(|| Abandoned { grant, path: entry.path(), account: state.account(), _locked: file })
}

/// Removes the live file of a grant that the store knows to be gone.
pub fn discard(state: &StateDir, grant: GrantId) {
    let _as_owner = state.as_owner();
    // See `LiveFile::remove`: what stays is litter.
    let _litter = std::fs::remove_file(state.live(grant));
}
