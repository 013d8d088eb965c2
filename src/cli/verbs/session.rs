//! The verbs of `locked session`.
#![forbid(unsafe_code)]

use std::time::Duration;

use clap::{Args, Subcommand};
use uuid::Uuid;

use crate::terms::{NotSaid, parse_duration};

use crate::cli::options::reason;

/// `locked session`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SessionVerb {
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// What to do; without it: show which session this is, where that comes from, and why
    #[command(subcommand)]
    pub verb: Option<SessionVerbs>,
}

/// What a session can do.
#[derive(Debug, Subcommand)]
pub enum SessionVerbs {
    /// Show who works on what, and what each holds
    #[command(after_help = "Example:\n  locked session list")]
    List(ListVerb),
    /// Say what this session is about to do, and hear who else is active
    #[command(
        after_help = "Example:\n  locked session begin --name INFRA --domain 'Traefik, networks' --task 'renew certificates'"
    )]
    Begin(BeginVerb),
    /// Release all that this session holds, in reverse byte order, and take it off the board. While a command of the
    /// session runs under a lease it is waited for
    #[command(after_help = "Example:\n  locked session end --wait 5m")]
    End(EndVerb),
}

/// `locked session list`.
#[derive(Debug, Args)]
pub struct ListVerb {
    /// Also those that have ended, or were not heard of for a day
    #[arg(long)]
    pub all: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked session begin`.
#[derive(Debug, Args)]
pub struct BeginVerb {
    /// What people call it
    #[arg(long, value_name = "NAME", required = true, value_parser = reason)]
    pub name: String,
    /// What it looks after
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = text, hide_default_value = true)]
    pub domain: String,
    /// What it is about to do
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = text, hide_default_value = true)]
    pub task: String,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked session end`.
#[derive(Debug, Default, Args)]
pub struct EndVerb {
    /// How long to wait for a running command of this session [default: 30s]
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub wait: Option<Duration>,
    /// Do not wait at all
    #[arg(short, long, conflicts_with = "wait")]
    pub no_wait: bool,
    /// Rotations are completed although other SOPS files of the repository have the same key and were not written
    #[arg(long)]
    pub consumers_ok: bool,
    /// The session in whose name this is done; also before the verb
    #[arg(long = "session", id = "of_session", value_name = "UUID")]
    pub session: Option<Uuid>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// A text on one line, or none.
fn text(given: &str) -> Result<String, NotSaid> {
    if given.trim().is_empty() { Ok(String::new()) } else { reason(given) }
}
