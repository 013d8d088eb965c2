//! Coding agents: what their hooks are told and what we answer, their settings, and many of them at once.

mod bench;
mod broken;
mod calls;
mod ci;
mod crowd;
mod edits;
mod lines;
mod settings;
mod start;
