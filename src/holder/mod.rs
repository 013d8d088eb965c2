//! `holder`: who we are, and who is provably gone.
//!
//! [`identify`] names the session that this invocation belongs to, the same from every tool call of one agent and
//! never the same for two of them: where it cannot tell, it rather gives two identities, which refuse each other, than
//! one, which lets both in. [`processes_of`] looks for what a dead holder left running. Nothing here knows the store.
// `deny`, not `forbid`: the platform files below read other processes.
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
mod above;
mod anchor;
mod label;
#[cfg(target_os = "linux")]
mod leftover;
mod process;
#[cfg(target_os = "linux")]
mod procfs;
mod programs;
mod role;
mod script;
mod search;
mod session;
mod sharing;
mod shell;
#[cfg(target_os = "linux")]
mod stat;
mod variable;
mod why;
#[cfg(windows)]
mod windows;
mod words;

#[cfg(target_os = "linux")]
pub use above::stands_above;
pub use label::is_nameless;
#[cfg(target_os = "linux")]
pub use leftover::{end_processes_of, processes_of};
pub use process::{Process, Processes};
#[cfg(target_os = "linux")]
pub use procfs::ProcFs;
#[cfg(target_os = "linux")]
use procfs::carriers;
pub use search::Search;
pub use session::{NoSession, Session, Source, Surroundings, anchor, identify, identity};
pub use sharing::{Sharer, sharers, shell_above};
pub use variable::Variable;
#[cfg(windows)]
use windows::carriers;
#[cfg(windows)]
pub use windows::{Snapshot as ProcFs, end_processes_of, processes_of, stands_above};
pub use words::words_above;
