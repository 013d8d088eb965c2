//! `state`: the state directory, where the embedded store, live files and copies are.
//!
//! It promises: the directory is on a local, writable file system, belongs to the user for whom we work (or to root),
//! nobody else can write in it, and whatever is made in it belongs to its owner, under sudo too. It knows nothing of what
//! is kept inside.
// `deny`, not `forbid`: the platform file below needs system calls.
#![deny(unsafe_code)]

mod directory;
mod live;
mod machine;
mod modes;
mod place;
mod post;
mod prospect;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub use directory::StateDir;
pub use live::{Abandoned, Gone, LiveFile, abandoned, born, discard, in_sight, probe};
pub use machine::is_same_machine;
pub use modes::{Loose, Open, loose};
pub(crate) use platform::{Account, Acting, open_existing};
pub use post::{Post, is_deserted, keeper_at, relieve, sweep_posts, wake};

/// Until the guard falls, this thread touches files as the owner of this directory of ours. None when it is not there.
pub(crate) fn as_owner_of(directory: &std::path::Path) -> Option<Acting> {
    std::fs::symlink_metadata(directory).ok().map(|found| Account::owner(&found).act())
}
