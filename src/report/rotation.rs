//! Words about rotations: what speaks against a write that cannot be taken back, and that the next step is to reconcile.
#![forbid(unsafe_code)]

use crate::settle::Unwritten;
use crate::terms::{Issue, Resource};

use super::Refusal;

/// The issue is closed. `then` says what that means here: "nothing was run".
#[must_use]
pub fn issue_closed(issue: &Issue, resources: &str, then: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("{issue} is closed"),
        why: format!("who closed it may have done this already, and a second new value would replace theirs; {then}"),
        retry: format!("no, not for this issue; {RECONCILED} before any write"),
        next: look(resources),
    }
}

/// Nobody can say whether the issue is open.
#[must_use]
pub fn issue_unknown(issue: &Issue, why: &str, then: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("whether {issue} is still open is not known: {why}"),
        why: format!("a closed one would mean that somebody has done this already; {then}"),
        retry: "yes, after the next step".to_owned(),
        next: format!("gh issue view {} --repo {}", issue.number, issue.repository),
    }
}

/// The lease was ours and is not any more, before the program was started.
#[must_use]
pub fn lost_before(resources: &str) -> Refusal {
    Refusal {
        word: "LOST",
        what: format!("{resources} was taken by somebody else before the program was started"),
        why: "the last look before it came too late; nothing was run".to_owned(),
        retry: format!("no; first see what they did, and {RECONCILED}"),
        next: look(resources),
    }
}

/// A rotation is not this session's. `what` says whose it is, or what has become of ours.
#[must_use]
pub fn rotation_not_ours(what: String, resources: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what,
        why: "a write now would replace the value that somebody else has made or is about to make; do not write"
            .to_owned(),
        retry: format!("no; first see what they did, and {RECONCILED}"),
        next: look(resources),
    }
}

/// The secret has other readers, and they have the old value.
#[must_use]
pub fn consumers_left(resource: &str, consumers: &Unwritten, retry: &str, next: String) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("{resource} is not completed: {}", not_written(consumers)),
        why: match consumers.files.is_empty() {
            false => "whoever reads it there still gets the old value",
            true => "whoever reads it there may still get the old value",
        }
        .to_owned(),
        retry: retry.to_owned(),
        next,
    }
}

/// What these have to do with it.
#[must_use]
pub(super) fn not_written(consumers: &Unwritten) -> String {
    let (have, were) = if consumers.files.len() == 1 { ("has", "was") } else { ("have", "were") };
    let files = (!consumers.files.is_empty())
        .then(|| format!("{} {have} the same key and {were} not written under it", listed(&consumers.files)));
    let unseen = consumers.unseen.as_ref().map(|unseen| format!("not every file was looked at ({unseen})"));
    files.into_iter().chain(unseen).collect::<Vec<_>>().join("; ")
}

/// A run that held nothing has not completed a rotation either.
#[must_use]
pub fn not_completed_by_force(resource: &Resource, consumers: &Unwritten) -> String {
    format!(
        "locked: {resource} is not completed, and the ledger will say so: {}; write them, or say --consumers-ok when they need no new value",
        not_written(consumers)
    )
}

/// The first ten of them, and how many more there are.
#[must_use]
pub fn listed(names: &[String]) -> String {
    let shown = names.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(10) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The next step, as a line to be pasted.
fn look(resources: &str) -> String {
    format!("locked history {}", rotation_of(resources))
}

fn rotation_of(resources: &str) -> &str {
    resources.split(' ').find(|name| name.starts_with("rotation:")).unwrap_or(resources)
}

/// What must come before another try.
const RECONCILED: &str = "compare the live value with the one in the files (reconcile)";

/// The next step when two may have made a value, in words for people.
#[must_use]
pub fn reconcile(resources: &str) -> String {
    let first = rotation_of(resources);
    format!("reconcile: locked history {first}; compare the live value with the one in the files before any write")
}
