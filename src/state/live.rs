//! Live files: proof that a holder is gone, by kernel lock and never by a missing pid.
#![forbid(unsafe_code)]

use std::fs::File;
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
    /// clock: no process older than that can descend from its maker), and takes its lock.
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
        write!(file, "{}", now.0.as_millis()).map_err(|error| problem(&path, &error))?;
        // Order: locked before the grant is asked for, so that nobody can know of an unlocked live file.
        match platform::try_lock(&file) {
            Ok(true) => {}
            Ok(false) => return Err(refuse(&path, "another process locked a file that we just made")),
            Err(error) => return Err(problem(&path, &error)),
        }
        let metadata = file.metadata().map_err(|error| problem(&path, &error))?;
        let (device, inode) = platform::identity(&metadata);
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
    let Ok(metadata) = file.metadata() else { return Gone::Unknown };
    if platform::identity(&metadata) != (live.device, live.inode) {
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
    Some(Moment(Duration::from_millis(text.parse().ok()?)))
}

/// Removes the live file of a grant that the store knows to be gone.
pub fn discard(state: &StateDir, grant: GrantId) {
    let _as_owner = state.as_owner();
    // See `LiveFile::remove`: what stays is litter.
    let _litter = std::fs::remove_file(state.live(grant));
}

/// A live file that is older than any lease may last proves nothing that the store does not know by itself.
const LITTER_AFTER: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// Removes the live files of holders that are gone for long: whoever was killed could not do it. One that somebody still
/// holds stays, however old.
pub fn sweep(state: &StateDir) {
    let _as_owner = state.as_owner();
    let Ok(entries) = std::fs::read_dir(state.path().join("live")) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let Ok(file) = platform::open_existing(&path) else { continue };
        let age = file.metadata().and_then(|found| found.modified()).map(|made| made.elapsed().unwrap_or_default());
        if age.is_ok_and(|age| age > LITTER_AFTER) && matches!(platform::try_lock(&file), Ok(true)) {
            let _gone_already = std::fs::remove_file(&path);
        }
    }
}
