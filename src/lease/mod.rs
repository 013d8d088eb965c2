//! `lease`: the conduct of one who asks. Ask, prove the dead gone, wait in line, give up politely. It runs no program
//! and knows no store by name.
#![forbid(unsafe_code)]

mod acquire;
mod pause;
mod steal;

pub use acquire::{Asker, Busy, Notice, Obtained, Patience, Witness, acquire};
pub use steal::{Stolen, steal};
