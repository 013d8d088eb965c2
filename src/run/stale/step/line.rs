//! A way as a line that can be pasted.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::Path;

use crate::lineage::Way;
use crate::naming::Target;

use super::quoted;

/// Where plaintext is put out of the way: into the directory of git itself, which no commit takes in. Without a repository beside
/// itself.
pub(super) fn aside(git: &str, target: &Target, shown: &str) -> String {
    let inside = target.repository.as_ref().and_then(|repository| repository.inside(&target.path));
    let name = inside.map(|inside| {
        // By its whole path: files of one name in two directories are not put over each other.
        let mut name = inside.iter().collect::<Vec<_>>().join(OsStr::new("-"));
        name.push(".plain");
        super::path(Path::new(&name))
    });
    name.map_or_else(|| format!("{shown}.plain"), |name| format!("\"$({git} rev-parse --absolute-git-dir)\"/{name}"))
}

/// What every line is made of.
#[derive(Clone)]
pub(super) struct Line<'a> {
    /// git, in the repository of the file.
    pub(super) git: String,
    /// The file, as git takes it here.
    pub(super) spec: String,
    /// The file, from the root of a work tree.
    pub(super) inside: String,
    /// The file, as it was typed.
    pub(super) shown: &'a str,
    /// Where plaintext is put out of the way.
    pub(super) aside: String,
    /// What reads it again.
    pub(super) decrypt: String,
    /// Merges and pulls put aside what is uncommitted in other files.
    pub(super) autostash: bool,
}

impl Line<'_> {
    pub(super) fn of(&self, way: &Way) -> String {
        let Self { git, spec, inside, shown, aside, .. } = self;
        let past = if self.autostash { " --autostash" } else { "" };
        match way {
            Way::Merge(from) => format!("{git} merge{past} {}", quoted(from)),
            Way::Checkout(from) => format!("{git} checkout {} -- {spec}", quoted(from)),
            Way::PastSparse => format!("{git} checkout --ignore-skip-worktree-bits HEAD -- {spec}"),
            Way::FromIndex { aside: false } => format!("{git} checkout -- {spec}"),
            Way::FromIndex { aside: true } => format!("mv {shown} {aside} && {git} checkout -- {spec}"),
            Way::Pull { from, diverged } => {
                let join = if *diverged { " --no-rebase" } else { "" };
                let from = from.as_ref().map(|(remote, branch)| format!(" {} {}", quoted(remote), quoted(branch)));
                format!("{git} pull{join}{past}{}", from.unwrap_or_default())
            }
            Way::FetchAndCheckout { remote, branch, from } => {
                let branch = branch.as_ref().map(|branch| format!(" {}", quoted(branch))).unwrap_or_default();
                format!("{git} fetch {}{branch} && {git} checkout {} -- {spec}", quoted(remote), quoted(from))
            }
            Way::Fetch(remote) => format!("{git} fetch {}", quoted(remote)),
            Way::FetchWhole { remote, then } => {
                let all = quoted(&format!("+refs/heads/*:refs/remotes/{remote}/*"));
                format!("{git} fetch --unshallow {} {all} && {}", quoted(remote), self.of(then))
            }
            Way::BackToHead(then) => format!("{git} checkout HEAD -- {spec} && {}", self.of(then)),
            Way::PastOthers(then) => Self { autostash: true, ..self.clone() }.of(then),
            Way::CommitHere(then) => {
                format!("{git} commit -m 'Update {}' -- {spec} && {}", self.plain(), self.of(then))
            }
            Way::PutAside(then) => {
                format!("mv {shown} {aside} && {git} checkout HEAD -- {spec} && {}", self.of(then))
            }
            Way::CommitThere { worktree, push, then } => {
                let there = format!("git -C {}", quoted(worktree));
                let push = if *push { format!(" && {there} push") } else { String::new() };
                format!("{there} commit -m 'Update {}' -- {inside}{push} && {}", self.plain(), self.of(then))
            }
            Way::PushThere { worktree, then } => format!("git -C {} push && {}", quoted(worktree), self.of(then)),
            Way::PullThere { place, branch } => {
                format!("{git} pull --no-rebase{past} {} {}", quoted(place), quoted(branch))
            }
            Way::EndThere { worktree } => format!("git -C {} status", quoted(worktree)),
            Way::AskThere { from, .. } => {
                let from = from.as_ref().map(|(remote, branch)| format!(" {} {}", quoted(remote), quoted(branch)));
                let join = if from.is_some() { " --no-rebase" } else { "" };
                format!("{git} pull{join}{past}{}", from.unwrap_or_default())
            }
            Way::TooMany => format!("{git} log --oneline -- {spec}"),
            Way::ReadAgain => self.decrypt.clone(),
            Way::EndFirst | Way::Git(_) => format!("{git} status"),
        }
    }

    /// The file inside of a commit's message in single quotes.
    fn plain(&self) -> String {
        self.inside.replace(['\'', '$', '\\'], "")
    }
}
