//! One identity over many commands.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fmt;

use uuid::Uuid;

use super::anchor::{self, Found};
use super::variable::parse_uuid;
use super::{Process, Processes, Variable, label};
use crate::platform::OsStrExt as _;
use crate::terms::SessionId;

/// The namespace (RFC 9562, version 5) of every identity that we derive. Changing it would part every running session
/// from what it holds.
pub(super) const NAMESPACE: Uuid = Uuid::from_u128(0x8d1e_2c5a_71b4_4f0e_9a3d_5f60_c2b7_e914);

/// What names a session: options, environment, and the processes above us.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// `--session`, as typed.
    pub option: Option<&'a OsStr>,
    /// The environment.
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
    /// The variables that name a session, in order; [`Variable::ready`] where nobody configured others.
    pub variables: &'a [Variable],
    /// This boot of this machine ([`crate::clock::Clock::boot_id`]).
    pub boot_id: &'a str,
    /// This machine's name, for the label.
    pub host: &'a str,
    /// The processes of this machine.
    pub processes: &'a dyn Processes,
}

/// Who this invocation acts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its identity.
    pub id: SessionId,
    /// For people: `claude@ws-1`; at most 40 printable characters.
    pub label: String,
    /// What named it.
    pub source: Source,
    /// Whether the session outlives this command, so that a later one can release what this one acquires. See
    /// [`Session::for_explicit`].
    pub explicit_ok: bool,
}

/// What named a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// `--session`.
    Option,
    /// `LOCKED_SESSION`.
    LockedSession,
    /// A variable of the list; the first, where several belong together.
    Variable(String),
    /// The process that stands for it.
    Anchor {
        /// Its pid.
        pid: u32,
        /// Its program.
        program: String,
    },
    /// Nothing that lasts: the topmost shell or launcher above us, or only ourselves.
    Unanchored,
}

/// Why there is no session to act for. Exit status 64; the last line of each text can be pasted into a shell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSession {
    /// `--session` or `LOCKED_SESSION` is not a UUID. (What it is is not shown: it may have been a secret.)
    #[error("{from} is not a UUID; give every session its own, for example\n    {fresh}")]
    NotAUuid {
        /// Where it came from.
        from: &'static str,
        /// A line that sets a good one.
        fresh: ExportLine,
    },
    /// An explicit lease needs a session that outlives the command.
    #[error(
        "no process above this one lasts until the next command, so nobody could release what it acquires; \
         name the session, for example\n    {fresh}"
    )]
    NothingLasting {
        /// A line that sets one.
        fresh: ExportLine,
    },
}

/// `export LOCKED_SESSION=…` with a fresh identity.
#[derive(Clone, PartialEq, Eq)]
pub struct ExportLine(Uuid);

impl ExportLine {
    fn fresh() -> Self {
        Self(Uuid::new_v4())
    }
}

impl fmt::Display for ExportLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "export LOCKED_SESSION={}", self.0)
    }
}

impl fmt::Debug for ExportLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExportLine(…)")
    }
}

impl Session {
    /// The names by which settings may mean it: the value of the variable that named it, its label and the part of it
    /// before the host, its UUID and the beginning of that. Whoever sets a variable may take a name; sessions are
    /// cooperative.
    #[must_use]
    pub fn names(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Vec<String> {
        let who = self.label.split('@').next().unwrap_or_default().to_owned();
        let mut names = vec![self.label.clone(), who, self.id.whole(), self.id.short()];
        if let Source::Variable(variable) = &self.source {
            names.extend(env(variable).and_then(|value| value.into_string().ok()));
        }
        names.retain(|name| !name.is_empty());
        names
    }

    /// Whether an explicit lease (`acquire`) may be taken for it.
    ///
    /// # Errors
    /// When nothing that lasts names it.
    pub fn for_explicit(&self) -> Result<(), NoSession> {
        if self.explicit_ok { Ok(()) } else { Err(NoSession::NothingLasting { fresh: ExportLine::fresh() }) }
    }
}

/// Names the session: by `--session` or `LOCKED_SESSION`, else by the first variable that is set, else by the anchor.
/// Where there is no anchor it still gives an identity, good for wrapped commands alone: the same for all commands
/// under one topmost shell (one cron job, one `ssh host …`), another for every other.
///
/// # Errors
/// When `--session` or `LOCKED_SESSION` is not a UUID.
pub fn identify(given: &Surroundings<'_>) -> Result<Session, NoSession> {
    let found = anchor::find(given.processes);
    if let Some(Told { id, source, tool }) = told(given)? {
        let who = tool.map_or_else(|| person(given, &found), str::to_owned);
        return Ok(session(id, &who, given, source, true));
    }
    let (id, who) = (of_process(&found, given), person(given, &found));
    Ok(match found {
        Found::Anchor(anchor) => {
            let source = Source::Anchor { pid: anchor.pid, program: anchor.program };
            session(id, &who, given, source, true)
        }
        Found::Top(_) | Found::Nothing => session(id, &who, given, Source::Unanchored, false),
    })
}

/// The process that stands for the commands of this place, whatever names their session: it was there before this one and
/// will be there for the next. None where only shells and launchers are above us.
#[must_use]
pub fn anchor(processes: &dyn Processes) -> Option<Process> {
    match anchor::find(processes) {
        Found::Anchor(process) => Some(process),
        Found::Top(_) | Found::Nothing => None,
    }
}

/// The identity alone, as [`identify`] gives it. For who is in a hurry: where a name is given no process is looked at.
///
/// # Errors
/// As `identify`.
pub fn identity(given: &Surroundings<'_>) -> Result<SessionId, NoSession> {
    let id = told(given)?.map(|told| told.id).unwrap_or_else(|| of_process(&anchor::find(given.processes), given));
    Ok(SessionId(id))
}

/// What options and variables say.
struct Told<'a> {
    id: Uuid,
    source: Source,
    /// The tool that is known to set the variable.
    tool: Option<&'a str>,
}

fn told<'a>(given: &Surroundings<'a>) -> Result<Option<Told<'a>>, NoSession> {
    if let Some((id, source)) = by_name(given)? {
        return Ok(Some(Told { id, source, tool: None }));
    }
    let said = given.variables.iter().find_map(|variable| {
        let id = variable.session(given.env).filter(|_| vouched_for(variable, given.processes))?;
        Some(Told { id, source: Source::Variable(variable.name().to_owned()), tool: variable.tool() })
    });
    Ok(said)
}

fn of_process(found: &Found, given: &Surroundings<'_>) -> Uuid {
    match found {
        Found::Anchor(process) | Found::Top(process) => derived(process, given),
        Found::Nothing => Uuid::new_v4(),
    }
}

fn session(id: Uuid, who: &str, given: &Surroundings<'_>, source: Source, explicit_ok: bool) -> Session {
    Session { id: SessionId(id), label: label::label(who, given.host), source, explicit_ok }
}

fn by_name(given: &Surroundings<'_>) -> Result<Option<(Uuid, Source)>, NoSession> {
    let read = |text: &OsStr, from, source| match parse_uuid(text.as_bytes()) {
        Some(id) => Ok(Some((id, source))),
        None => Err(NoSession::NotAUuid { from, fresh: ExportLine::fresh() }),
    };
    if let Some(text) = given.option {
        return read(text, "--session", Source::Option);
    }
    match (given.env)("LOCKED_SESSION").filter(|text| !text.is_empty()) {
        Some(text) => read(&text, "LOCKED_SESSION", Source::LockedSession),
        None => Ok(None),
    }
}

/// A service's variable counts only in that service, and not below a terminal: a terminal program started as a service
/// passes it on to every window, and so to sixteen agents at once.
fn vouched_for(variable: &Variable, processes: &dyn Processes) -> bool {
    !variable.of_a_service() || (processes.service().is_some() && !anchor::below_a_terminal(processes))
}

/// The boot and the pid namespace make the pid mean one process of one machine, the start time tells it from a later
/// one of that pid.
fn derived(process: &Process, given: &Surroundings<'_>) -> Uuid {
    let text = format!("{}\0{}\0{}\0{}", given.boot_id, given.processes.namespace(), process.pid, process.started);
    Uuid::new_v5(&NAMESPACE, text.as_bytes())
}

/// The anchor's name, or the account's where a person sits at a shell or nothing is known.
fn person(given: &Surroundings<'_>, found: &Found) -> String {
    let anchor = match found {
        Found::Anchor(process) => label::name_of(process).map(str::to_owned),
        Found::Top(_) | Found::Nothing => None,
    };
    let account = || ["USER", "LOGNAME"].iter().find_map(|name| (given.env)(name).filter(|user| !user.is_empty()));
    anchor.or_else(|| account().map(|user| user.to_string_lossy().into_owned())).unwrap_or_default()
}

#[cfg(test)]
mod tests;
