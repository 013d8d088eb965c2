//! `--report FILE`: the account of a run as one JSON object, for scripts and for agents that would otherwise have to
//! read our words. It is written at every way out, with mode 0600, beside its place and then renamed, so that a reader
//! finds a whole one or none. It carries no argument of the program, no content of a file and no key.
//!
//! Every field is always there, `null` or empty where there is nothing to tell. Fields are only ever added.
//!
//! | field | what it says |
//! |---|---|
//! | `decision` | `pass` (the program was started in our place, without a lease), `lock`, or `refuse` (nothing was run) |
//! | `program` | the file that is run, as it was found |
//! | `rule` | the rule that decided |
//! | `operation` | what ran: program, sub-command and target |
//! | `resources` | each with `resource`, `scope`, and `token` once it was ours |
//! | `waited_ms` | how long we waited for the lease |
//! | `held_ms` | from the grant to its end |
//! | `exit` | how we exit: `{"code": N}` or `{"signal": N}`; `null` after `pass`, where the program itself exits |
//! | `ended` | what became of the lease: `released`, `kept`, `quarantined`, `lost`, `not-ours` (somebody had taken it), `left-to-keeper` (the store was down; a background process tries on), `forced` (there was none) |
//! | `reason` | why it went so, in one sentence |
//! | `forced` | the reason given with `--force`, when the program ran without a lease |
//! | `files` | each with `path` and `verdict` (`unchanged`, `sound`, `unverified`, `open-edit`, `bad`), and why |
//! | `holders` | who was in the way: `resource`, `scope`, `token`, `holder`, `label`, `host`, `operation`, `state`, `acquired_at`, `expires_in_ms`, `reason` |
//! | `ahead` | how many older requests there were |
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::canary::Verdict;
use crate::exit::Exit;
use crate::lease::Busy;
use crate::plan::HoldPlan;
use crate::report::{self, Refusal};
use crate::settle::{Decision, Finding};
use crate::store::{Ending, LeaseView, Release, StoreError};
use crate::supervise::{Cause, Outcome};
use crate::terms::{FencingToken, Resource};

/// Gathers what there is to tell, and writes it. Without a file it gathers for nobody.
#[derive(Debug, Default)]
pub struct Account {
    file: Option<PathBuf>,
    told: RefCell<Told>,
}

#[derive(Debug, Default, Clone, Serialize)]
struct Told {
    decision: Option<&'static str>,
    program: Option<String>,
    rule: Option<String>,
    operation: Option<String>,
    resources: Vec<Value>,
    waited_ms: Option<u64>,
    held_ms: Option<u64>,
    exit: Option<Value>,
    ended: Option<&'static str>,
    reason: Option<String>,
    forced: Option<String>,
    files: Vec<Value>,
    holders: Vec<Value>,
    ahead: usize,
}

impl Account {
    /// An account for this file, which is seen from `cwd`.
    #[must_use]
    pub fn to(file: Option<&Path>, cwd: &Path) -> Self {
        Self { file: file.map(|file| cwd.join(file)), told: RefCell::default() }
    }

    /// Which program is meant, and which rule knows it.
    pub(super) fn program(&self, program: &Path, rule: Option<&str>, operation: &str) {
        let mut told = self.told.borrow_mut();
        told.program = Some(program.to_string_lossy().into_owned());
        (told.rule, told.operation) = (rule.map(str::to_owned), Some(operation.to_owned()));
    }

    /// Nothing is to be locked. Written at once: after the exec nobody of us is left.
    pub(super) fn passes(&self, reason: &str) {
        let mut told = self.told.borrow_mut();
        (told.decision, told.reason) = (Some("pass"), Some(reason.to_owned()));
        drop(told);
        self.write();
    }

    /// These resources are wanted.
    pub(super) fn wants(&self, plan: &HoldPlan, operation: Option<&str>) {
        let mut told = self.told.borrow_mut();
        (told.decision, told.reason) = (Some("refuse"), Some(plan.reason.clone()));
        told.resources = plan.resources.iter().map(|resource| named(resource, None)).collect();
        if let Some(operation) = operation {
            told.operation = Some(operation.to_owned());
        }
    }

    /// How long it took until the store's last word.
    pub(super) fn waited(&self, waited: Duration) {
        self.told.borrow_mut().waited_ms = Some(ms(waited));
    }

    /// It is ours, and the program is started.
    pub(super) fn runs(&self, resources: &[(Resource, FencingToken)]) {
        let mut told = self.told.borrow_mut();
        told.decision = Some("lock");
        if !resources.is_empty() {
            told.resources = resources.iter().map(|(resource, token)| named(resource, Some(*token))).collect();
        }
    }

    /// It runs without a lease, because somebody said so.
    pub(super) fn forced(&self, reason: &str) {
        self.told.borrow_mut().forced = Some(reason.to_owned());
    }

    /// Somebody else is in the way.
    pub(super) fn in_the_way(&self, busy: &Busy) {
        let mut told = self.told.borrow_mut();
        told.holders = busy.blockers.iter().map(|blocker| holder(&blocker.lease)).collect();
        (told.ahead, told.waited_ms) = (busy.ahead.len(), Some(ms(busy.waited)));
    }

    /// Nothing is run, for this reason.
    pub(super) fn refused(&self, refusal: &Refusal) {
        self.because(&format!("{}; {}", refusal.what, refusal.why));
    }

    /// Why it goes as it goes.
    pub fn because(&self, reason: &str) {
        self.told.borrow_mut().reason = Some(reason.to_owned());
    }

    /// What the canary found.
    pub(super) fn found<'f>(&self, findings: impl Iterator<Item = (&'f Path, &'f Finding)>) {
        self.told.borrow_mut().files = findings.map(|(path, finding)| file(path, finding)).collect();
    }

    /// What became of the lease.
    pub(super) fn ended(&self, word: &'static str, held: Duration, reason: Option<&str>) {
        let mut told = self.told.borrow_mut();
        (told.ended, told.held_ms) = (Some(word), Some(ms(held)));
        told.reason = reason.map(str::to_owned);
    }

    /// The way out: writes the account.
    pub(super) fn close(&self, exit: Exit) {
        let mut told = self.told.borrow_mut();
        told.decision = told.decision.filter(|decision| *decision != "pass").or(Some("refuse"));
        told.exit = Some(match exit {
            Exit::Code(code) => json!({"code": code}),
            Exit::Signal(signal) => json!({"signal": signal}),
        });
        drop(told);
        self.write();
    }

    /// Writes what is known so far. A report that cannot be written is said, and changes nothing else.
    pub(super) fn write(&self) {
        let Some(file) = &self.file else { return };
        let text = serde_json::to_string_pretty(&*self.told.borrow()).map_err(io::Error::from);
        if let Err(error) = text.and_then(|text| put(file, &text)) {
            let shown = crate::terms::shell_quote(file.as_os_str().as_encoded_bytes());
            report::say(&format!("locked: the report cannot be written to {shown}: {error}"));
        }
    }
}

/// Writes beside the place and renames. What is there and is no regular file (a device, a pipe, a link) is left alone:
/// the rename would replace it.
fn put(file: &Path, text: &str) -> io::Result<()> {
    if file.symlink_metadata().is_ok_and(|there| !there.is_file()) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "what is there is no regular file"));
    }
    let directory = file.parent().ok_or(io::ErrorKind::NotADirectory)?;
    let mut beside = tempfile::Builder::new().prefix(".locked-report-").tempfile_in(directory)?;
    writeln!(beside, "{text}")?;
    beside.persist(file).map(drop).map_err(|error| error.error)
}

fn named(resource: &Resource, token: Option<FencingToken>) -> Value {
    json!({
        "resource": resource.name.as_str(), "scope": resource.scope.to_string(), "token": token.map(|token| token.0),
    })
}

fn file(path: &Path, finding: &Finding) -> Value {
    let (verdict, why) = match &finding.verdict {
        None => ("unchanged", None),
        Some(Verdict::Sound) => ("sound", None),
        Some(Verdict::OpenEdit) => ("open-edit", None),
        Some(Verdict::Unverified(why)) => ("unverified", Some(why.clone())),
        Some(Verdict::Bad(fault)) => ("bad", Some(fault.to_string())),
    };
    json!({"path": path.to_string_lossy(), "verdict": verdict, "reason": why})
}

fn holder(lease: &LeaseView) -> Value {
    json!({
        "resource": lease.resource.name.as_str(),
        "scope": lease.resource.scope.to_string(),
        "token": lease.token.0,
        "holder": lease.session.short(),
        "label": lease.label,
        "host": lease.host,
        "operation": lease.operation,
        "state": lease.state.as_str(),
        "acquired_at": lease.acquired_at,
        "expires_in_ms": lease.expires_in.map(ms),
        "reason": lease.reason,
    })
}

fn ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// What became of the lease, and why, as `--report` has it. `keeps`: the store can keep one.
pub(super) fn account_of(
    outcome: Outcome,
    decision: &Decision,
    settled: &Result<Release, StoreError>,
    keeps: bool,
) -> (&'static str, Option<String>) {
    let why = match outcome.cause() {
        Some(Cause::EditorLoop) => Some("the editor was started again and again"),
        Some(cause @ (Cause::IssueClosed | Cause::IssueUnknown)) => Some(cause.clause()),
        _ => None,
    };
    if let (Ok(Release::Released), Some(reason)) = (settled, decision.quarantine()) {
        return ("quarantined", Some(reason.to_owned()));
    }
    match (settled, outcome.cause().filter(|cause| cause.is_loss()), &decision.ending) {
        (Err(error), ..) => ("left-to-keeper", Some(error.to_string())),
        (Ok(Release::Released), Some(_), Ending::Linger { reason }) => ("lost", Some(reason.clone())),
        (Ok(_), Some(cause), _) => ("lost", Some(format!("the lease {}", cause.clause()))),
        (Ok(Release::NotOurs), ..) => ("not-ours", Some("the lease is not ours any more".to_owned())),
        (Ok(Release::Released), ..) => match decision.stays() {
            Some(reason) if !keeps && !matches!(decision.ending, Ending::Linger { .. }) => {
                ("released", Some(format!("{reason}; this store keeps nothing")))
            }
            Some(reason) => ("kept", Some(reason.to_owned())),
            None => ("released", why.map(str::to_owned)),
        },
    }
}
