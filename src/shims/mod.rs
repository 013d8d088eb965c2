//! `shims`: links that stand in front of programs on PATH, so that whoever calls the program goes through `locked` without
//! knowing it.
//!
//! A shim is a link with the program's name that leads to `locked`, which looks at the name it was called by (the room
//! `invocation` has it) before anything else. This room makes the links, looks at them and takes them away; it decides
//! nothing about what runs. Links are made and replaced each in one step, so that no caller ever finds a name missing and
//! no two installations disturb each other; what is not ours is never touched.
//!
//! On Windows a copy of `locked` stands there instead, as a program of the tool's name.
#![forbid(unsafe_code)]

mod aside;
mod entry;
mod error;
mod folder;
#[cfg(unix)]
mod hands;
mod install;
mod launcher;
mod lines;
mod remove;
mod standing;
mod tool;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;
#[cfg(windows)]
use windows::hands;

pub use aside::{may_be_moved, moved_aside};
pub use entry::{Entry, Shim, all};
pub use error::{ShimError, system_line};
pub use folder::Folder;
pub use hands::{Loose, changed_by_others, not_for_all};
pub use install::{Done, Installed, install};
pub use launcher::{launcher, launcher_for_all};
pub use lines::install_line;
pub use platform::SYSTEM;
pub use remove::remove;
pub use standing::{Standing, is_on_path, standing};
pub use tool::Tool;

/// What is installed without a word: what changes shared secrets and containers.
pub const READY: [&str; 4] = ["sops", "docker", "docker-compose", "gh"];

/// What `--all` adds: what reaches other hosts.
pub const MORE: [&str; 4] = ["ssh", "scp", "sftp", "rsync"];
