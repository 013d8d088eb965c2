//! What to do about an older version: the one command, for where it was typed, and whether the same helps after it.
#![forbid(unsafe_code)]

mod line;

use std::path::Path;

use crate::lineage::{Base, Way};
use crate::naming::Target;
use crate::rules;
use crate::terms::{shell_path, shell_quote};

use super::super::files;
use line::{Line, aside};

/// Whether to try again, and the one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) retry: String,
    pub(super) next: String,
    /// It brings back what the file had held, which may have been meant to go.
    pub(super) brings_back: bool,
}

/// The same plaintext stays of the older version.
pub(super) const AGAIN_READ: &str = "no, not with that plaintext; make the change again in what the next step shows";

/// What was written past us stays of the older version.
const AGAIN_UNDER: &str = "no; make the change again upon the newer one, by locked";

/// The same file stays of the older version.
const AGAIN_PUT: &str = "no, not with that file; make the change again upon the newer one";

/// What to do, for where it was typed.
pub(super) fn step(way: &Way, target: &Target, cwd: &Path, shown: &str, base: Base<'_>) -> Step {
    let root = target.worktree();
    let git = match root {
        Some(root) if !cwd.starts_with(root) => format!("git -C {}", path(root)),
        _ => "git".to_owned(),
    };
    let inside = root.and_then(|root| target.path.strip_prefix(root).ok()).unwrap_or(&target.path);
    let spec = if git == "git" { shown.to_owned() } else { path(inside) };
    let decrypt = decrypt(shown, &target.path);
    let aside = aside(&git, target, shown);
    let line = Line { git, spec, inside: path(inside), shown, aside, decrypt, autostash: false };
    let next = match (base, way) {
        // The newest lies below the plaintext that was written over it.
        (Base::Read, Way::ReadAgain) if files::is_plaintext(&target.path) => {
            format!("mv {shown} {} && locked restore {shown} && {}", line.aside, line.decrypt)
        }
        // It was taken away, or emptied.
        (Base::Read, Way::ReadAgain) if files::is_nothing(&target.path) => {
            format!("locked restore {shown} && {}", line.decrypt)
        }
        (Base::Read, Way::ReadAgain) => line.of(way),
        // What has no receipt cannot be committed past the hooks.
        (Base::Under, Way::CommitHere(then)) => {
            format!("{} stash push -- {} && {}", line.git, line.spec, line.of(then))
        }
        (Base::Read, way) if wants(way).is_none() => format!("{} && {}", line.of(way), line.decrypt),
        _ => line.of(way),
    };
    let retry = match (wants(way), base) {
        (Some(wants), _) => wants,
        (None, Base::File) => "yes, after the next step".to_owned(),
        (None, Base::Under) => AGAIN_UNDER.to_owned(),
        (None, Base::Read) => AGAIN_READ.to_owned(),
        (None, Base::Put { .. }) => AGAIN_PUT.to_owned(),
    };
    let brings_back = base == Base::Read && *way == Way::ReadAgain && next.contains("locked restore");
    Step { retry, next, brings_back }
}

/// The line that reads it again.
pub(super) fn decrypt(shown: &str, path: &Path) -> String {
    format!("locked sops decrypt{} {shown}", rules::types(path))
}

/// What somebody must do first that no command here does.
fn wants(way: &Way) -> Option<String> {
    match way {
        Way::AskThere { host, worktree, .. } => {
            let place = worktree.as_deref().map(|root| format!(" in {}", quoted(root))).unwrap_or_default();
            Some(format!("yes, once it was committed and pushed on {}{place}, after the next step", quoted(host)))
        }
        Way::EndThere { worktree } => {
            Some(format!("yes, once it is committed in {}, where git is in the middle of something", quoted(worktree)))
        }
        Way::EndFirst => Some("yes, once what git is in the middle of here has ended".to_owned()),
        Way::Git(why) => Some(format!("yes, once git works here, which knows where the newer one is: {why}")),
        Way::TooMany => {
            Some("yes, with --accept-stale, once you know that this version lacks nothing of the newer ones".to_owned())
        }
        Way::CommitHere(then) | Way::PutAside(then) | Way::PastOthers(then) | Way::BackToHead(then) => wants(then),
        Way::FetchWhole { then, .. } => wants(then),
        _ => None,
    }
}

pub(super) fn path(path: &Path) -> String {
    shell_path(path)
}

pub(super) fn quoted(text: &str) -> String {
    shell_quote(text.as_bytes())
}

#[cfg(test)]
mod tests;
