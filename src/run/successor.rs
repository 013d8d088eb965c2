//! Who looks after an open edit when its command has ended and we are gone: a keeper that was forked before the command, or,
//! where no process is a copy of another, one that was started for it.
#![forbid(unsafe_code)]

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::{Successor, instead};
#[cfg(windows)]
pub(super) use windows::{Successor, instead};
