//! The way to a server through a real sshd and the real ssh client.

mod ends;
mod gate;
mod way;
