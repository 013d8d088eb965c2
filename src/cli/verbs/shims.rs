//! The verbs of `locked shims`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `locked shims`.
#[derive(Debug, Args)]
pub struct ShimsVerb {
    /// What to do with them
    #[command(subcommand)]
    pub verb: ShimsVerbs,
}

/// What can be done with shims.
#[derive(Debug, Subcommand)]
pub enum ShimsVerbs {
    /// Stand in front of programs: sops, docker, docker-compose and gh, or those that are named
    #[command(after_help = "Example:\n  locked shims install sops")]
    Install(InstallVerb),
    /// Show the shims, where they are found on PATH, and the programs behind them
    #[command(after_help = "Example:\n  locked shims list --json")]
    List(ListVerb),
    /// Take shims away; what is not ours stays
    #[command(after_help = "Example:\n  locked shims remove gh")]
    Remove(RemoveVerb),
    /// Run a program exactly as its shim does
    #[command(after_help = "Example:\n  locked shims exec sops --version")]
    Exec(ExecVerb),
    /// Print the folder of the shims, for the PATH of CI, mise and direnv
    #[command(after_help = "Example:\n  locked shims path")]
    Path(Place),
}

/// Where the shims are.
#[derive(Debug, Args)]
pub struct Place {
    /// In this folder [default: LOCKED_SHIMS_DIR, else ~/.local/share/locked/shims]
    #[arg(long, value_name = "DIR", conflicts_with = "system")]
    pub dir: Option<PathBuf>,
    /// In the folder of the whole machine, /usr/local/lib/locked/shims
    #[arg(long)]
    pub system: bool,
}

/// `locked shims install`.
#[derive(Debug, Args)]
pub struct InstallVerb {
    /// Programs to stand in front of
    #[arg(value_name = "TOOL")]
    pub tools: Vec<OsString>,
    /// Also ssh, scp, sftp and rsync
    #[arg(long)]
    pub all: bool,
    /// Also every program that the rules name which count here
    #[arg(long)]
    pub from_rules: bool,
    /// Where
    #[command(flatten)]
    pub place: Place,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked shims list`.
#[derive(Debug, Args)]
pub struct ListVerb {
    /// Where
    #[command(flatten)]
    pub place: Place,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked shims remove`.
#[derive(Debug, Args)]
pub struct RemoveVerb {
    /// Programs to stand in front of no longer
    #[arg(value_name = "TOOL", required_unless_present = "all")]
    pub tools: Vec<OsString>,
    /// Every shim in the folder
    #[arg(long, conflicts_with = "tools")]
    pub all: bool,
    /// Where
    #[command(flatten)]
    pub place: Place,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked shims exec`.
#[derive(Debug, Args)]
pub struct ExecVerb {
    /// The program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "TOOL")]
    pub command: Vec<OsString>,
}
