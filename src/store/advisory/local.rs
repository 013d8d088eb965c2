//! Locks of this machine alone: one file for each key, held by the kernel for as long as the steward lives.
#![forbid(unsafe_code)]

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use crate::platform;
use crate::state::StateDir;

use super::words::{Fault, HeldBy};

/// Locks all of these or none. Not locked: who has one.
pub(super) fn take(
    state: &StateDir,
    directory: &Path,
    keys: &[i64],
    name: &str,
) -> Result<Result<Vec<File>, HeldBy>, Fault> {
    let mut files: Vec<File> = Vec::new();
    let unusable = |error: &std::io::Error| Fault::Failed(format!("a lock of this machine cannot be made: {error}"));
    for (nth, key) in keys.iter().enumerate() {
        if keys[..nth].contains(key) {
            continue;
        }
        let mut file = {
            let _as_owner = state.as_owner();
            let path = directory.join(format!("lock-{:016x}", key.cast_unsigned()));
            let mut options = std::fs::OpenOptions::new();
            platform::owners_alone(platform::not_followed(&mut options)).read(true).write(true);
            options.create(true).truncate(false).open(path).map_err(|error| unusable(&error))?
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut name = String::new();
                // Its holder may be just writing it.
                let _unnamed_then = (&file).take(200).read_to_string(&mut name);
                let name = if name.is_empty() { "somebody on this machine".to_owned() } else { name };
                return Ok(Err(HeldBy { resource: nth, name, address: String::new(), since: 0 }));
            }
            Err(TryLockError::Error(error)) => return Err(unusable(&error)),
        }
        // The name is for people; the lock is what counts.
        let _unnamed_then = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(name.as_bytes()));
        files.push(file);
    }
    Ok(Ok(files))
}
