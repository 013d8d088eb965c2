//! What puts `locked` on a machine: installer, start files of shells, completions, release archives, packages, `init`.
#![forbid(unsafe_code)]

mod bare;
mod completions;
mod init;
mod package;
mod place;
mod refused;
mod release;
mod script;
mod start_files;
mod told;
mod two;
