//! `platform`: what more than one room needs and every system has in its own way. `unix.rs` and `windows.rs` answer the
//! same functions, so that who asks need not know where it runs; what only one room needs is in that room's own files.
// `deny`, not `forbid`: the platform files below need system calls.
#![deny(unsafe_code)]

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
mod wtf8;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::{
    Held, OsStrExt, OsStringExt, about, alone_in, canonical, executable, machine_ids, mode, not_followed,
    not_waited_for, owners_alone, set_mode, set_mode_at, settled, shell, signal, standard_error, tied,
};
#[cfg(windows)]
pub(crate) use windows::{
    Handle, Listed, about_open, ends_within, keep_standard_handles, plain, processes, search_paths, standard_output,
    wide,
};

/// Opens a file that a line or a setting names, for reading: only a regular one, and whatever stands there meanwhile, without
/// waiting for it (a pipe would hold a reader up, a terminal become ours).
pub(crate) fn regular(path: &std::path::Path) -> std::io::Result<std::fs::File> {
    // Asked before as well: opening is what some devices act upon.
    let is_file = |found: std::fs::Metadata| match found.is_file() {
        true => Ok(()),
        false => Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "no regular file")),
    };
    is_file(std::fs::metadata(path)?)?;
    let file = not_waited_for(std::fs::OpenOptions::new().read(true)).open(path)?;
    is_file(file.metadata()?)?;
    Ok(file)
}

/// All that stands in such a file.
pub(crate) fn regular_text(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut regular(path)?, &mut text)?;
    Ok(text)
}

/// What tells one file from another, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct About {
    /// The device, or the volume, that it lies on.
    pub(crate) device: u64,
    /// Its number there.
    pub(crate) inode: u64,
    /// How many names lead to it.
    pub(crate) links: u64,
}
