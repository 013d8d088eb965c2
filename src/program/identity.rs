//! One file, whatever its name.
#![forbid(unsafe_code)]

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use crate::platform;

/// A file's identity: device and inode. The same over every symbolic and hard link; a copy has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The identity of the file that `path` leads to.
    ///
    /// # Errors
    /// When it leads nowhere, or may not be looked at.
    pub fn of(path: &Path) -> io::Result<Self> {
        fs::metadata(path).and_then(|metadata| Self::at(path, &metadata))
    }

    /// The identity of the file that `path` leads to, of which `metadata` was read just now.
    ///
    /// # Errors
    /// As [`FileId::of`].
    pub fn at(path: &Path, metadata: &Metadata) -> io::Result<Self> {
        platform::about(path, metadata).map(|about| Self { device: about.device, inode: about.inode })
    }

    /// The identity of the running program, also when its file has been replaced or deleted since.
    ///
    /// # Errors
    /// When the system does not say (no `/proc`).
    pub fn ourselves() -> io::Result<Self> {
        let linked =
            if cfg!(unix) { Self::of(Path::new("/proc/self/exe")) } else { Err(io::ErrorKind::NotFound.into()) };
        linked.or_else(|_| Self::of(&std::env::current_exe()?))
    }

    /// In one word: device, dot, inode.
    pub(super) fn text(&self) -> String {
        format!("{}.{}", self.device, self.inode)
    }

    /// What [`FileId::text`] wrote.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (device, inode) = text.split_once('.')?;
        Some(Self { device: device.parse().ok()?, inode: inode.parse().ok()? })
    }
}
