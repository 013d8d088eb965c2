//! What is told after a command: only what needs a person.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::settle::{Decision, Telling};
use crate::store::Ending;
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
            why: "the command left the file so; nobody may write it before it is restored".to_owned(),
            retry: format!("no, not before it is restored; {}", fault.advice()),
            next: format!("locked restore {shown}"),
        }
        .to_string(),
        Telling::OpenEdit { shown } => format!(
            "locked: {shown} is plaintext now; {resources} stays with this session until `sops encrypt -i` has made it SOPS again"
        ),
        Telling::Kept { wrote, keep_for } => format!(
            "locked: the command failed{}; {resources} stays with this session for {}, run it again to go on",
            if *wrote { " after it had written" } else { "" },
            show_duration(*keep_for)
        ),
        Telling::MayRunOn { reason, lasts } => {
            format!("locked: {reason}; nobody is let in to {resources} for {}", show_duration(*lasts))
        }
        Telling::Unverified { shown, why } => format!("locked: {shown} is whole, but was not decrypted: {why}"),
    }
}

/// `-v`: what is held, before the program starts.
#[must_use]
pub fn holding(tokens: &[(Resource, FencingToken)], reason: &str) -> String {
    let held = tokens.iter().map(|(resource, token)| format!("{resource} (token {token})"));
    format!("locked: holding {}: {reason}", held.collect::<Vec<_>>().join(" "))
}

/// `-v`: what became of the lease.
#[must_use]
pub fn settled(decision: &Decision, resources: &[Resource], receipts: usize) -> String {
    let apart = |resource: &&Resource| decision.apart.iter().any(|(apart, _)| apart == *resource);
    let (bad, rest): (Vec<&Resource>, Vec<&Resource>) = resources.iter().partition(apart);
    let groups = [(bad, decision.apart.first().map(|(_, ending)| ending)), (rest, Some(&decision.ending))];
    let became = groups.into_iter().filter(|(group, _)| !group.is_empty());
    let became: Vec<_> = became.filter_map(|(group, ending)| Some((names(group), ending?))).collect();
    let became: Vec<_> = became.iter().map(|(group, ending)| format!("{group} {}", fate(ending))).collect();
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
        Ending::Linger { .. } => "held against everybody".to_owned(),
        Ending::Quarantine { .. } => "quarantined".to_owned(),
    }
}

/// The child was stopped.
#[must_use]
///
/// `now` is who has it now, if the store can say.
pub fn lost(resources: &str, cause: Cause, now: Option<&str>) -> String {
    let held = now.map_or_else(String::new, |holder| format!("; {holder} has it now"));
    stopped(
        resources,
        &held,
        cause,
        "the program and everything that it had started were stopped, so that no second writer meets them",
    )
}

/// An edit was stopped whose editor was started again and again.
#[must_use]
pub fn editor_loop(operation: &str) -> String {
    Refusal {
        word: "STOPPED",
        what: format!("{operation}: its editor was started again and again"),
        why: "what it saved is not valid, and nobody answers sops' question: standard input is no terminal".to_owned(),
        retry: "no, not with this editor".to_owned(),
        next: "use `sops set`, or save valid content; sops may have left its plaintext in TMPDIR".to_owned(),
    }
    .to_string()
}

/// The child was stopped, but for one process of it.
#[must_use]
pub fn stuck(resources: &str, cause: Cause, pid: i32) -> String {
    stopped(resources, "", cause, &format!("the program was stopped, but process {pid} is alive and cannot be killed"))
}

fn stopped(resources: &str, now: &str, cause: Cause, why: &str) -> String {
    Refusal {
        word: "LOST",
        what: format!("the lease of {resources} {}{now}", cause.clause()),
        why: why.to_owned(),
        retry: "yes, after a look at the file".to_owned(),
        next: format!("locked status {resources}"),
    }
    .to_string()
}

/// The lease could not be given back yet.
#[must_use]
pub fn kept_by_keeper(resources: &str, why: &str) -> String {
    format!(
        "locked: {resources} could not be released yet ({why}); a background process goes on trying until the lease ends, then the next command does it"
    )
}

/// A file sets what does not count; `how` says when it would.
#[must_use]
pub fn not_counted(path: &Path, keys: &[String], how: &str) -> String {
    let verb = if keys.len() == 1 { "does" } else { "do" };
    format!("locked: {path:?} sets {}, which {verb} not count{how}", keys.join(", "))
}

/// A program that no rule knows.
#[must_use]
pub fn no_lease(program: &str) -> String {
    format!("locked: no rule knows {program}; it runs without a lease (name one with -r KIND:NAME)")
}
