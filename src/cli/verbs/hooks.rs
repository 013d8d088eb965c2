//! The verbs of `locked hooks`, and `locked audit`.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use clap::{Args, Subcommand};

use super::Plain;

/// `locked hooks`.
#[derive(Debug, Args)]
pub struct HooksVerb {
    /// What to do with them
    #[command(subcommand)]
    pub verb: HooksVerbs,
}

/// What can be done with git's hooks.
#[derive(Debug, Subcommand)]
pub enum HooksVerbs {
    /// Put the hooks into this repository; one that is there already is kept and run first
    #[command(after_help = "Example:\n  locked hooks install")]
    Install(Plain),
    /// Take them away; what was there before is there again, byte for byte
    #[command(after_help = "Example:\n  locked hooks uninstall")]
    Uninstall(Plain),
    /// Show how each hook stands, and whether git runs it
    #[command(after_help = "Example:\n  locked hooks status")]
    Status(Plain),
    /// Print what a manager of hooks must be told
    #[command(after_help = "Example:\n  locked hooks print pre-commit")]
    Print(PrintVerb),
    /// What the hooks call
    #[command(hide = true)]
    Run(HookVerb),
}

/// `locked hooks print`.
#[derive(Debug, Args)]
pub struct PrintVerb {
    /// The manager
    #[arg(value_parser = ["lefthook", "husky", "pre-commit"])]
    pub manager: String,
}

/// `locked hooks run`.
#[derive(Debug, Args)]
pub struct HookVerb {
    /// The hook
    #[arg(value_parser = crate::hooks::NAMES)]
    pub hook: String,
    /// What git tells it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARG")]
    pub args: Vec<OsString>,
}

/// `locked audit`.
#[derive(Debug, Args)]
pub struct AuditVerb {
    /// Which commits: A..B, or one commit with all that leads to it [default: the files of HEAD as they are]
    #[arg(value_name = "RANGE", conflicts_with = "pre_receive")]
    pub range: Option<String>,
    /// As a pre-receive hook: what is pushed is told on standard input
    #[arg(long)]
    pub pre_receive: bool,
    /// The scope of the receipts, for a clone that has no origin [default: as everywhere]
    #[arg(long, value_name = "SCOPE")]
    pub scope: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
