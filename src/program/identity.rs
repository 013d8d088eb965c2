//! One file, whatever its name.
#![forbid(unsafe_code)]

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

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
        fs::metadata(path).map(|metadata| Self::from(&metadata))
    }

    /// The identity of the running program, also when its file has been replaced or deleted since.
    ///
    /// # Errors
    /// When the system does not say (no `/proc`).
    pub fn ourselves() -> io::Result<Self> {
        Self::of(Path::new("/proc/self/exe")).or_else(|_| Self::of(&std::env::current_exe()?))
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

impl From<&Metadata> for FileId {
    fn from(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}
