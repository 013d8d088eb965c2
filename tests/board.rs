//! The board: sessions, words, figures, timelines, and the names and tables of before; through the program as built.
#![forbid(unsafe_code)]

mod agents;
mod answers;
mod compat;
mod figures;
mod held_on;
mod helpers;
mod keeping;
mod kept;
mod odd;
mod pages;
mod powershell;
mod reused;
mod rotation_log;
mod services;
mod sessions;
mod told;
mod words;
