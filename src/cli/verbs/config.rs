//! The verbs of `locked config`.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `locked config`.
#[derive(Debug, Args)]
pub struct ConfigVerb {
    /// What to do with it
    #[command(subcommand)]
    pub verb: ConfigVerbs,
}

/// What can be done with settings.
#[derive(Debug, Subcommand)]
pub enum ConfigVerbs {
    /// Show what counts here, and who says so: built in, a file with its line, a variable, an option
    #[command(after_help = "Example:\n  locked config show ttl")]
    Show(ShowVerb),
    /// Trust what the .locked.toml of a repository says now; when it changes, it is untrusted again
    #[command(after_help = "Example:\n  locked config trust")]
    Trust(TrustVerb),
}

/// `locked config show`.
#[derive(Debug, Args)]
pub struct ShowVerb {
    /// Only this key, or the keys of this table (gh, session…)
    pub key: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked config trust`.
#[derive(Debug, Args)]
pub struct TrustVerb {
    /// A directory in the repository [default: where you are]
    pub dir: Option<PathBuf>,
    /// List what is trusted, in all repositories
    #[arg(long, conflicts_with_all = ["dir", "remove"])]
    pub list: bool,
    /// Take the trust back, for every content that this repository's file ever had
    #[arg(long)]
    pub remove: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
