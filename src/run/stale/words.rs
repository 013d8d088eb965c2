//! What is said of bases: who, when, on which branch, where.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::lineage::{Base, Note};
use crate::notes;
use crate::report::{Refusal, clock_time, day_and_time};
use crate::store::StoredReceipt;

use super::step::{AGAIN_READ, Step, decrypt, quoted};

/// A newer version would be lost.
pub(super) fn stale(newer: &StoredReceipt, shown: &str, base: Base<'_>, step: Step) -> Refusal {
    let what = match base {
        Base::File => format!("{shown} is an older version here; writing upon it would lose a newer one"),
        Base::Under => format!("{shown} was made from an older version here; taking it in would lose a newer one"),
        Base::Read => {
            format!("the plaintext for {shown} is of an older version; encrypting it would lose a newer one")
        }
        Base::Put { .. } => format!("what is put over {shown} is of an older version; it would lose a newer one"),
    };
    // Somebody may have thrown it away, and brought it back or not: who knows says so.
    let again = if step.brings_back { "; if the newer one is to go, with --accept-stale" } else { "" };
    Refusal {
        word: "REFUSED",
        what,
        why: format!("the newer one was written by {}; nothing was run", who(newer)),
        retry: format!("{}{again}", step.retry),
        next: step.next,
    }
}

/// The file changed between the reading and the encrypting, and nobody knows by whom.
pub(super) fn gone_on(shown: &str, path: &Path) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("{shown} has changed since this session decrypted it; encrypting that plaintext would undo it"),
        why: "what it holds now is not what the plaintext was read from; nothing was run".to_owned(),
        retry: AGAIN_READ.to_owned(),
        next: decrypt(shown, path),
    }
}

/// The same of an edit that was opened from the newest: it may be meant that it lacks what the older one has not.
pub(super) fn over_open_edit(refusal: Refusal) -> Refusal {
    let retry = format!("{AGAIN_READ}; if what it lacks is to go, with --accept-stale");
    Refusal { retry, ..refusal }
}

/// What a redirection has done already.
pub(super) fn emptied(shown: &str) -> String {
    format!("; the shell has emptied the file, and `locked restore {shown}` brings it back")
}

/// Several sessions may have written the plaintext.
pub(super) fn whose(other: &notes::Note, shown: &str, resources: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("whose plaintext is this? session {} has decrypted {shown} as well", other.session.short()),
        why: format!(
            "it did so at {}, and may have written the plaintext over yours; nothing was run",
            clock_time(other.at)
        ),
        retry: "yes, in this order: acquire, decrypt, edit, encrypt".to_owned(),
        next: format!("locked acquire {}", resources.split(" (").next().unwrap_or(resources)),
    }
}

/// It was changed outside of `locked`, and that is not to be.
pub(super) fn unknown(newest: Option<&StoredReceipt>, shown: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("{shown} was changed outside of locked"),
        why: format!("{}; unknown_base is \"refuse\", and nothing was run", last(newest)),
        retry: "yes, after the next step".to_owned(),
        next: format!("locked adopt {shown}"),
    }
}

/// The same where it may go on.
pub(super) fn unknown_warning(newest: Option<&StoredReceipt>, shown: &str) -> String {
    format!("locked: {shown} was changed outside of locked: {}", last(newest))
}

fn last(newest: Option<&StoredReceipt>) -> String {
    newest.map_or_else(
        || "it holds a version that locked does not know".to_owned(),
        |newest| {
            format!("it holds a version that locked does not know; the last known one was written by {}", who(newest))
        },
    )
}

/// Somebody has said that it may go on.
pub(super) fn accepted(refusal: &Refusal) -> String {
    let why = refusal.why.trim_end_matches("; nothing was run").trim_end_matches(", and nothing was run");
    format!("locked: going on with --accept-stale, which is recorded: {}: {why}", refusal.what)
}

pub(super) fn note(note: &Note<'_>, shown: &str) -> String {
    match note {
        Note::Discarded(newer) => {
            format!(
                "locked: {shown}: a newer version was discarded, which nobody has any more; it was written by {}",
                who(newer)
            )
        }
        Note::Diverged(newer, branch) => format!(
            "locked: {shown}: a newer version is on another branch ({}), and git will ask when both meet; it was written by {}",
            quoted(branch),
            who(newer)
        ),
    }
}

/// Who wrote it, when, on which branch, where.
fn who(receipt: &StoredReceipt) -> String {
    let branch = receipt.branch.as_deref().map(|branch| format!(" on {}", quoted(branch))).unwrap_or_default();
    let worktree = receipt.worktree.as_deref().map(|root| format!(":{}", quoted(root))).unwrap_or_default();
    format!("{} at {}{branch} ({}{worktree})", receipt.holder, day_and_time(receipt.at), receipt.host)
}

#[cfg(test)]
mod tests;
