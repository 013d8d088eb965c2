//! `hooks`: git's hooks, put there and taken away. It writes into the repository's own directory alone: hooks that lie in
//! the working tree (husky) or are shared by all repositories (a global `core.hooksPath`) belong to somebody else, and
//! what they need is printed, or named in the repository's own configuration where git runs hooks from there (2.54).
//!
//! A hook that stands there already is moved beside ours (`NAME.locked-prev`) and run first; taking ours away moves it
//! back, byte for byte. The text that is put there is POSIX sh and lies in `shims/hooks/`.
#![forbid(unsafe_code)]

mod config;
mod error;
mod install;
mod legacy;
mod place;
mod probe;
mod standing;
mod text;

pub use error::HooksError;
pub use install::{install, uninstall};
pub use place::{Place, find};
pub use standing::{Standing, State, standing};
pub use text::{HUSKY, LEFTHOOK, OF_SOMEBODY, PRE_COMMIT};

/// The hooks of git's that we are.
pub const NAMES: [&str; 3] = ["pre-commit", "pre-merge-commit", "pre-push"];
