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
    Held, OsStrExt, OsStringExt, about, alone_in, canonical, executable, machine_ids, mode, not_followed, owners_alone,
    set_mode, set_mode_at, settled, shell, signal, standard_error, tied,
};
#[cfg(windows)]
pub(crate) use windows::{Handle, Listed, about_open, ends_within, plain, processes, wide};

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
