//! The verbs of `locked store`.
#![forbid(unsafe_code)]

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::store::Schema;
use crate::terms::Scope;

/// `locked store`.
#[derive(Debug, Args)]
pub struct StoreVerb {
    /// What to do with it
    #[command(subcommand)]
    pub verb: StoreVerbs,
}

/// What can be done with a store.
#[derive(Debug, Subcommand)]
pub enum StoreVerbs {
    /// Set the store up, or bring it to this version; does nothing where all is there
    #[command(after_help = "Example:\n  locked store init")]
    Init(Plain),
    /// Exit 0 when the store is as it should be and this role may use it, 78 with the reasons when not
    #[command(after_help = "Example:\n  locked store check")]
    Check(Plain),
    /// Print the SQL that makes the PostgreSQL store, for who applies it by hand; asks no server
    #[command(
        after_help = "Example:\n  locked store print-sql > locked.sql\n  locked store print-sql --compat --scope github.com/acme/infra > compat.sql"
    )]
    PrintSql(PrintSqlVerb),
    /// Take old history out; never a live lease, a token's counter or the end of a file's chain of receipts
    #[command(after_help = "Example:\n  locked store prune --older-than 90d --dry-run")]
    Prune(PruneVerb),
    /// Make all further tokens greater than any that was given out, after a restored backup or a fail-over
    #[command(after_help = "Example:\n  locked store epoch")]
    Epoch(EpochVerb),
    /// Copy history, receipts and counters to another store; this one then grants nothing any more
    #[command(after_help = "Example:\n  locked store move --to postgres://locked@db.example.org/locked")]
    Move(MoveVerb),
    /// Keep connections to the server warm, for a command that says so by standard input
    #[cfg(unix)]
    #[command(hide = true)]
    Relay,
}

/// Nothing but the form of the answer.
#[derive(Debug, Args)]
pub struct Plain {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked store print-sql`.
#[derive(Debug, Args)]
pub struct PrintSqlVerb {
    /// For this schema, whatever the settings say
    #[arg(long, value_name = "NAME", value_parser = Schema::named)]
    pub schema: Option<Schema>,
    /// Instead: the tables of before (p24_env_locks, dev_r_rotation_log) as views that take part, for a change-over
    #[arg(long)]
    pub compat: bool,
    /// The repository that sops:, rotation: and zone: mean there [default: the one around; needed outside of one]
    #[arg(long, value_name = "SCOPE", requires = "compat", value_parser = scope)]
    pub scope: Option<Scope>,
    /// The engine that container: means there [default: this machine's]
    #[arg(long, value_name = "SCOPE", requires = "compat", value_parser = scope)]
    pub containers: Option<Scope>,
    /// The schema that the tables were in
    #[arg(long = "in", value_name = "SCHEMA", requires = "compat", default_value = "public", value_parser = plain)]
    pub place: String,
}

/// A scope as views show it.
fn scope(text: &str) -> Result<Scope, &'static str> {
    match text.is_empty() || text.len() > 1024 || text.chars().any(|it| it.is_control() || it == '@') {
        true => Err("a scope is one line, as `locked status --json` shows it"),
        false => Ok(Scope(text.to_owned())),
    }
}

/// The name of a schema that needs no quotes.
fn plain(text: &str) -> Result<String, &'static str> {
    let fits = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    match text.is_empty()
        || text.len() > 60
        || !text.chars().all(fits)
        || text.starts_with(|it: char| it.is_ascii_digit())
    {
        true => Err("lower-case letters, digits and _"),
        false => Ok(text.to_owned()),
    }
}

/// `locked store prune`.
#[derive(Debug, Args)]
pub struct PruneVerb {
    /// Only what ended longer ago (at least 1h)
    #[arg(long, value_name = "D", default_value = "180d", value_parser = crate::cli::store::days)]
    pub older_than: Duration,
    /// Never the last so many of each resource
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub keep: u32,
    /// Only say how many
    #[arg(long)]
    pub dry_run: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked store epoch`.
#[derive(Debug, Args)]
pub struct EpochVerb {
    /// A token that was seen somewhere and that this store may not know
    #[arg(long, value_name = "TOKEN", value_parser = clap::value_parser!(i64).range(0..=9_000_000_000_000_000))]
    pub above: Option<i64>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked store move`.
#[derive(Debug, Args)]
pub struct MoveVerb {
    /// The other store: postgres://…, sqlite:FILE, embedded, or settings: the one that the files of settings name, whatever
    /// LOCKED_STORE says. A password is better left to those, to PGPASSWORD or to a password file
    #[arg(long, value_name = "URL", required_unless_present = "undo", conflicts_with = "undo")]
    pub to: Option<String>,
    /// The way to the other store, if it leads through another machine: ssh://[USER@]HOST[:PORT]
    #[arg(long, value_name = "SSH", conflicts_with = "undo")]
    pub via: Option<String>,
    /// Let this store grant again after a move that cannot be finished. Only when nobody uses the other one
    #[arg(long)]
    pub undo: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
