//! What is said of bases. Who, when, on which branch, where; and the one command that brings the newer version.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::lineage::{Base, Note, Way};
use crate::naming::Target;
use crate::notes;
use crate::report::{Refusal, clock_time, day_and_time};
use crate::store::StoredReceipt;
use crate::terms::shell_quote;

use super::super::files;

/// A newer version would be lost.
pub(super) fn stale(newer: &StoredReceipt, shown: &str, base: Base<'_>, step: Step) -> Refusal {
    let what = match base {
        Base::File => format!("{shown} is an older version here; writing upon it would lose a newer one"),
        Base::Under => format!("{shown} was made from an older version here; taking it in would lose a newer one"),
        Base::Read => format!("the plaintext for {shown} is of an older version; encrypting it would lose a newer one"),
        Base::Put { .. } => format!("what is put over {shown} is of an older version; it would lose a newer one"),
    };
    Refusal {
        word: "REFUSED",
        what,
        why: format!("the newer one was written by {}; nothing was run", who(newer)),
        retry: step.retry,
        next: step.next,
    }
}

/// The file changed between the reading and the encrypting, and nobody knows by whom.
pub(super) fn gone_on(shown: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("{shown} has changed since this session decrypted it; encrypting that plaintext would undo it"),
        why: "what it holds now is not what the plaintext was read from; nothing was run".to_owned(),
        retry: AGAIN_READ.to_owned(),
        next: format!("locked sops decrypt {shown}"),
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

/// Whether to try again, and the one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    retry: String,
    next: String,
}

/// The same plaintext stays of the older version.
const AGAIN_READ: &str = "not with that plaintext; make the change again in what the next step shows";

/// What was written past us stays of the older version.
const AGAIN_UNDER: &str = "no; make the change again upon the newer one, by locked";

/// The same file stays of the older version.
const AGAIN_PUT: &str = "not with that file; make the change again upon the newer one";

/// What to do, for where it was typed.
pub(super) fn step(way: &Way, target: &Target, cwd: &Path, shown: &str, base: Base<'_>) -> Step {
    let root = target.worktree();
    let git = match root {
        Some(root) if !cwd.starts_with(root) => format!("git -C {}", path(root)),
        _ => "git".to_owned(),
    };
    let inside = root.and_then(|root| target.path.strip_prefix(root).ok()).unwrap_or(&target.path);
    let spec = if git == "git" { shown.to_owned() } else { path(inside) };
    let steps = Steps { git, spec, inside: path(inside), shown };
    let next = match (base, way) {
        // The newest lies below the plaintext that was written over it.
        (Base::Read, Way::ReadAgain) if files::is_plaintext(&target.path) => {
            format!("mv {shown} {0} && locked restore {shown} && locked sops decrypt {shown}", aside(shown))
        }
        (Base::Read, Way::ReadAgain) => steps.of(way),
        // What has no receipt cannot be committed past the hooks.
        (Base::Under, Way::CommitHere(then)) => {
            format!("{} stash push -- {} && {}", steps.git, steps.spec, steps.of(then))
        }
        (Base::Read, way) if steps.wants(way).is_none() => format!("{} && locked sops decrypt {shown}", steps.of(way)),
        _ => steps.of(way),
    };
    let retry = match (steps.wants(way), base) {
        (Some(wants), _) => wants,
        (None, Base::File) => "yes, after the next step".to_owned(),
        (None, Base::Under) => AGAIN_UNDER.to_owned(),
        (None, Base::Read) => AGAIN_READ.to_owned(),
        (None, Base::Put { .. }) => AGAIN_PUT.to_owned(),
    };
    Step { retry, next }
}

/// Where plaintext is put out of the way: beside itself.
fn aside(spec: &str) -> String {
    format!("{spec}.plain")
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
    /// What somebody must do first that no command here does.
    fn wants(&self, way: &Way) -> Option<String> {
        match way {
            Way::AskThere { host, worktree } => {
                let place = worktree.as_deref().map(|root| format!(" in {}", quoted(root))).unwrap_or_default();
                Some(format!("yes, once it was committed and pushed on {}{place}, after the next step", quoted(host)))
            }
            Way::EndThere { worktree } => Some(format!(
                "yes, once it is committed in {}, where git is in the middle of something",
                quoted(worktree)
            )),
            Way::EndFirst => Some("yes, once what git is in the middle of here has ended".to_owned()),
            Way::Git(why) => Some(format!("yes, once git works here, which knows where the newer one is: {why}")),
            Way::CommitHere(then) | Way::PutAside(then) => self.wants(then),
            _ => None,
        }
    }

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
            Way::CommitHere(then) => {
                format!("{git} commit -m 'Update {}' -- {spec} && {}", self.plain(), self.of(then))
            }
            Way::PutAside(then) => {
                format!("mv {shown} {} && {git} checkout HEAD -- {spec} && {}", aside(shown), self.of(then))
            }
            Way::CommitThere { worktree, push, then } => {
                let there = format!("git -C {}", quoted(worktree));
                let push = if *push { format!(" && {there} push") } else { String::new() };
                format!("{there} commit -m 'Update {}' -- {inside}{push} && {}", self.plain(), self.of(then))
            }
            Way::PushThere { worktree, then } => format!("git -C {} push && {}", quoted(worktree), self.of(then)),
            Way::PullThere { place, branch } => {
                format!("{git} pull --no-rebase {} {}", quoted(place), quoted(branch))
            }
            Way::EndThere { worktree } => format!("git -C {} status", quoted(worktree)),
            Way::AskThere { .. } => format!("{git} pull"),
            Way::ReadAgain => format!("locked sops decrypt {shown}"),
            Way::EndFirst | Way::Git(_) => format!("{git} status"),
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::terms::{Digest, FencingToken, Resource, ResourceName, Scope};

    use super::*;

    fn newer() -> StoredReceipt {
        StoredReceipt {
            scope: Scope("h/r".to_owned()),
            path: "a.yaml".to_owned(),
            base: None,
            new: Digest::of(b"2"),
            blob: None,
            branch: Some("main".to_owned()),
            host: "ws-2".to_owned(),
            worktree: Some("/home/ana/in fra".to_owned()),
            token: FencingToken(1),
            holder: "3f2a91c0 (claude@ws-2)".to_owned(),
            kind: "proven".to_owned(),
            at: 0,
        }
    }

    fn plain_step() -> Step {
        Step { retry: "yes, after the next step".to_owned(), next: "git pull".to_owned() }
    }

    #[test]
    fn a_refusal_says_who_when_on_which_branch_where_and_what_next() {
        let at = day_and_time(0);
        assert_eq!(
            stale(&newer(), "a.yaml", Base::File, plain_step()).to_string(),
            format!(
                "REFUSED: a.yaml is an older version here; writing upon it would lose a newer one\n\
                 why:   the newer one was written by 3f2a91c0 (claude@ws-2) at {at} on main (ws-2:'/home/ana/in fra'); nothing was run\n\
                 retry: yes, after the next step\n\
                 next:  git pull"
            )
        );
        let said = note(&Note::Diverged(&newer(), "a b".to_owned()), "a.yaml");
        assert!(said.starts_with("locked: a.yaml: a newer version is on another branch ('a b'); 3f2a91c0 "), "{said}");
        let word = accepted(&stale(&newer(), "a.yaml", Base::File, plain_step()));
        assert!(word.ends_with("(ws-2:'/home/ana/in fra')"), "{word}");
    }

    #[test]
    fn every_way_is_a_line_that_can_be_pasted() {
        let repository = crate::git::Repository {
            worktree_root: PathBuf::from("/w t"),
            git_dir: PathBuf::from("/w t/.git"),
            common_dir: PathBuf::from("/w t/.git"),
        };
        let target = Target {
            path: PathBuf::from("/w t/s/a b.yaml"),
            resource: Resource { name: ResourceName::of("sops", b"a"), scope: Scope("h/r".to_owned()) },
            link: None,
            key: "s/a%20b.yaml".to_owned(),
            repository: Some(repository),
            stem_from: String::new(),
        };
        let pull = |diverged, from: Option<(&str, &str)>| Way::Pull {
            from: from.map(|(remote, branch)| (remote.to_owned(), branch.to_owned())),
            diverged,
        };
        let there = |push| Way::CommitThere { worktree: "/o".to_owned(), push, then: Box::new(pull(false, None)) };
        let table = [
            (Way::Merge("origin/main".to_owned()), "git merge origin/main"),
            (Way::Checkout("-x y".to_owned()), "git checkout '-x y' -- 'a b.yaml'"),
            (Way::PastSparse, "git checkout --ignore-skip-worktree-bits HEAD -- 'a b.yaml'"),
            (pull(false, None), "git pull"),
            (pull(true, Some(("origin", "main"))), "git pull --no-rebase origin main"),
            (
                Way::FetchAndCheckout { remote: "origin".to_owned(), from: "origin/main".to_owned() },
                "git fetch origin && git checkout origin/main -- 'a b.yaml'",
            ),
            (there(false), "git -C /o commit -m 'Update s/a b.yaml' -- 's/a b.yaml' && git pull"),
            (there(true), "git -C /o commit -m 'Update s/a b.yaml' -- 's/a b.yaml' && git -C /o push && git pull"),
            (
                Way::PushThere { worktree: "/o".to_owned(), then: Box::new(pull(false, None)) },
                "git -C /o push && git pull",
            ),
            (Way::AskThere { host: "far".to_owned(), worktree: None }, "git pull"),
            (
                Way::CommitHere(Box::new(pull(true, None))),
                "git commit -m 'Update s/a b.yaml' -- 'a b.yaml' && git pull --no-rebase",
            ),
            (
                Way::PutAside(Box::new(pull(false, None))),
                "mv 'a b.yaml' 'a b.yaml'.plain && git checkout HEAD -- 'a b.yaml' && git pull",
            ),
            (
                Way::PullThere { place: "/o t".to_owned(), branch: "main".to_owned() },
                "git pull --no-rebase '/o t' main",
            ),
            (Way::EndThere { worktree: "/o".to_owned() }, "git -C /o status"),
            (Way::EndFirst, "git status"),
            (Way::ReadAgain, "locked sops decrypt 'a b.yaml'"),
        ];
        for (way, expected) in table {
            assert_eq!(step(&way, &target, Path::new("/w t/s"), "'a b.yaml'", Base::File).next, expected);
        }
        let from_outside =
            step(&Way::Checkout("main".to_owned()), &target, Path::new("/"), "'w t/s/a b.yaml'", Base::File);
        assert_eq!(from_outside.next, "git -C '/w t' checkout main -- 's/a b.yaml'");
        // What is of an older version stays so: nobody is told to do the same again.
        let read = step(&pull(false, None), &target, Path::new("/w t/s"), "'a b.yaml'", Base::Read);
        assert_eq!(read.next, "git pull && locked sops decrypt 'a b.yaml'");
        let put =
            step(&pull(false, None), &target, Path::new("/w t/s"), "'a b.yaml'", Base::Put { over: None, by: "" });
        for (one, word) in [(read, "not with that plaintext"), (put, "not with that file")] {
            assert!(one.retry.starts_with(word), "{}", one.retry);
        }
    }
}
