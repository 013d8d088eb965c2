//! What is told after a command: only what needs a person.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::settle::{Decision, Telling};
use crate::store::{Ending, LeaseView};
use crate::supervise::Cause;
use crate::terms::{FencingToken, Resource, show_duration};

use super::Refusal;

/// The words for a decision of `settle`.
#[must_use]
pub fn telling(telling: &Telling, resources: &str) -> String {
    match telling {
        Telling::Bad { resources, shown, fault } => Refusal {
            word: "QUARANTINED",
            what: format!("{}: {shown}: {fault}", names(resources)),
            why: "the command left the file like this; nobody may write it before it is restored".to_owned(),
            retry: format!("no, restore it first; {}", fault.advice()),
            next: format!("locked restore {shown}"),
        }
        .to_string(),
        Telling::OpenEdit { shown } => format!(
            "locked: {shown} is plaintext now; {resources} stays with this session until `sops encrypt -i` has made it SOPS again"
        ),
        Telling::Kept { resources, wrote, keep_for } => format!(
            "locked: the command failed{}; {} stays with this session for {}, run it again to go on",
            if *wrote { " after it had written" } else { "" },
            names(resources),
            show_duration(*keep_for)
        ),
        Telling::Unproven { why, stays } => format!(
            "locked: the command succeeded, but its proof failed ({why}); {}",
            match stays {
                Some((resources, lasts)) => format!(
                    "{} stays with this session for {}, run it again to go on",
                    names(resources),
                    show_duration(*lasts)
                ),
                None => "nothing of it is kept for this session".to_owned(),
            }
        ),
        Telling::MayRunOn { reason, lasts } => {
            format!("locked: {reason}; nobody is let in to {resources} for {}", show_duration(*lasts))
        }
        Telling::Consumers { resource, consumers, keep_for } => format!(
            "locked: {resource} is not completed and stays with this session for {}: {}; write them, then `locked release {resource}`, with --consumers-ok when they need no new value",
            show_duration(*keep_for),
            super::rotation::not_written(consumers)
        ),
        Telling::Unverified { shown, why } => format!("locked: {shown} is whole, but was not decrypted: {why}"),
    }
}

/// `-v`: what is held, before the program starts.
#[must_use]
pub fn holding(tokens: &[(Resource, FencingToken)], reason: &str) -> String {
    let held = tokens.iter().map(|(resource, token)| format!("{resource} (token {token})"));
    format!("locked: holding {}: {reason}", held.collect::<Vec<_>>().join(" "))
}

/// `-v`: what became of the lease. `back`: what its session holds by its own word again, as before the command.
#[must_use]
pub fn settled(decision: &Decision, resources: &[Resource], back: &[Resource], receipts: usize) -> String {
    let mut groups: Vec<(Vec<&Resource>, String)> = Vec::new();
    for resource in resources {
        let apart = decision.apart.iter().find(|(apart, _)| apart == resource);
        let fate = match apart.map_or(&decision.ending, |(_, ending)| ending) {
            _ if back.contains(resource) => "held by this session, as before".to_owned(),
            ending => fate(ending),
        };
        match groups.iter_mut().find(|(_, known)| *known == fate) {
            Some((group, _)) => group.push(resource),
            None => groups.push((vec![resource], fate)),
        }
    }
    let became: Vec<_> = groups.into_iter().map(|(group, fate)| format!("{} {fate}", names(group))).collect();
    let proofs = match receipts {
        0 => String::new(),
        1 => ", one receipt".to_owned(),
        many => format!(", {many} receipts"),
    };
    format!("locked: {}{proofs}", became.join(", "))
}

fn names<'a>(resources: impl IntoIterator<Item = &'a Resource>) -> String {
    resources.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn fate(ending: &Ending) -> String {
    match ending {
        Ending::Release(ended) => format!("released as {}", ended.as_str()),
        Ending::Keep { takeable: true, .. } => "kept, free for anyone to take, since nothing changed".to_owned(),
        Ending::Keep { .. } => "kept for this session".to_owned(),
        Ending::Elsewhere { keep_for, .. } => {
            format!("held against everybody for {}, this session too", show_duration(*keep_for))
        }
        Ending::Linger { .. } => "held against everybody".to_owned(),
        Ending::Quarantine { .. } => "quarantined".to_owned(),
    }
}

/// The child was stopped. `now` is who has it now, `taken` who took it away and why, if the store can say.
#[must_use]
pub fn lost(resources: &str, cause: Cause, now: Option<&str>, taken: Option<&str>) -> String {
    stopped(
        resources,
        &how_lost(cause, now, taken),
        "the program and everything that it had started were stopped, so that no second writer meets them",
    )
}

/// Who has it now, and who took it away and why, in one clause.
fn how_lost(cause: Cause, now: Option<&str>, taken: Option<&str>) -> String {
    let now = now.filter(|holder| !taken.is_some_and(|why| why.contains(&format!("taken by {holder}"))));
    let now = now.map_or_else(String::new, |holder| format!("; {holder} has it now"));
    let what = match taken {
        // A person took it away: that is the whole story.
        Some(why) if why.starts_with("revoked") => format!("was {why}"),
        Some(why) => format!("{} ({why})", cause.clause()),
        None => cause.clause().to_owned(),
    };
    what + &now
}

/// It was ours no more when it was to be given back: nothing was stopped for it.
#[must_use]
pub fn lost_by_the_end(resources: &str, now: Option<&str>, taken: Option<&str>) -> String {
    let why = "this was found when the work was done: somebody else may have written at the same time";
    stopped(resources, &how_lost(Cause::Gone, now, taken), why)
}

/// Nothing is started under a lease that somebody is taking away from the command above.
#[must_use]
pub fn taken_above(lease: &LeaseView) -> Refusal {
    let reason = lease.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    Refusal {
        word: "LOST",
        what: format!("{} was taken away from the command that this runs under{reason}", lease.resource),
        why: "that command is being stopped, and nothing new begins under its lease; nothing was run".to_owned(),
        retry: "no, not from below that command".to_owned(),
        next: format!("locked status {}", lease.resource),
    }
}

/// What the command set off elsewhere is waited for, and the lease stays meanwhile; `hold_for` is for how long it stays
/// when the wait is ended, if the store keeps anything.
#[must_use]
pub fn follows(what: &str, resources: &str, hold_for: Option<&str>) -> String {
    let then = hold_for.map_or_else(|| "gives it back".to_owned(), |span| format!("leaves it for {span}"));
    format!(
        "locked: waiting for the run of {what} to end, and holding {resources} meanwhile; Ctrl-C ends the wait and {then}"
    )
}

/// The wait was ended before its time.
#[must_use]
pub fn followed_no_more(what: &str, why: &str, resources: &str, hold_for: Option<&str>) -> String {
    let then =
        hold_for.map_or_else(|| "is given back".to_owned(), |span| format!("stays for {span}, and lets nobody in"));
    format!("locked: the run of {what} was not followed to its end ({why}); {resources} {then}")
}

/// `-v`: the lease was given back, and the program runs on.
#[must_use]
pub fn loose(resources: &str) -> String {
    format!("locked: {resources} given back; the program runs on without it")
}

/// A program that ran on without its lease was killed with its keeper.
#[must_use]
pub fn died_loose(resources: &str) -> String {
    format!("locked: the keeper died, and the program with it; {resources} had been given back before")
}

/// The lease was lost while what the command set off elsewhere was followed. The command had ended well before.
#[must_use]
pub fn lost_later(resources: &str, now: Option<&str>) -> String {
    let now = now.map_or_else(String::new, |holder| format!("; {holder} has it now"));
    format!("locked: {resources} was lost after the command had ended, and is not held any more{now}")
}

/// An edit was stopped whose editor was started again and again.
#[must_use]
pub fn editor_loop(operation: &str) -> String {
    Refusal {
        word: "STOPPED",
        what: format!("{operation}: its editor was started again and again"),
        why: "what it saved is not valid, and nobody answers sops' question: standard input is no terminal".to_owned(),
        retry: "no, not with this editor, unless it saves valid content; sops may have left its plaintext in TMPDIR"
            .to_owned(),
        next: "locked sops set FILE '[\"KEY\"]' '\"value\"'".to_owned(),
    }
    .to_string()
}

/// The child was stopped, but for one process of it.
#[must_use]
pub fn stuck(resources: &str, cause: Cause, pid: i32) -> String {
    stopped(
        resources,
        cause.clause(),
        &format!("the program was stopped, but process {pid} is alive and cannot be killed"),
    )
}

/// What may have been left half done under these.
fn what_was_written(resources: &str) -> &'static str {
    let has_files = resources.split(' ').any(|name| name.starts_with("sops:"));
    if has_files { "the file" } else { "what it had done so far" }
}

fn stopped(resources: &str, how: &str, why: &str) -> String {
    Refusal {
        word: "LOST",
        what: format!("the lease of {resources} {how}"),
        why: why.to_owned(),
        retry: format!("yes, after a look at {}", what_was_written(resources)),
        next: format!("locked status {resources}"),
    }
    .to_string()
}

/// The lease could not be given back yet.
#[must_use]
pub fn kept_by_keeper(resources: &str, why: &str) -> String {
    // Where no process stays behind, ours is tried for a moment.
    let who = if cfg!(windows) {
        "it is tried for some seconds"
    } else {
        "a background process goes on trying until the lease ends"
    };
    format!("locked: {resources} could not be released yet ({why}); {who}, then the next command does it")
}

/// An open edit that nobody looks after, and why.
#[must_use]
pub fn unwatched(resources: &str, why: &str) -> String {
    format!("locked: {resources}: nobody watches this open edit ({why}); encrypt the file again, and soon")
}

/// A file sets what does not count; `how` says when it would.
#[must_use]
pub fn not_counted(path: &Path, keys: &[String], how: &str) -> String {
    let verb = if keys.len() == 1 { "does" } else { "do" };
    format!("locked: {path:?} sets {}, which {verb} not count{how}", keys.join(", "))
}

/// A program that no rule knows. `secret`: LOCKED_SECRET names one, which goes with what is locked anyway.
#[must_use]
pub fn no_lease(program: &str, secret: bool) -> String {
    let how = match secret {
        false => "name one with -r KIND:NAME",
        true => "LOCKED_SECRET alone locks nothing: name it with --secret NAME",
    };
    format!("locked: no rule knows {program}; it runs without a lease ({how})")
}

/// What a line is told that nobody locks, where a file that is not trusted has more tables than are heard.
#[must_use]
pub fn beyond(path: &Path, trust: &str) -> String {
    format!(
        "{path:?} has more tables that look into words than are heard before it is trusted ({trust}); what the others would lock runs without a lease"
    )
}

/// What a line is told whose settings cannot be followed, where the built-in rules let it pass.
#[must_use]
pub fn unheard(error: &str) -> String {
    format!("the settings are not followed, so what they would lock runs without a lease: {error}")
}
