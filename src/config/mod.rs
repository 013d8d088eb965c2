//! `config`: what the files and the environment set. Read only when something is to be held, so that no mistake in a file
//! stands in the way of a read.
//!
//! Later wins: built in, `/etc/locked/config.toml`, the user's `locked/config.toml`, `.locked.toml` of the repository,
//! `LOCKED_*`, options. The file of a repository comes with whatever one checks out, so it may name the variable that has
//! the store's address (`url_env`), and nothing that leads elsewhere or runs a command: that is refused, never passed over.
#![forbid(unsafe_code)]

mod error;
mod file;
mod layers;
mod session;
mod store;

pub use error::ConfigError;
pub use layers::{Layer, Places};
pub use session::session_variables;
pub use store::{Address, OnUnreachable, StoreSetting, store};
