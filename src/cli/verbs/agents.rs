//! The verbs of `locked agents`.
#![forbid(unsafe_code)]

use clap::{Args, Subcommand};

use super::Plain;

/// `locked agents`.
#[derive(Debug, Args)]
pub struct AgentsVerb {
    /// What to do about them
    #[command(subcommand)]
    pub verb: AgentsVerbs,
}

/// What can be done about coding agents.
#[derive(Debug, Subcommand)]
pub enum AgentsVerbs {
    /// Put hooks into an agent's settings and a block of rules into its instructions; without a name, for the agents that
    /// are found here
    #[command(
        after_help = "Examples:\n  locked agents install claude\n  locked agents install codex --project\n  locked agents install print >> GEMINI.md"
    )]
    Install(InstallVerb),
    /// Take them out again; everything else stays as it is
    #[command(after_help = "Example:\n  locked agents remove claude")]
    Remove(RemoveVerb),
    /// Show what stands in the settings and instructions of each agent
    #[command(after_help = "Example:\n  locked agents status --json")]
    Status(Plain),
    /// What the hooks call: what an agent is about to do on standard input, our answer on standard output, both as JSON
    #[command(
        after_help = "Example:\n  echo '{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}' | locked agents check"
    )]
    Check(CheckVerb),
}

/// For whom.
#[derive(Debug, Args)]
pub struct Level {
    /// In the settings of this account, for every repository [default]
    #[arg(long)]
    pub user: bool,
    /// In the files of this repository, for everybody who works in it
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
}

/// `locked agents install`.
#[derive(Debug, Args)]
pub struct InstallVerb {
    /// Which agent; print: only print the block, for the instructions of any other
    #[arg(value_name = "AGENT", value_parser = ["claude", "codex", "print"])]
    pub agent: Option<String>,
    /// For whom
    #[command(flatten)]
    pub level: Level,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked agents remove`.
#[derive(Debug, Args)]
pub struct RemoveVerb {
    /// Which agent [default: all of them]
    #[arg(value_name = "AGENT", value_parser = ["claude", "codex"])]
    pub agent: Option<String>,
    /// For whom
    #[command(flatten)]
    pub level: Level,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked agents check`.
#[derive(Debug, Args)]
pub struct CheckVerb {
    /// Whose hook it is
    #[arg(value_name = "AGENT", value_parser = ["claude", "codex"], default_value = "claude")]
    pub agent: String,
}
