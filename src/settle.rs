//! `settle`: what becomes of the lease, and how we exit. Pure: from what the child did and what its files look like now.
//!
//! | outcome | files | ending |
//! |---|---|---|
//! | never started | – | release as failed |
//! | any | one is bad | quarantine of the resources that stand for it, exit 72; the others end by the rows below |
//! | stopped by us or killed, but for a process that lives on | not bad | nobody is let in for one TTL |
//! | stopped by us, its effect out of reach | not bad | nobody is let in for one TTL |
//! | any | one is plaintext now, as asked | keep for the session (an open edit) |
//! | any | another one of the session is plaintext since before | keep as well: that edit is still open |
//! | succeeded | sound, unverified or unchanged | release as completed, with receipts |
//! | succeeded, and what it set off elsewhere may still be running, as its rule has it | – | nobody is let in for as long as the rule has it, its own session neither |
//! | succeeded, but the command that is to prove it failed | – | as after a failure, exit 72 |
//! | failed | unchanged | keep, others may take it at once |
//! | failed | changed and sound | keep |
//! | failed | none (a container, a server… of a rule) | keep for five minutes, or for as long as the rule has it |
//! | failed | none (named by hand) | release as failed, or keep with `--keep` |
//! | stopped by us | not bad | release as failed |
//! | succeeded, a rotation whose secret has readers that were not written | – | keep the rotation for one TTL |
//!
//! A command may hold some of each: every part ends by its own row. A rule may have its parts kept never or always.
#![forbid(unsafe_code)]

mod decision;
mod parts;

pub use self::decision::{Decision, Telling, Unwritten, is_of_consumers};
pub use crate::rules::HOLD_FOR;

use std::time::Duration;

use crate::canary::Verdict;
use crate::exit::{self, Exit};
use crate::rules::Policy;
use crate::store::{Ended, Ending};
use crate::supervise::{Cause, Outcome};
use crate::terms::Resource;

/// How long a kept lease stays when what it protects is no file: 5 minutes.
pub const KEEP_FOR: Duration = Duration::from_secs(5 * 60);
/// sops' own status for an edit whose editor failed (`NoEditorFound` in cmd/sops/codes of sops 3.11): what we give out
/// for an edit that we stopped, since the lease was not lost, and callers of sops know it.
pub const EDITOR_FAILED: i32 = 201;
/// How long an open edit may last: 2 hours.
pub const MAX_HOLD: Duration = Duration::from_secs(2 * 60 * 60);

/// How long what is kept stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holds {
    /// After a failure where no file tells what changed.
    pub keep_for: Duration,
    /// An open edit.
    pub max_hold: Duration,
}

impl Default for Holds {
    fn default() -> Self {
        Self { keep_for: KEEP_FOR, max_hold: MAX_HOLD }
    }
}

/// One file, after the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The path as people know it.
    pub shown: String,
    /// Host and whole path: what people on other hosts and in other checkouts are told.
    pub place: String,
    /// What the canary says; none when every byte is as before.
    pub verdict: Option<Verdict>,
    /// The resources that stand for it.
    pub resources: Vec<Resource>,
}

/// Everything that decides.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// What the child did.
    pub outcome: Outcome,
    /// The program's status means success (for sops 200, nothing changed, does too).
    pub succeeded: bool,
    /// Everything that it holds.
    pub resources: &'a [Resource],
    /// Those of them that a rule named and no file stands for.
    pub by_rule: &'a [Resource],
    /// On what terms.
    pub policy: &'a Policy,
    /// The files that it may have written.
    pub findings: &'a [Finding],
    /// Files of this session that are plaintext since an earlier command, and that this one does not write.
    pub open: &'a [String],
    /// What it set off elsewhere was followed to its end.
    pub followed: bool,
    /// The command that was to prove the work failed: how.
    pub unproven: Option<&'a str>,
    /// `--keep`.
    pub keep_asked: bool,
    /// Its effect does not stop with its processes.
    pub remote: bool,
    /// The TTL of the lease.
    pub ttl: Duration,
    /// How long what is kept stays.
    pub holds: Holds,
}

/// Decides. A bad file concerns only who stands for it: what else the command held ends as if the file were not there.
pub fn decide(facts: &Facts<'_>) -> Decision {
    let (bad, rest): (Vec<_>, Vec<_>) =
        facts.findings.iter().cloned().partition(|it| matches!(it.verdict, Some(Verdict::Bad(_))));
    if bad.is_empty() {
        return decide_sound(facts);
    }
    let is_bad = |resource: &Resource| bad.iter().any(|finding| finding.resources.contains(resource));
    let sound: Vec<Resource> = facts.resources.iter().filter(|resource| !is_bad(resource)).cloned().collect();
    let mut decision = decide_sound(&Facts { findings: &rest, resources: &sound, ..*facts });
    decision.exit = Exit::Code(exit::QUARANTINED);
    let mut tellings = Vec::new();
    for finding in bad {
        let Some(Verdict::Bad(fault)) = finding.verdict else { continue };
        let ending = Ending::Quarantine { reason: format!("{}: {fault}", finding.place) };
        decision.apart.extend(finding.resources.iter().map(|resource| (resource.clone(), ending.clone())));
        tellings.push(Telling::Bad { resources: finding.resources, shown: finding.shown, fault });
    }
    decision.tellings.splice(..0, tellings);
    decision
}

fn decide_sound(facts: &Facts<'_>) -> Decision {
    let exit = status(facts.outcome);
    if let Some(reason) = runs_on(facts) {
        let telling = Telling::MayRunOn { reason: reason.clone(), lasts: facts.ttl };
        return Decision::new(Ending::Linger { reason }, exit, Some(telling));
    }
    if let Some(finding) = facts.findings.iter().find(|finding| finding.verdict == Some(Verdict::OpenEdit)) {
        let telling = Telling::OpenEdit { shown: finding.shown.clone() };
        return Decision::new(open_edit(&finding.place, facts.holds.max_hold), exit, Some(telling));
    }
    if let Some(place) = facts.open.first() {
        return Decision::new(open_edit(place, facts.holds.max_hold), exit, unverified(facts.findings));
    }
    match facts.outcome {
        Outcome::NeverStarted(_) | Outcome::Stopped(_) | Outcome::Stuck { .. } => {
            Decision::new(Ending::Release(Ended::Failed), exit, None)
        }
        Outcome::Exited(_) | Outcome::Signaled(_) if facts.succeeded => {
            let mut decision = match facts.unproven {
                Some(why) => parts::unproven(facts, why),
                None => parts::done(facts, exit),
            };
            decision.tellings.extend(unverified(facts.findings));
            decision
        }
        Outcome::Exited(code) => parts::failed(facts, &format!("it failed with status {code}"), exit),
        Outcome::Signaled(signal) => parts::failed(facts, &format!("it died by signal {signal}"), exit),
    }
}

/// What of a tree that we stopped may go on all the same.
fn runs_on(facts: &Facts<'_>) -> Option<String> {
    match facts.outcome {
        Outcome::Stuck { pid, .. } => Some(format!("process {pid} could not be stopped")),
        Outcome::Stopped(_) if facts.remote => {
            Some("it was stopped here, but its effect may still be running elsewhere".to_owned())
        }
        _ => None,
    }
}

/// The lease stays with its session while the file is plaintext.
#[must_use]
pub fn open_edit(place: &str, max_hold: Duration) -> Ending {
    Ending::Keep { reason: format!("{place}{OPEN_EDIT}"), keep_for: max_hold, takeable: false }
}

/// How the reason of an open edit ends.
const OPEN_EDIT: &str = " is plaintext (an open edit)";

/// Whether a lease is kept for an open edit, by its reason.
#[must_use]
pub fn is_of_open_edit(reason: &str) -> bool {
    reason.ends_with(OPEN_EDIT)
}

/// Whether a lease is kept because what its command set off may still go on, by its reason.
#[must_use]
pub fn is_of_what_goes_on(reason: &str) -> bool {
    reason.ends_with(GOES_ON)
}

/// Whether a lease is kept after a failure that changed no file, by its reason.
#[must_use]
pub fn is_of_nothing_written(reason: &str) -> bool {
    reason.ends_with(NOTHING_WRITTEN)
}

/// How the reason ends of a failure that changed no file.
const NOTHING_WRITTEN: &str = "; every byte is as before";

/// How the reason ends of what was set off elsewhere.
const GOES_ON: &str = " may still be running";

fn unverified(findings: &[Finding]) -> Option<Telling> {
    findings.iter().find_map(|finding| match &finding.verdict {
        Some(Verdict::Unverified(why)) => Some(Telling::Unverified { shown: finding.shown.clone(), why: why.clone() }),
        _ => None,
    })
}

/// The program's own status, or ours when there is none.
pub fn status(outcome: Outcome) -> Exit {
    match outcome {
        Outcome::Exited(code) => Exit::Code(code),
        Outcome::Signaled(signal)
        | Outcome::Stopped(Cause::Killed(signal))
        | Outcome::Stuck { cause: Cause::Killed(signal), .. } => Exit::Signal(signal),
        Outcome::NeverStarted(errno) => Exit::Code(could_not_start(errno)),
        Outcome::Stopped(cause) | Outcome::Stuck { cause, .. } if cause.is_loss() => Exit::Code(exit::LOST),
        Outcome::Stopped(Cause::IssueClosed) | Outcome::Stuck { cause: Cause::IssueClosed, .. } => {
            Exit::Code(exit::ISSUE_CLOSED)
        }
        Outcome::Stopped(Cause::IssueUnknown) | Outcome::Stuck { cause: Cause::IssueUnknown, .. } => {
            Exit::Code(exit::ISSUE_UNKNOWN)
        }
        Outcome::Stopped(_) | Outcome::Stuck { .. } => Exit::Code(EDITOR_FAILED),
    }
}

/// 127 when there is no such file, else 126, as shells do it.
#[must_use]
pub fn could_not_start(errno: i32) -> i32 {
    // ENOENT is 2 on every system that has it.
    if errno == 2 { exit::NOT_FOUND } else { exit::NOT_EXECUTABLE }
}

#[cfg(test)]
mod tests;
