//! `rules`: what a command line would change. Pure: argv, environment and a look at descriptor 1 go in, a
//! [`Classification`] comes out; no file is read and nothing runs.
#![forbid(unsafe_code)]

mod change;

pub use change::{Asked, Change, Classification, Command, Stdout, Via, Write};
