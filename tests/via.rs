//! The way to a server through a real sshd and the real ssh client.

mod ends;
pub(crate) mod gate;
mod settings;
mod way;
