//! What is said of bases. Who, when, on which branch, where; and the one command that brings the newer version.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::lineage::{Base, Note, Way};
use crate::naming::Target;
use crate::notes;
use crate::report::{Refusal, clock_time, day_and_time};
use crate::store::StoredReceipt;
use crate::terms::shell_quote;

/// A newer version would be lost.
pub(super) fn stale(newer: &StoredReceipt, shown: &str, base: Base, next: &str) -> Refusal {
    let what = match base {
        Base::File => format!("{shown} is an older version here; writing upon it would lose a newer one"),
        Base::Read => format!("the plaintext for {shown} is of an older version; encrypting it would lose a newer one"),
    };
    Refusal {
        word: "REFUSED",
        what,
        why: format!("{} wrote the newer one; nothing was run", who(newer)),
        retry: "yes, after the next step".to_owned(),
        next: next.to_owned(),
    }
}

/// The file changed between the reading and the encrypting, and nobody knows by whom.
pub(super) fn gone_on(shown: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("{shown} has changed since this session decrypted it; encrypting that plaintext would undo it"),
        why: "what it holds now is not what the plaintext was read from; nothing was run".to_owned(),
        retry: "yes, after the next step".to_owned(),
        next: format!("locked sops decrypt {shown}, and make the change again in what that says"),
    }
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
        || "what it holds is no version that is known".to_owned(),
        |newest| format!("what it holds is no version that is known; the last one was written by {}", who(newest)),
    )
}

/// Somebody has said that it may go on.
pub(super) fn accepted(refusal: &Refusal) -> String {
    let why = refusal.why.trim_end_matches("; nothing was run").trim_end_matches(", and nothing was run");
    format!("locked: going on by --accept-stale, which is recorded: {}: {why}", refusal.what)
}

pub(super) fn note(note: &Note<'_>, shown: &str) -> String {
    match note {
        Note::Discarded(newer) => {
            format!(
                "locked: {shown}: a newer version was discarded; {} wrote it, and nobody has it any more",
                who(newer)
            )
        }
        Note::Diverged(newer, branch) => format!(
            "locked: {shown}: a newer version is on another branch ({}); {} wrote it, and git will ask when both meet",
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

/// The one command, for where it was typed.
pub(super) fn next(way: &Way, target: &Target, cwd: &Path, shown: &str) -> String {
    let root = target.worktree();
    let git = match root {
        Some(root) if !cwd.starts_with(root) => format!("git -C {}", path(root)),
        _ => "git".to_owned(),
    };
    let inside = root.and_then(|root| target.path.strip_prefix(root).ok()).unwrap_or(&target.path);
    let spec = if git == "git" { shown.to_owned() } else { path(inside) };
    let steps = Steps { git, spec, inside: path(inside), shown };
    steps.of(way)
}

struct Steps<'a> {
    git: String,
    /// The file, as git takes it here.
    spec: String,
    /// The file, from the root of a work tree.
    inside: String,
    shown: &'a str,
}

impl Steps<'_> {
    fn of(&self, way: &Way) -> String {
        let Self { git, spec, inside, shown } = self;
        match way {
            Way::Merge(from) => format!("{git} merge {}", quoted(from)),
            Way::Checkout(from) => format!("{git} checkout {} -- {spec}", quoted(from)),
            Way::PastSparse => format!("{git} checkout --ignore-skip-worktree-bits HEAD -- {spec}"),
            Way::Pull { from, diverged } => {
                let join = if *diverged { " --no-rebase" } else { "" };
                let from = from.as_ref().map(|(remote, branch)| format!(" {} {}", quoted(remote), quoted(branch)));
                format!("{git} pull{join}{}", from.unwrap_or_default())
            }
            Way::FetchAndCheckout { remote, from } => {
                format!("{git} fetch {} && {git} checkout {} -- {spec}", quoted(remote), quoted(from))
            }
            Way::CommitThere { worktree, push, then } => {
                let there = format!("git -C {}", quoted(worktree));
                let push = if *push { format!(" && {there} push") } else { String::new() };
                format!("{there} commit -m 'Update {}' -- {inside}{push} && {}", self.plain(), self.of(then))
            }
            Way::PushThere { worktree, then } => format!("git -C {} push && {}", quoted(worktree), self.of(then)),
            Way::AskThere { host, worktree } => {
                let place = worktree.as_deref().map(|root| format!(" in {}", quoted(root))).unwrap_or_default();
                format!("commit and push it on {}{place}, then {git} pull here", quoted(host))
            }
            Way::ReadAgain => format!("locked sops decrypt {shown}, and make the change again in what that says"),
            Way::Git(why) => format!("make git usable here, which knows where the newer one is: {why}"),
        }
    }

    /// The file inside of a commit's message in single quotes.
    fn plain(&self) -> String {
        self.inside.replace(['\'', '$', '\\'], "")
    }
}

fn path(path: &Path) -> String {
    shell_quote(path.as_os_str().as_encoded_bytes())
}

fn quoted(text: &str) -> String {
    shell_quote(text.as_bytes())
}
