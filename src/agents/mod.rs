//! `agents`: coding agents, which change files with tools of their own that no program stands behind. It reads what their
//! hooks are told before a tool is used, puts our answer into the form that they expect, and puts the hooks into their
//! settings and a block of rules into their instructions, and takes both away again.
//!
//! It decides nothing about leases. It promises of other people's files: what is not ours stays byte for byte, comments
//! included; what cannot be read is refused and left as it is; installing twice is installing once.
//!
//! The forms are those of the agents' public documentation:
//! Claude Code, "Hooks reference" and "Claude Code settings" (code.claude.com/docs/en/hooks, …/settings), and Codex,
//! "Hooks" (developers.openai.com/codex/hooks) with the schemas in its repository (openai/codex, `codex-rs/hooks`), which
//! takes over Claude Code's; all as of November 2026.
#![forbid(unsafe_code)]

mod agent;
mod answer;
mod before;
mod block;
mod document;
mod edit;
mod error;
mod file;
mod input;
mod install;
mod patch;
mod record;
mod settings;

pub use agent::{Agent, Level, Place};
pub use answer::{Answer, Judgement};
pub use block::BLOCK;
pub use error::AgentsError;
pub use input::{Brings, Call, Event, NoCall, Touch};
pub use install::{Standing, install, remove, standing};
pub use patch::files as files_of_patch;
pub use record::{
    Exported, Unread, Written, exported, forget_export, forget_unread, note_export, note_unread, note_written, unread,
    written,
};
