//! The options before the program.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use uuid::Uuid;

use crate::config::{Key, Settings};
use crate::exit;
use crate::lease::Patience;
use crate::report::Voice;
use crate::run::{self, AskedTimes, NoTimes, Options};
use crate::settle::Holds;
use crate::terms::{
    Issue, NoIssue, NotSaid, ResourceName, SessionId, may_hold_a_secret, parse_duration, said, said_somehow,
};

/// Options of a run. Each has a twin `LOCKED_<OPTION>` in the environment, but for those that a nested command must
/// not inherit (`--resource`, `--dry-run`, `--report`, `--force`, `--reason`, `--accept-stale`).
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options before the program")]
pub struct RunOptions {
    /// Hold this resource too, for example server:bms-4 (repeatable)
    #[arg(short, long = "resource", value_name = "KIND:NAME", value_parser = resource())]
    pub resource: Vec<ResourceName>,

    /// Hold the rotation of this secret too, as rotation:NAME (repeatable). The variable goes with what is locked anyway:
    /// alone it locks nothing, so that no read waits for it
    #[arg(long, value_name = "NAME", env = "LOCKED_SECRET")]
    pub secret: Vec<OsString>,

    /// The issue that this is done for: when it is closed, or nobody can say, nothing is run (79, 80). It is asked with gh
    /// right before the program is started, and again when it goes on after a stop
    #[arg(long, value_name = "OWNER/REPO#N", env = "LOCKED_ISSUE", value_parser = issue)]
    pub issue: Option<Issue>,

    /// A rotation is completed although other SOPS files of the repository have the same key and were not written
    #[arg(long, env = "LOCKED_CONSUMERS_OK", value_parser = clap::builder::FalseyValueParser::new())]
    pub consumers_ok: bool,

    /// What to call the work in `locked status`, instead of the program's name
    #[arg(long, value_name = "TEXT", env = "LOCKED_OPERATION", hide_env_values = true, value_parser = operation)]
    pub operation: Option<String>,

    /// How long the lease lives without a renew [default: 30m]
    #[arg(long, value_name = "D", env = "LOCKED_TTL", value_parser = parse_duration)]
    pub ttl: Option<Duration>,

    /// How often it is renewed [default: a sixth of the TTL, at most 60s]
    #[arg(long, value_name = "D", env = "LOCKED_HEARTBEAT", value_parser = parse_duration)]
    pub heartbeat: Option<Duration>,

    /// When the program is stopped after the last successful renew [default: two thirds of the TTL]
    #[arg(long, value_name = "D", env = "LOCKED_RENEW_DEADLINE", value_parser = parse_duration)]
    pub renew_deadline: Option<Duration>,

    /// How long a stopped program gets between TERM and KILL [default: a tenth of the TTL, at most 10s]
    #[arg(long, value_name = "D", env = "LOCKED_GRACE", value_parser = parse_duration)]
    pub grace: Option<Duration>,

    /// How long to wait for a lease that somebody else holds [default: 30s]
    #[arg(long, value_name = "D", env = "LOCKED_WAIT", value_parser = parse_duration)]
    pub wait: Option<Duration>,

    /// Do not wait at all
    #[arg(short, long, env = "LOCKED_NO_WAIT", value_parser = clap::builder::FalseyValueParser::new(), conflicts_with = "wait")]
    pub no_wait: bool,

    /// Say what would be locked, and run nothing
    #[arg(short = 'N', long)]
    pub dry_run: bool,

    /// Keep resources named with -r when the program fails
    #[arg(long, env = "LOCKED_KEEP", value_parser = clap::builder::FalseyValueParser::new())]
    pub keep: bool,

    /// Do not look at the result
    #[arg(long, env = "LOCKED_NO_CANARY", value_parser = clap::builder::FalseyValueParser::new())]
    pub no_canary: bool,

    /// The exit status when somebody else holds it, instead of 75
    #[arg(long, value_name = "N", env = "LOCKED_CONFLICT_EXIT_CODE", value_parser = clap::value_parser!(u8))]
    pub conflict_exit_code: Option<u8>,

    /// Run although the store cannot be reached, without a lease; needs --reason. Nothing else is forced: who holds it
    /// keeps it
    #[arg(long, requires = "reason")]
    pub force: bool,

    /// Why it is forced, for the ledger
    #[arg(long, value_name = "TEXT", requires = "force", value_parser = reason)]
    pub reason: Option<String>,

    /// Write upon an older version although a newer one is known, or upon one that nobody knows; the chain of receipts
    /// starts anew from it, which is recorded
    #[arg(long)]
    pub accept_stale: bool,

    /// Run this with `sh -c` once when the lease was lost, with LOCKED_RESOURCES and LOCKED_LOST_CAUSE (deadline, gone,
    /// revoked, stopped-job, keeper-died) in its environment, for at most 30s
    #[arg(long, value_name = "CMD", env = "LOCKED_ON_LOST", hide_env_values = true)]
    pub on_lost: Option<OsString>,

    /// Write how it went to this file, as JSON (mode 0600): what was decided and why, resources and tokens, times,
    /// exit, what became of the lease, what was found in the files, who was in the way
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// The session that this command belongs to
    ///
    /// Also LOCKED_SESSION, which is read only where a session matters, so that a mistake there stops no reader.
    #[arg(long, value_name = "UUID", value_parser = uuid)]
    pub session: Option<Uuid>,

    /// Where the leases live: embedded, sqlite:FILE, or a PostgreSQL server as libpq knows it (postgres://…, or key=value)
    ///
    /// Also LOCKED_STORE, which other users of the machine do not see in the list of processes, and `store` in the
    /// configuration.
    #[arg(long, value_name = "URL")]
    pub store: Option<OsString>,

    /// Hold session locks of the PostgreSQL server (pg_try_advisory_lock) instead of leases in its ledger: nothing is
    /// installed there, and nothing is remembered
    #[arg(long, env = "LOCKED_ADVISORY", value_parser = clap::builder::FalseyValueParser::new())]
    pub advisory: bool,

    /// Say nothing of our own
    #[arg(short, long, env = "LOCKED_QUIET", value_parser = clap::builder::FalseyValueParser::new(), conflicts_with = "verbose")]
    pub quiet: bool,

    /// Say more
    #[arg(short, long, env = "LOCKED_VERBOSE", value_parser = clap::builder::FalseyValueParser::new())]
    pub verbose: bool,
}

/// Only the options: what stands before the program.
#[derive(Debug, clap::Parser)]
#[command(name = "locked", disable_version_flag = true, disable_help_flag = true)]
pub(super) struct OnlyOptions {
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// A reason that says something, on one line.
pub(super) fn reason(text: &str) -> Result<String, NotSaid> {
    said(text)
}

/// What work is called is taken as it comes: a name alone stops no command.
#[expect(clippy::unnecessary_wraps, reason = "what clap takes")]
pub(super) fn operation(text: &str) -> Result<String, NotSaid> {
    Ok(said_somehow(text))
}

/// What clap's `FalseyValueParser` takes for yes, for the one question that is asked before the options are read.
pub(super) fn is_truthy(value: &std::ffi::OsStr) -> bool {
    let no = ["", "n", "no", "f", "false", "off", "0"];
    !no.contains(&value.to_string_lossy().to_lowercase().as_str())
}

/// Reads an issue, in words of ours.
pub(super) fn issue(text: &str) -> Result<Issue, NoIssue> {
    text.parse()
}

/// Reads a UUID, in words of ours.
fn uuid(text: &str) -> Result<Uuid, &'static str> {
    Uuid::parse_str(text).map_err(|_| "not a UUID; `cat /proc/sys/kernel/random/uuid` makes one")
}

/// The rotations of these secrets.
///
/// # Errors
/// One of them is no name; what is wrong, without what was given: it may be the secret itself.
pub(super) fn rotations(secrets: &[OsString]) -> Result<Vec<ResourceName>, String> {
    let rotation = |name: &OsString| {
        let bytes = name.as_encoded_bytes();
        let is_name = !bytes.is_empty() && !bytes.iter().any(u8::is_ascii_whitespace) && !may_hold_a_secret(bytes);
        is_name
            .then(|| ResourceName::of("rotation", bytes))
            .ok_or_else(|| "--secret takes the name of a secret, without its value, a '=' or spaces".to_owned())
    };
    secrets.iter().map(rotation).collect()
}

/// Reads a resource name from bytes.
pub(super) fn resource() -> impl clap::builder::TypedValueParser<Value = ResourceName> {
    use clap::builder::TypedValueParser as _;
    clap::builder::OsStringValueParser::new().try_map(|text: OsString| ResourceName::parse(text.as_encoded_bytes()))
}

impl RunOptions {
    /// How much we say.
    #[must_use]
    pub fn voice(&self) -> Voice {
        match (self.quiet, self.verbose) {
            (true, _) => Voice::Quiet,
            (false, true) => Voice::Verbose,
            (false, false) => Voice::Ready,
        }
    }

    /// Checked together, over what the files set.
    ///
    /// # Errors
    /// When the times do not fit: see [`NoTimes`].
    pub fn checked(&self, settings: &Settings) -> Result<Options, NoTimes> {
        let asked = AskedTimes {
            ttl: self.ttl,
            heartbeat: self.heartbeat,
            renew_deadline: self.renew_deadline,
            grace: self.grace,
        };
        let times = run::times(&asked, settings)?;
        let ready = Holds::default();
        Ok(Options {
            operation: self.operation.clone(),
            times,
            asked,
            patience: self.patience(settings),
            wait_asked: self.no_wait || self.wait.is_some(),
            session: self.session.map(SessionId),
            keep: self.keep,
            canary: !self.no_canary && settings.flag(Key::Canary),
            accept_stale: self.accept_stale,
            force: self.reason.clone().filter(|_| self.force),
            on_lost: self.on_lost.clone(),
            issue: self.issue.clone(),
            consumers_ok: self.consumers_ok,
            conflict_status: self.conflict_exit_code.map_or(exit::BUSY, i32::from),
            stopped_max: settings.length(Key::StoppedMax).unwrap_or(times.ttl),
            holds: Holds {
                keep_for: settings.length(Key::KeepFor).unwrap_or(ready.keep_for),
                max_hold: settings.length(Key::MaxHold).unwrap_or(ready.max_hold),
            },
            settings: settings.clone(),
        })
    }

    /// How long to wait.
    pub(super) fn patience(&self, settings: &Settings) -> Patience {
        let ready = settings.length_or_ready(Key::Wait);
        if self.no_wait { Patience::None } else { Patience::of(self.wait.unwrap_or(ready)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_value_is_no_name_of_a_secret() {
        for name in ["DATABASE_URL", "apps/web/key", "ü"] {
            assert!(rotations(&[name.into()]).is_ok(), "{name}");
        }
        for value in ["", "a b", "A=hunter2", "postgres://u:hunter2@h/x", "https://hunter2@h", "u:hunter2@h"] {
            let refused = rotations(&[value.into()]).expect_err(value);
            assert!(!refused.contains("hunter2"), "{refused}");
        }
    }
}
