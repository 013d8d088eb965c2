//! `config`: what the files and the environment set. Read only when something is to be held, so that no mistake in a file
//! stands in the way of a read.
//!
//! Later wins: built in, `/etc/locked/config.toml` and what lies in `/etc/locked/config.d`, the user's
//! `locked/config.toml`, `.locked.toml` of the repository, `LOCKED_*`, options. Every value knows where it comes from.
//!
//! The file of a repository comes with whatever one checks out. Until somebody has vouched for its content
//! (`locked config trust`, `[trust] repositories`, `LOCKED_TRUST`) it may only add: more to hold, longer waits, stricter
//! policies, and the name of the variable with the store's address. A foreign store or scope is refused, since the lock
//! would be another; everything else does not count, and that is said.
#![forbid(unsafe_code)]

mod about;
mod counts;
mod document;
mod error;
mod fault;
mod file;
mod key;
mod layers;
mod name;
mod nearest;
mod pattern;
mod places;
mod settings;
mod store;
mod value;
mod written;

pub use counts::{BuiltIn, Ignored, Standing};
pub use document::Document;
pub use error::ConfigError;
pub use file::{File, Store};
pub use key::Key;
pub use layers::{Ground, Layers, NoGround, Shelf};
pub(crate) use nearest::nearest;
pub use places::{FILE, Layer, Places};
pub use settings::{Located, Settings};
pub use store::{Address, OnUnreachable, StoreSetting, store};
pub use value::{Source, Sourced, UnknownBase, Value};
