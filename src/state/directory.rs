//! The state directory itself: found, checked, and made when it is missing.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sha2::Digest as _;

use crate::clock::Clock;
use crate::store::StoreError;
use crate::terms::GrantId;

use super::place::{choose, directory_of, of_a_named_file, refuse};
use super::{Account, Acting, platform};

/// A checked state directory.
#[derive(Debug, Clone)]
pub struct StateDir {
    path: PathBuf,
    account: Account,
    identity: (u64, u64),
}

impl StateDir {
    /// Finds the directory (see the room's docs for where), makes it if need be, and checks it. `env` answers for the
    /// environment as it was at entry. Costs five system calls when `LOCKED_STATE_DIR` is set.
    ///
    /// # Errors
    /// [`StoreError::Place`] with the remedy: no home, not ours, writable by others, a link, a network file system,
    /// read-only, or not to be made.
    pub fn open(env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, StoreError> {
        let served = Account::served(env);
        let path = choose(env, || served.data_home(env), served)?;
        Self::open_at(path, served)
    }

    /// The same, but nothing is made: none when it is not there.
    ///
    /// # Errors
    /// As [`StateDir::open`].
    pub fn existing(env: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<Self>, StoreError> {
        let served = Account::served(env);
        let path = choose(env, || served.data_home(env), served)?;
        match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            _ => Self::open_at(path, served).map(Some),
        }
    }

    /// The same checks for a directory that was named otherwise (the parent of a configured store file).
    ///
    /// # Errors
    /// As [`StateDir::open`].
    pub(crate) fn beside(file: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, StoreError> {
        directory_of(file).and_then(|path| Self::open_at(path, Account::served(env))).map_err(of_a_named_file)
    }

    pub(super) fn open_at(path: PathBuf, served: Account) -> Result<Self, StoreError> {
        let seen = match platform::look(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make(&path, served)?;
                platform::look(&path)
            }
            other => other,
        };
        let seen = seen.map_err(|error| refuse(&path, not_opened(&path, &error)))?;
        let owner = Account::owner(&seen.metadata);
        if let Some(why) = objection(&seen, owner, served) {
            return Err(refuse(&path, why));
        }
        let identity = platform::identity_at(&path, &seen.metadata);
        let identity = identity.map_err(|error| refuse(&path, not_opened(&path, &error)))?;
        Ok(Self { identity, account: owner, path })
    }

    /// Where it is. Absolute.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The live file of this grant; its directory is made when a live file is.
    #[must_use]
    pub fn live(&self, grant: GrantId) -> PathBuf {
        self.path.join("live").join(grant.to_string())
    }

    /// The directory of proven copies and pre-images, made (0700) if need be.
    ///
    /// # Errors
    /// [`StoreError::Place`] when it cannot be made.
    pub fn copies(&self) -> Result<PathBuf, StoreError> {
        self.below("copies")
    }

    /// The directory of runs that the store has not heard of yet, made (0700) if need be.
    ///
    /// # Errors
    /// [`StoreError::Place`] when it cannot be made.
    pub fn spool(&self) -> Result<PathBuf, StoreError> {
        self.below("spool")
    }

    /// The directory of what people have vouched for, made (0700) if need be.
    ///
    /// # Errors
    /// [`StoreError::Place`] when it cannot be made.
    pub fn trusted(&self) -> Result<PathBuf, StoreError> {
        self.below("trusted")
    }

    /// Names this boot of this machine and this very directory: only contenders with the same text look at the same
    /// live files under the same kernel.
    #[must_use]
    pub fn host_id(&self, clock: &dyn Clock) -> String {
        let text = format!("{} {} {}", clock.boot_id(), self.identity.0, self.identity.1);
        let hash = sha2::Sha256::digest(text.as_bytes());
        hash.iter().take(16).fold(String::with_capacity(32), |text, byte| format!("{text}{byte:02x}"))
    }

    /// Until the guard falls, files made by this thread belong to the directory's owner. Everything that writes below
    /// the directory does it under this guard.
    pub(crate) fn as_owner(&self) -> Acting {
        self.account.act()
    }

    /// Whose directory it is.
    pub(crate) fn account(&self) -> Account {
        self.account
    }

    /// A directory in it, made (0700) if need be.
    pub(crate) fn below(&self, name: &str) -> Result<PathBuf, StoreError> {
        let path = self.path.join(name);
        let _as_owner = self.as_owner();
        platform::make_directories(&path).map_err(|error| refuse(&path, format!("it cannot be made: {error}")))?;
        let seen = platform::look(&path).map_err(|error| refuse(&path, not_opened(&path, &error)))?;
        match objection(&seen, Account::owner(&seen.metadata), self.account) {
            Some(why) => Err(refuse(&path, why)),
            None => Ok(path),
        }
    }
}

/// Makes the directory as the account that we serve, so that it can use it without us.
fn make(path: &Path, served: Account) -> Result<(), StoreError> {
    let _as_served = served.act();
    platform::make_directories(path).map_err(|error| refuse(path, format!("it cannot be made: {error}")))
}

fn not_opened(path: &Path, error: &std::io::Error) -> String {
    // ENOTDIR is what O_NOFOLLOW with O_DIRECTORY says of a link.
    if path.is_symlink() {
        return "it is a link; name the directory itself".to_owned();
    }
    format!("it cannot be opened: {error}")
}

/// Why this directory must not be used. Plain root may use another's directory (`LOCKED_STATE_DIR` in a system job), since
/// it then acts there as that owner; under sudo only the invoking user's or root's will do.
fn objection(seen: &platform::Seen, owner: Account, served: Account) -> Option<String> {
    if !seen.metadata.is_dir() {
        return Some("it is not a directory".to_owned());
    }
    if !(owner.is_root() || owner.same_user(served) || served.is_root()) {
        return Some(format!("it belongs to {owner}, and we work for {served}"));
    }
    if seen.writable_by_others {
        return Some(format!("its group or others may write in it; {}", platform::CLOSE));
    }
    if let Some(network) = seen.network {
        return Some(format!("it lies on {network}, where locks do not hold"));
    }
    seen.read_only.then(|| "its file system is mounted read-only".to_owned())
}
