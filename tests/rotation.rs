//! Rotations, whole: two who want to make a new value of one secret, the issue that it is for, everybody who has the
//! secret, and what is left to a person. `gh` is a stand-in that answers as the real one is documented to: it needs GitHub.

mod consumers;
mod declared;
mod duties;
mod frozen;
mod issue;
pub(crate) mod stage;
mod stopped;
mod taken_over;
mod verification;
mod words;
