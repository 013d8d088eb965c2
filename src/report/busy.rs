//! Who is in the way, and for how long: `BLOCKED`, and `QUARANTINED` where what they left is bad.
#![forbid(unsafe_code)]

use std::io::IsTerminal as _;
use std::time::Duration;

use crate::lease::Busy;
use crate::store::{Blocker, LeaseState, LeaseView};

use super::Refusal;
use super::refusal::options;
use super::time::{clock_time, rough_span};

/// What is added where nothing tells whose a command is, as when its shell has ended before it was looked for.
pub const NAMELESS: &str =
    "; nothing names this command's session (LOCKED_SESSION would), so what you hold is in its way too";

/// Somebody else holds it, or asked before us. `renewed`: the first in the way is renewed in the background, and for how
/// long at most.
#[must_use]
pub fn busy(busy: &Busy, wanted: &str, now_ms: i64, renewed: Option<Duration>) -> Refusal {
    if busy.deadlock {
        return deadlock(busy, wanted);
    }
    let place = busy.ahead.len() + 1;
    let Some(blocker) = busy.blockers.first() else {
        let before = busy.ahead.first().map_or_else(String::new, |first| format!(", {} first", first.holder));
        return Refusal {
            word: "BLOCKED",
            what: format!(
                "{wanted} is wanted by {} older request{}{before}",
                place - 1,
                if place == 2 { "" } else { "s" }
            ),
            why: format!("the oldest request goes first; place {place} in the queue"),
            retry: "yes, in about 5 s".to_owned(),
            next: format!("locked status {wanted}"),
        };
    };
    let lease = &blocker.lease;
    Refusal {
        word: "BLOCKED",
        what: format!("{} is held by {} ({}), {}", lease.resource, lease.session, lease.label, lease.operation),
        why: format!(
            "{}{}, place {place} in the queue, {}",
            since(lease),
            too_early(lease),
            free_by(lease, now_ms, renewed)
        ),
        retry: retry(lease, renewed),
        next: next(lease, std::io::stderr().is_terminal()),
    }
}

/// Nobody takes it over before a person has said so.
fn asks(lease: &LeaseView) -> bool {
    lease.ask && lease.state == LeaseState::Expired
}

/// The person who may say so sits at a terminal; nobody else is taught how.
fn next(lease: &LeaseView, terminal: bool) -> String {
    match asks(lease) && terminal {
        true => format!("locked steal {} --reason 'why it is stale'", lease.resource),
        false => format!("locked status {}", lease.resource),
    }
}

fn deadlock(busy: &Busy, wanted: &str) -> Refusal {
    let holder = busy.blockers.first().map_or_else(String::new, |blocker| {
        format!(
            " is held by {} ({}), which waits for a command above this one",
            blocker.lease.session, blocker.lease.label
        )
    });
    Refusal {
        word: "BLOCKED",
        what: format!("waiting for {wanted} would deadlock"),
        why: format!("{wanted}{holder}"),
        retry: "yes, when the outer command takes all of them at once".to_owned(),
        next: format!("locked {} COMMAND", options(wanted)),
    }
}

fn since(lease: &LeaseView) -> String {
    let at = clock_time(lease.acquired_at);
    match (lease.state, &lease.reason) {
        (LeaseState::Kept, Some(reason)) => format!("kept since {at} because {reason}"),
        (LeaseState::Remote, Some(reason)) => format!("running since {at}; {reason}"),
        (LeaseState::Revoked, Some(reason)) => format!("{reason}; its command has not stopped yet"),
        (LeaseState::Remote, None) => {
            format!("running since {at}; nobody heard how it ended, and it may still be running")
        }
        (LeaseState::Expired, Some(reason)) if lease.ask => format!("expired, {reason}"),
        (LeaseState::Expired, None) if lease.ask => "expired".to_owned(),
        _ if lease.explicit => format!("held between commands since {at}"),
        _ => format!("running since {at}"),
    }
}

/// A workflow that runs already has read what it works on: what came after its start it does not carry. A rotation is no
/// work that is done once more to be sure.
fn too_early(lease: &LeaseView) -> &'static str {
    match lease.resource.name.kind() {
        "workflow" => "; that run started before your change and does not carry it",
        "rotation" => "; two new values would replace each other",
        _ => "",
    }
}

fn free_by(lease: &LeaseView, now_ms: i64, renewed: Option<Duration>) -> String {
    let at = |left: Duration| clock_time(now_ms.saturating_add(i64::try_from(left.as_millis()).unwrap_or(i64::MAX)));
    match lease.expires_in {
        _ if asks(lease) => "free when a person has said that it is stale".to_owned(),
        Some(_) if lease.ask => "free when its holder is done".to_owned(),
        Some(_) if renewed.is_some() => {
            let most = renewed.unwrap_or_default();
            format!("renewed in the background while its session lives, for {} at most", rough_span(most))
        }
        // Nobody is there who would have to end with a command.
        Some(left) if lease.explicit => format!("free by {} unless its session renews it", at(left)),
        Some(left) => format!("free by {} at the latest", at(left)),
        None => "without an end".to_owned(),
    }
}

fn retry(lease: &LeaseView, renewed: Option<Duration>) -> String {
    let short = Duration::from_secs(5);
    match (lease.state, lease.explicit, lease.expires_in) {
        _ if asks(lease) => "no, a person must say so first".to_owned(),
        _ if lease.resource.name.is_rotation() => {
            "yes, when it has ended, if the secret still needs another new value".to_owned()
        }
        (LeaseState::Kept, ..) if lease.ask => "yes, when its session goes on".to_owned(),
        (_, true, Some(_)) if lease.ask => "yes, when its session releases it".to_owned(),
        (LeaseState::Remote, _, Some(left)) => format!("yes, in {}", rough_span(left)),
        (LeaseState::Kept, _, Some(left)) => format!("yes, in {}, or when its session goes on", rough_span(left)),
        (_, true, Some(_)) if renewed.is_some() => "yes, when its session releases it or ends".to_owned(),
        (_, true, Some(left)) => {
            format!("yes, when its session releases it; in {} if it does not renew it", rough_span(left))
        }
        (_, _, Some(left)) => format!("yes, in about {}", rough_span(left.clamp(Duration::from_secs(1), short))),
        _ => "yes, when its session releases it".to_owned(),
    }
}

/// The file is bad and nobody may write it before it is restored.
#[must_use]
pub fn quarantined(busy: &Busy, file: Option<&str>) -> Refusal {
    let lease = busy.blockers.iter().find(|blocker| blocker.quarantined()).map(|blocker: &Blocker| &blocker.lease);
    // Without a file at hand the reason names it.
    let file = file.unwrap_or("FILE");
    let (name, reason, since) = lease.map_or_else(Default::default, |lease| {
        let reason = lease.reason.clone().unwrap_or_default();
        (
            lease.resource.to_string(),
            reason,
            // A restore that did not end it is the last to have had it: what was done tells the two apart.
            format!(
                "since {} by {} ({}), {}",
                clock_time(lease.renewed_at),
                lease.session,
                lease.label,
                lease.operation
            ),
        )
    });
    Refusal {
        word: "QUARANTINED",
        what: format!("{name} must not be written: {reason}"),
        why: format!("a write left the file bad; quarantined {since}; nothing was run"),
        retry: "no, restore it first".to_owned(),
        next: format!("locked restore {file}"),
    }
}

#[cfg(test)]
mod tests;
