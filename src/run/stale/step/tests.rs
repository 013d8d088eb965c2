//! Every way, as a line.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use crate::terms::{Resource, ResourceName, Scope};

use super::*;

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
    let past = |way| Way::PastOthers(Box::new(way));
    let table = [
        (Way::Merge("origin/main".to_owned()), "git merge origin/main"),
        (Way::Checkout("-x y".to_owned()), "git checkout '-x y' -- 'a b.yaml'"),
        (Way::PastSparse, "git checkout --ignore-skip-worktree-bits HEAD -- 'a b.yaml'"),
        (pull(false, None), "git pull"),
        (pull(true, Some(("origin", "main"))), "git pull --no-rebase origin main"),
        (
            Way::FetchAndCheckout { remote: "origin".to_owned(), branch: None, from: "origin/main".to_owned() },
            "git fetch origin && git checkout origin/main -- 'a b.yaml'",
        ),
        (
            Way::FetchAndCheckout {
                remote: "/o t".to_owned(),
                branch: Some("main".to_owned()),
                from: "FETCH_HEAD".to_owned(),
            },
            "git fetch '/o t' main && git checkout FETCH_HEAD -- 'a b.yaml'",
        ),
        (past(Way::Merge("main".to_owned())), "git merge --autostash main"),
        (
            past(there(true)),
            "git -C /o commit -m 'Update s/a b.yaml' -- 's/a b.yaml' && git -C /o push && git pull --autostash",
        ),
        (past(pull(true, Some(("origin", "main")))), "git pull --no-rebase --autostash origin main"),
        (
            past(Way::PullThere { place: "/o".to_owned(), branch: "main".to_owned() }),
            "git pull --no-rebase --autostash /o main",
        ),
        (past(Way::AskThere { host: "far".to_owned(), worktree: None, from: None }), "git pull --autostash"),
        (there(false), "git -C /o commit -m 'Update s/a b.yaml' -- 's/a b.yaml' && git pull"),
        (there(true), "git -C /o commit -m 'Update s/a b.yaml' -- 's/a b.yaml' && git -C /o push && git pull"),
        (Way::PushThere { worktree: "/o".to_owned(), then: Box::new(pull(false, None)) }, "git -C /o push && git pull"),
        (Way::AskThere { host: "far".to_owned(), worktree: None, from: None }, "git pull"),
        (
            Way::CommitHere(Box::new(pull(true, None))),
            "git commit -m 'Update s/a b.yaml' -- 'a b.yaml' && git pull --no-rebase",
        ),
        (
            Way::PutAside(Box::new(pull(false, None))),
            "mv 'a b.yaml' \"$(git rev-parse --absolute-git-dir)\"/'s-a b.yaml.plain' && git checkout HEAD -- 'a b.yaml' && git pull",
        ),
        (Way::PullThere { place: "/o t".to_owned(), branch: "main".to_owned() }, "git pull --no-rebase '/o t' main"),
        (Way::EndThere { worktree: "/o".to_owned() }, "git -C /o status"),
        (
            Way::AskThere {
                host: "far".to_owned(),
                worktree: None,
                from: Some(("origin".to_owned(), "topic".to_owned())),
            },
            "git pull --no-rebase origin topic",
        ),
        (Way::Fetch("origin".to_owned()), "git fetch origin"),
        (
            past(Way::FetchWhole { remote: "origin".to_owned(), then: Box::new(Way::Merge("origin/main".to_owned())) }),
            "git fetch --unshallow origin '+refs/heads/*:refs/remotes/origin/*' && git merge --autostash origin/main",
        ),
        (
            Way::BackToHead(Box::new(Way::Merge("origin/main".to_owned()))),
            "git checkout HEAD -- 'a b.yaml' && git merge origin/main",
        ),
        (Way::FromIndex { aside: false }, "git checkout -- 'a b.yaml'"),
        (
            Way::FromIndex { aside: true },
            "mv 'a b.yaml' \"$(git rev-parse --absolute-git-dir)\"/'s-a b.yaml.plain' && git checkout -- 'a b.yaml'",
        ),
        (Way::TooMany, "git log --oneline -- 'a b.yaml'"),
        (Way::EndFirst, "git status"),
        (Way::ReadAgain, "locked sops decrypt 'a b.yaml'"),
    ];
    for (way, expected) in table {
        assert_eq!(step(&way, &target, Path::new("/w t/s"), "'a b.yaml'", Base::File).next, expected);
    }
    let from_outside = step(&Way::Checkout("main".to_owned()), &target, Path::new("/"), "'w t/s/a b.yaml'", Base::File);
    assert_eq!(from_outside.next, "git -C '/w t' checkout main -- 's/a b.yaml'");
    // What is of an older version stays so: nobody is told to do the same again.
    let read = step(&pull(false, None), &target, Path::new("/w t/s"), "'a b.yaml'", Base::Read);
    assert_eq!(read.next, "git pull && locked sops decrypt 'a b.yaml'");
    let put = step(&pull(false, None), &target, Path::new("/w t/s"), "'a b.yaml'", Base::Put { over: None, by: "" });
    for (one, word) in [(read, "not with that plaintext"), (put, "not with that file")] {
        assert!(one.retry.starts_with(&format!("no, {word}")), "{}", one.retry);
    }
}
