//! The verbs.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use uuid::Uuid;

use crate::terms::{Issue, ResourceName, parse_duration};

use super::options::RunOptions;

mod agents;
mod config;
mod hooks;
mod session;
mod shims;
mod store;

pub(super) use agents::{
    AgentsVerb, AgentsVerbs, CheckVerb as CheckCallVerb, InstallVerb as InstallAgentsVerb, Level as AgentLevel,
    RemoveVerb as RemoveAgentsVerb,
};
pub(super) use config::{ConfigVerb, ConfigVerbs, ShowVerb, TrustVerb};
pub(super) use hooks::{AuditVerb, HookVerb, HooksVerb, HooksVerbs};
pub(super) use session::{BeginVerb, EndVerb, ListVerb, SessionVerb, SessionVerbs};
pub(super) use shims::{
    ExecVerb, InstallVerb as InstallShimsVerb, ListVerb as ListShimsVerb, Place as ShimPlace, RemoveVerb, ShimsVerb,
    ShimsVerbs,
};
pub(super) use store::{EpochVerb, MoveVerb, Plain, PrintSqlVerb, PruneVerb, StoreVerb, StoreVerbs};

/// Runs a program under a lease on what it would change, proves the result, and only then lets the next one in.
///
/// A program that would change nothing shared is simply run.
#[derive(Debug, Parser)]
#[command(
    name = "locked",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    override_usage = "locked [OPTIONS] PROGRAM [ARGS]...\n       locked VERB [ARGS]...",
    after_help = "Examples:\n  locked sops set secrets/x.sops.yaml '[\"KEY\"]' '\"value\"'\n  locked -r server:bms-4 ./deploy.sh\n  locked status"
)]
pub struct Line {
    /// Options of a run.
    #[command(flatten)]
    pub options: RunOptions,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

impl Verb {
    /// The session that was named behind the verb.
    pub fn session(&self) -> Option<Uuid> {
        match self {
            Self::Release(verb) => verb.session,
            Self::Session(SessionVerb { verb: Some(SessionVerbs::End(verb)), .. }) => verb.session,
            _ => None,
        }
    }
}

/// What `locked` itself can do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a program, also one that is called like a verb
    #[command(after_help = "Example:\n  locked run -- status")]
    Run(RunVerb),
    /// Show what a command line would lock, and run nothing
    #[command(after_help = "Example:\n  locked explain -- sops edit secrets/x.sops.yaml")]
    Explain(Explain),
    /// Show live leases; exits 0 whether there are any or not
    #[command(after_help = "Example:\n  locked status sops:monitoring --json")]
    Status(Status),
    /// Show ended leases, newest first
    #[command(after_help = "Example:\n  locked history sops:monitoring --since 2h")]
    History(History),
    /// Hold resources for this session over several commands
    #[command(
        after_help = "Examples:\n  locked acquire sops:monitoring --operation 'new hosts' --keep-alive\n  locked acquire rotation:API_KEY --operation 'rotate it'"
    )]
    Acquire(Acquire),
    /// Give what this session holds a full TTL again
    #[command(after_help = "Example:\n  locked renew sops:monitoring")]
    Renew(Named),
    /// Give back what this session holds
    #[command(
        after_help = "Examples:\n  locked release sops:monitoring\n  locked release rotation:API_KEY --as human-action --note 'Maria: revoke the old key in the console'\n  locked release rotation:API_KEY --duty --note 'revoked'"
    )]
    Release(ReleaseVerb),
    /// Exit 0 when this session holds all of these and the issue is open; 77, 79, 80 or 69 when not, or nobody can say
    #[command(after_help = "Example:\n  locked check rotation:DATABASE_URL --issue acme/infra#5925")]
    Check(Check),
    /// Bring a bad file back, or accept the one that is there
    #[command(after_help = "Example:\n  locked restore secrets/x.sops.yaml")]
    Restore(Restore),
    /// Prove files that came another way than through `locked`, and write receipts for them
    #[command(
        after_help = "Each file by itself: one that is refused leaves the others as they are, and the exit status is its.\n\nExample:\n  locked adopt secrets/x.sops.yaml"
    )]
    Adopt(Adopt),
    /// Take what somebody else holds: a person's word. Its command is stopped first, then this session holds it
    #[command(after_help = "Example:\n  locked steal sops:monitoring --reason 'its host is gone' --approved-by Maria")]
    Steal(Steal),
    /// Show which session this is and why; say what it does, and see who else is active
    #[command(
        after_help = "Examples:\n  locked session\n  locked session list\n  locked session begin --name INFRA --domain Traefik --task 'renew certificates'\n  locked session end"
    )]
    Session(SessionVerb),
    /// Look after the store: set it up, check it, prune it, move it
    #[command(after_help = "Example:\n  locked store check")]
    Store(StoreVerb),
    /// Show what the settings are, and trust those of a repository
    #[command(after_help = "Example:\n  locked config show")]
    Config(ConfigVerb),
    /// Stand in front of programs, so that nobody need type `locked`
    #[command(after_help = "Example:\n  locked shims install")]
    Shims(ShimsVerb),
    /// Keep git from taking in SOPS files that are plaintext, broken, or written without locked
    #[command(after_help = "Example:\n  locked hooks install")]
    Hooks(HooksVerb),
    /// Stand beside coding agents, which write files without any program
    #[command(after_help = "Example:\n  locked agents install claude")]
    Agents(AgentsVerb),
    /// Look at commits as the hooks do, where nobody can pass them by; exits 72 or 73 when something is wrong
    #[command(after_help = "Examples:\n  locked audit\n  locked audit HEAD --json")]
    Audit(AuditVerb),
    /// Set a repository up: write a commented .locked.toml, and offer what else there is
    #[command(after_help = "Example:\n  locked init")]
    Init(Init),
    /// Look whether everything is as it must be for locks to be taken; exits 0 when nothing is wrong, 78 when something is
    #[command(after_help = "Example:\n  locked doctor --fix state spool")]
    Doctor(Doctor),
    /// Print completions for a shell
    #[command(after_help = "Example:\n  locked completions bash > ~/.local/share/bash-completion/completions/locked")]
    Completions(Completions),
}

/// `locked run`.
#[derive(Debug, Args)]
pub struct RunVerb {
    /// The program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// `locked explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// The command line to explain
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `locked status`.
#[derive(Debug, Clone, Args)]
pub struct Status {
    /// Only these resources (any scope)
    #[arg(value_name = "KIND:NAME", value_parser = name())]
    pub resources: Vec<ResourceName>,
    /// Look again and again until Ctrl-C: redrawn on a terminal, else anew whenever something has changed
    #[arg(short, long)]
    pub watch: bool,
    /// Only what was not renewed for so long; exits 1 when there is any
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub stalled: Option<Duration>,
    /// Only what was left to a person (release --as human-action) and is not done
    #[arg(long, conflicts_with_all = ["watch", "stalled", "ping", "format"])]
    pub duties: bool,
    /// Only who stands in line, for what and behind whom, also for what nobody holds
    #[arg(long, conflicts_with_all = ["watch", "stalled", "duties", "ping", "format"])]
    pub waiting: bool,
    /// Leave a word for who holds this resource, which its session is told at its next command (repeatable)
    #[arg(long, value_name = "KIND:NAME", value_parser = name(), conflicts_with_all = ["watch", "stalled", "format", "resources"])]
    pub ping: Vec<ResourceName>,
    /// What to tell them
    #[arg(long, value_name = "TEXT", requires = "ping", value_parser = super::options::reason)]
    pub message: Option<String>,
    /// How to show it: the board as a table or as JSON, or figures as Prometheus reads them
    #[arg(long, value_name = "FORM", value_parser = ["table", "json", "prometheus"], conflicts_with_all = ["json", "watch"])]
    pub format: Option<String>,
    /// As JSON; with --watch one line for each change
    #[arg(long)]
    pub json: bool,
}

impl Status {
    /// As JSON, by either spelling.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.json || self.format.as_deref() == Some("json")
    }
}

/// `locked history`.
#[derive(Debug, Args)]
pub struct History {
    /// Only this resource (any scope)
    #[arg(value_name = "KIND:NAME", value_parser = name())]
    pub resource: Option<ResourceName>,
    /// Only what ended within this time
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub since: Option<Duration>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: u32,
    /// Who held what when, as lanes over time, live leases too
    #[arg(long, conflicts_with = "json")]
    pub timeline: bool,
    /// The same as one page of HTML, without scripts, into this file (- for standard output)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "timeline"])]
    pub html: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked acquire`.
#[derive(Debug, Args)]
pub struct Acquire {
    /// The resources, all or none
    #[arg(value_name = "KIND:NAME", required = true, value_parser = name())]
    pub resources: Vec<ResourceName>,
    /// What the hold is for
    #[arg(long, value_name = "TEXT", value_parser = super::options::operation)]
    pub operation: Option<String>,
    /// The issue that it is for: when that is closed, or nobody can say, nothing is acquired (79, 80)
    #[arg(long, value_name = "OWNER/REPO#N", value_parser = super::options::issue)]
    pub issue: Option<Issue>,
    /// How long it lives without a renew [default: 30m]
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub ttl: Option<Duration>,
    /// Have it renewed in the background while the process lives that this session's commands come from (an agent, a
    /// person's shell), for max_hold at most; it is given back when that process ends
    #[arg(long)]
    pub keep_alive: bool,
    /// How long to wait [default: 30s]
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub wait: Option<Duration>,
    /// Do not wait at all
    #[arg(short, long, conflicts_with = "wait")]
    pub no_wait: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The resources
    #[arg(value_name = "KIND:NAME", required = true, value_parser = name())]
    pub resources: Vec<ResourceName>,
    /// An issue to ask about besides those that the resources were acquired for
    #[arg(long, value_name = "OWNER/REPO#N", value_parser = super::options::issue)]
    pub issue: Option<Issue>,
    /// It must be held under this very token, as `acquire --json` gave it
    #[arg(long, value_name = "N")]
    pub token: Option<i64>,
    /// Say on the issue too why nothing may be written
    #[arg(long)]
    pub comment: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Verbs that name resources.
#[derive(Debug, Args)]
pub struct Named {
    /// The resources
    #[arg(value_name = "KIND:NAME", required = true, value_parser = name())]
    pub resources: Vec<ResourceName>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked release`.
#[derive(Debug, Args)]
pub struct ReleaseVerb {
    /// The resources
    #[arg(value_name = "KIND:NAME", required = true, value_parser = name())]
    pub resources: Vec<ResourceName>,
    /// How the work ended
    #[arg(long = "as", value_name = "HOW", default_value = "completed", value_parser = ["completed", "failed", "human-action"])]
    pub ended_as: String,
    /// The session in whose name this is done; also before the verb
    #[arg(long = "session", id = "of_session", value_name = "UUID")]
    pub session: Option<Uuid>,
    /// A word for the ledger; with human-action who must do what
    #[arg(long, value_name = "TEXT", value_parser = super::options::reason)]
    pub note: Option<String>,
    /// Say that what was left to a person is done, of a rotation with all that was left in the same word; with --as failed,
    /// that it will not be
    #[arg(long, conflicts_with = "consumers_ok")]
    pub duty: bool,
    /// A rotation is completed although other SOPS files of the repository have the same key and were not written
    #[arg(long)]
    pub consumers_ok: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked restore`.
#[derive(Debug, Args)]
pub struct Restore {
    /// The file
    pub file: PathBuf,
    /// The file that is there is right: check it, and end the quarantine
    #[arg(long)]
    pub accept: bool,
    /// Which version to bring back [default: the last proven copy, else the one before the write, else HEAD]
    #[arg(long, value_name = "WHICH", value_parser = ["proven", "before", "head"], conflicts_with = "accept")]
    pub from: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked adopt`.
#[derive(Debug, Args)]
pub struct Adopt {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked steal`.
#[derive(Debug, Args)]
pub struct Steal {
    /// The resources, all or none
    #[arg(value_name = "KIND:NAME", required = true, value_parser = name())]
    pub resources: Vec<ResourceName>,
    /// Why, for its holder and the ledger
    #[arg(long, value_name = "TEXT", required = true, value_parser = super::options::reason)]
    pub reason: String,
    /// Do not wait for its holder to stop: two may be writing then
    #[arg(long)]
    pub now: bool,
    /// Who said so. Without a terminal, where nobody can be asked, it must be said
    #[arg(long, value_name = "NAME", value_parser = super::options::reason)]
    pub approved_by: Option<String>,
    /// How long this session holds it without a renew [default: 30m]
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub ttl: Option<Duration>,
    /// How long to wait for its holder to stop [default: until its lease ends by itself]
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub wait: Option<Duration>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked init`.
#[derive(Debug, Args)]
pub struct Init {
    /// Do all that is offered, and ask nothing
    #[arg(short, long)]
    pub yes: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Only these checks: store, checkouts, state, spool, leases, session, settings, tools, keys, shims, path, around,
    /// hooks, agents, files
    #[arg(value_name = "CHECK")]
    pub checks: Vec<String>,
    /// Mend what can be mended safely: modes of the state directory, shims that lead nowhere or are missing, what the store
    /// has not heard, a hook that git passes over, calls of agents that were not understood, files that nobody needs
    #[arg(long)]
    pub fix: bool,
    /// Say only what is wrong
    #[arg(short, long)]
    pub quiet: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `locked completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
    /// What the script asks: the words behind `locked`, as far as they are typed
    #[arg(last = true, hide = true)]
    pub line: Vec<OsString>,
}

fn name() -> impl clap::builder::TypedValueParser<Value = ResourceName> {
    super::options::resource()
}
