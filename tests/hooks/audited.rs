//! `locked audit`: over commits, by content, by receipts, and in a receiving repository.
#![forbid(unsafe_code)]

use std::process::Command;

use serde_json::Value;

use super::yard::{FILE, Yard, ends, says, text, versions};
use super::zones::now;
use crate::run::server::database;
use crate::world::board::write_program;
use crate::world::cluster::{self, Desk};

fn json(command: &mut Command, status: i32) -> Value {
    serde_json::from_slice(&ends(command.arg("--json"), status).stdout).expect("JSON")
}

/// What is wrong, in order: path and word.
fn wrong(value: &Value) -> Vec<(String, String)> {
    let word = |finding: &Value, name: &str| finding[name].as_str().expect("text").to_owned();
    let all = value["findings"].as_array().expect("findings");
    all.iter().map(|finding| (word(finding, "path"), word(finding, "wrong"))).collect()
}

fn commit(yard: &Yard, path: &str, content: &[u8]) {
    yard.write(path, content);
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-q", "--no-verify", "-m", path]);
}

#[test]
fn without_a_shared_store_contents_are_looked_at_and_that_is_said() {
    let yard = Yard::without_hooks();
    let said = says(yard.locked().args(["audit", "HEAD"]), 0);
    assert!(said.contains("content only"), "{said}");
    commit(&yard, "secrets/p.env", b"A=1\n");
    commit(&yard, FILE, &versions().foreign);
    commit(&yard, "secrets/p.env", &versions().second);
    let all = json(yard.locked().args(["audit", "base..HEAD"]), 72);
    let expected = [("secrets/p.env", "plaintext"), (FILE, "recipients")];
    assert_eq!(wrong(&all), expected.map(|(path, wrong)| (path.to_owned(), wrong.to_owned())));
    assert_eq!((&all["commits"], &all["versions"], &all["receipts"]), (&3.into(), &3.into(), &false.into()));
    // As the files are now.
    assert_eq!(wrong(&json(yard.locked().args(["audit"]), 72)), [(FILE.to_owned(), "recipients".to_owned())]);
    let report = text(&ends(yard.locked().args(["audit", "base..HEAD"]), 72).stdout);
    assert!(report.starts_with("3 commits, 3 versions of SOPS files, 2 findings\n"), "{report}");
    assert_eq!(report.lines().count(), 3, "{report}");
    for range in ["nobody..HEAD", "--all", "HEAD..--all", "refs/heads/none"] {
        let said = says(yard.locked().args(["audit", "--", range]), 64);
        assert!(said.contains("names no commit"), "{range}: {said}");
    }
    let said = says(yard.locked().args(["audit", "origin/main..HEAD"]), 64);
    assert!(said.ends_with("next:  git fetch origin '+refs/heads/*:refs/remotes/origin/*'\n"), "{said}");
    assert_eq!(wrong(&json(yard.locked().args(["audit", "HEAD..HEAD"]), 0)), []);
}

#[test]
fn receipts_tell_what_was_written_past_locked_and_what_was_written_without_seeing() {
    let yard = Yard::without_hooks();
    let address = database("of_an_audit");
    let set = |key: &str| {
        let mut locked = yard.locked();
        // On the other branch it goes on from an older version, which is somebody's word.
        locked.args(["--accept-stale", "sops", "set", FILE, &format!("[\"{key}\"]"), "\"3\""]);
        locked.env("LOCKED_STORE", &address);
        ends(&mut locked, 0);
        std::fs::read(yard.path(FILE)).expect("file")
    };
    let audit = |args: &[&str], status: i32| {
        let mut locked = yard.locked();
        json(locked.arg("audit").args(args).env("LOCKED_STORE", &address), status)
    };
    // Another file than all other tests have, which this world's key opens.
    std::fs::write(yard.path(".sops.yaml"), format!("creation_rules:\n  - age: {}\n", yard.world.recipient()))
        .expect("rules");
    std::fs::copy(yard.world.encrypted("x.env", "A=1\nB=1\n", "dotenv"), yard.path(FILE)).expect("copied");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-q", "--no-verify", "-m", "before"]);
    yard.git(&["tag", "before"]);
    let one = set("A");
    yard.git(&["commit", "-q", "--no-verify", "-am", "one"]);
    let seen = audit(&["before..HEAD"], 0);
    assert_eq!((wrong(&seen), &seen["receipts"]), (vec![], &true.into()));
    // On another branch somebody writes from the version before it; that file is then taken over as it is.
    yard.git(&["switch", "-qc", "side", "before"]);
    set("B");
    yard.git(&["commit", "-q", "--no-verify", "-am", "side"]);
    assert_eq!(wrong(&audit(&["before..HEAD"], 0)), []);
    yard.git(&["switch", "-q", "main"]);
    yard.git(&["checkout", "-q", "side", "--", FILE]);
    yard.git(&["commit", "-q", "--no-verify", "-am", "taken over"]);
    let stale = audit(&["before..HEAD"], 73);
    assert_eq!(wrong(&stale), [(FILE.to_owned(), "stale".to_owned())]);
    // A revert is none, and a version that nobody wrote under a lease is one.
    yard.write(FILE, &one);
    yard.git(&["commit", "-q", "--no-verify", "-am", "back"]);
    assert_eq!(wrong(&audit(&["HEAD^..HEAD"], 0)), [], "what lies before the range is history as well");
    assert_eq!(wrong(&audit(&["before..HEAD"], 0)), [], "and what was lost is there again");
    // Back to what stood there before anything had a receipt.
    yard.git(&["checkout", "-q", "before", "--", FILE]);
    yard.git(&["commit", "-q", "--no-verify", "-am", "far back"]);
    assert_eq!(wrong(&audit(&["HEAD^..HEAD"], 0)), []);
    yard.write(FILE, &one);
    yard.git(&["commit", "-q", "--no-verify", "-am", "and forth"]);
    ends(yard.world.sops().args(["set", yard.path(FILE).to_str().expect("UTF-8"), "[\"A\"]", "\"4\""]), 0);
    yard.git(&["commit", "-q", "--no-verify", "-am", "past locked"]);
    assert_eq!(wrong(&audit(&["HEAD^..HEAD"], 73)), [(FILE.to_owned(), "unlocked".to_owned())]);
    // Without an answer: not looked at is not in order.
    let mut down = yard.locked();
    down.args(["audit", "HEAD~2..HEAD"]).env("LOCKED_STORE", "postgres://u@127.0.0.1:1/x?connect_timeout=2");
    says(&mut down, 69);
    commit(&yard, "secrets/p.env.sops", b"A=1\n");
    let told = json(&mut down, 72);
    assert_eq!(wrong(&told), [("secrets/p.env.sops".to_owned(), "plaintext".to_owned())]);
    assert_eq!(told["receipts_why"], "the store does not answer");
}

/// Two lines of commits have written one file, and have met in whatever way.
#[test]
fn an_update_is_lost_where_the_last_version_lacks_it_and_nobody_has_decided_so() {
    let yard = Yard::without_hooks();
    let address = database("of_a_meeting");
    let set = |key: &str, value: &str| {
        let mut locked = yard.locked();
        let index = format!("[\"{key}\"]");
        locked.args(["-n", "sops", "set", FILE, &index, &format!("\"{value}\"")]).env("LOCKED_STORE", &address);
        ends(&mut locked, 0);
        yard.git(&["add", FILE]);
    };
    let commits = |message: &str| drop(yard.git(&["commit", "-q", "--no-verify", "-m", message]));
    #[track_caller]
    fn audits(yard: &Yard, address: &str, what: &str, lost: bool) {
        let mut locked = yard.locked();
        let told = json(locked.args(["audit", "main..HEAD"]).env("LOCKED_STORE", address), if lost { 73 } else { 0 });
        let expected = lost.then(|| (FILE.to_owned(), "stale".to_owned()));
        assert_eq!(wrong(&told), expected.into_iter().collect::<Vec<_>>(), "{what}");
    }
    std::fs::write(yard.path(".sops.yaml"), format!("creation_rules:\n  - age: {}\n", yard.world.recipient()))
        .expect("rules");
    std::fs::copy(yard.world.encrypted("x.env", "A=1\nM=1\nB=1\n", "dotenv"), yard.path(FILE)).expect("copied");
    yard.git(&["add", "-A"]);
    commits("before");
    // One line changes a value and adds one, the other one something else; each has its own branch.
    yard.git(&["switch", "-qc", "side"]);
    set("B", "2");
    // Committed when the other one was there already, as far as anybody can tell.
    let later = format!("@{} +0000", now() + 3600);
    let commit = ["commit", "-q", "--no-verify", "-m", "side"];
    ends(yard.command("git").env("GIT_AUTHOR_DATE", later).args(commit), 0);
    yard.git(&["switch", "-q", "main"]);
    set("A", "2");
    set("NEW", "1");
    commits("main");
    // As it is taken over without a word of git's, that is a loss; put in again it is none, in whatever number of commits.
    yard.git(&["switch", "-qc", "taken", "main"]);
    yard.git(&["checkout", "-q", "side", "--", FILE]);
    commits("taken over");
    audits(&yard, &address, "a file of another branch", true);
    set("NEW", "1");
    commits("new");
    audits(&yard, &address, "a value is still the old one", true);
    let report = text(&ends(yard.locked().args(["audit", "main..HEAD"]).env("LOCKED_STORE", &address), 73).stdout);
    assert!(report.contains(", of which is lost: A\n"), "{report}");
    set("A", "9");
    commits("a");
    audits(&yard, &address, "all is there again", false);
    yard.git(&["switch", "-qc", "squashed", "main"]);
    yard.git(&["checkout", "-q", "taken", "--", FILE]);
    commits("squashed");
    audits(&yard, &address, "a squash of that", false);
    yard.git(&["switch", "-qc", "gone", "taken"]);
    yard.git(&["rm", "-q", FILE]);
    commits("gone");
    audits(&yard, &address, "the last that there was had all", false);
    // A merge is somebody's decision, whatever it takes.
    yard.git(&["switch", "-qc", "merged", "side"]);
    let meets = |args: &[&str]| assert!(!yard.try_git(args).status.success(), "{args:?} meets");
    meets(&["merge", "-q", "main"]);
    yard.git(&["checkout", "-q", "--ours", FILE]);
    set("M", "2");
    commits("merged");
    audits(&yard, &address, "a merge that drops a side", false);
    // A rebase is none, whatever the dates say: git need not have asked anybody.
    yard.git(&["switch", "-qc", "rebased", "side"]);
    meets(&["rebase", "-q", "main"]);
    yard.git(&["checkout", "-q", "--theirs", FILE]);
    yard.git(&["add", FILE]);
    yard.git(&["-c", "core.editor=true", "rebase", "--continue"]);
    audits(&yard, &address, "a rebase of what is younger", true);
    let mut config = cluster::shared().config("postgres");
    config.dbname("of_a_meeting");
    let of_main = "update locked.receipts set at = at + interval '2 hours' \
                   where id in (select id from locked.receipts order by id limit 2 offset 1)";
    Desk::at(&config).and_then(|desk| desk.sql(of_main)).expect("later");
    audits(&yard, &address, "a rebase of what is older: nobody knows whether git has asked", true);
    set("M", "3");
    yard.git(&["commit", "-q", "--no-verify", "--amend", "--no-edit"]);
    audits(&yard, &address, "the same, amended", true);
    // And in some ways git asks nobody, and keeps the date.
    yard.git(&["switch", "-qc", "reset", "side"]);
    yard.git(&["reset", "-q", "--soft", "main"]);
    yard.git(&["commit", "-q", "--no-verify", "-C", "side"]);
    audits(&yard, &address, "a commit under another one's date", true);
    // A person's word for it, and whatever comes after that.
    let locked =
        |args: &[&str], status: i32| text(&ends(yard.locked().args(args).env("LOCKED_STORE", &address), status).stdout);
    let report = locked(&["audit", "main..HEAD"], 73);
    assert!(report.ends_with(&format!("or, if it is to stay so: locked --accept-stale adopt {FILE}\n")), "{report}");
    locked(&["-n", "sops", "rotate", "-i", FILE], 0);
    yard.git(&["add", FILE]);
    commits("rotated");
    audits(&yard, &address, "under another data key", true);
    locked(&["--accept-stale", "adopt", FILE], 0);
    audits(&yard, &address, "somebody has said so", false);
    set("M", "4");
    commits("on and on");
    audits(&yard, &address, "and it stays so", false);
    // What was put in again stays settled whatever is made of it.
    yard.git(&["switch", "-qc", "rotated", "taken"]);
    locked(&["-n", "sops", "rotate", "-i", FILE], 0);
    yard.git(&["add", FILE]);
    commits("rotated");
    audits(&yard, &address, "a rotation of what has all", false);
}

#[test]
fn a_receiving_repository_refuses_what_is_pushed_past_every_hook() {
    let yard = Yard::without_hooks();
    yard.git(&["init", "-q", "--bare", "../o.git"]);
    let hook = yard.root().parent().expect("parent").join("o.git/hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().expect("parent")).expect("directory");
    write_program(&hook, &format!("#!/bin/sh\nexec '{}' audit --pre-receive\n", env!("CARGO_BIN_EXE_locked")));
    yard.is(&["push", "-q", "../o.git", "main"], None);
    // Whoever set this up with a store believes that receipts are asked for.
    commit(&yard, "secrets/q.env", &versions().second);
    let mut push = yard.command("git");
    push.args(["push", "-q", "../o.git", "main"]).env("LOCKED_STORE", "postgres://u@127.0.0.1:1/x");
    let said = text(&ends(&mut push, 0).stderr);
    assert!(said.contains("content only, receipts were not asked for: a bare repository does not tell"), "{said}");
    yard.git(&["reset", "-q", "--hard", "base"]);
    yard.git(&["push", "-qf", "../o.git", "main"]);
    // A tag may name a tree that no commit has.
    commit(&yard, "secrets/p.env", b"A=1\n");
    yard.git(&["tag", "-a", "-m", "tree", "of-a-tree", "HEAD^{tree}"]);
    let said = text(&yard.try_git(&["push", "-q", "../o.git", "of-a-tree"]).stderr);
    assert!(said.contains("cannot be taken in: the file is plaintext"), "{said}");
    ends(yard.locked().args(["hooks", "install"]), 0);
    yard.is(&["push", "-q", "../o.git", "of-a-tree"], Some("cannot be pushed: the file is plaintext"));
    ends(yard.locked().args(["hooks", "uninstall"]), 0);
    yard.git(&["tag", "good-tree", "base^{tree}"]);
    yard.is(&["push", "-q", "../o.git", "good-tree"], None);
    commit(&yard, "secrets/p.env", &versions().second);
    let output = yard.try_git(&["push", "-q", "../o.git", "main"]);
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("cannot be taken in: the file is plaintext"), "{said}");
    yard.git(&["reset", "-q", "--hard", "base"]);
    commit(&yard, "secrets/p.env", &versions().second);
    yard.is(&["push", "-q", "../o.git", "main", "main:other"], None);
    yard.is(&["push", "-q", "../o.git", ":other"], None);
}

#[test]
fn what_a_shallow_clone_cannot_see_is_no_clean_range() {
    let yard = Yard::without_hooks();
    commit(&yard, FILE, b"A=1\n");
    commit(&yard, FILE, &versions().first);
    let (from, to) = (format!("file://{}", yard.root().display()), yard.root().parent().expect("parent").join("ci"));
    let to = to.to_str().expect("UTF-8");
    yard.git(&["clone", "-q", "--depth=1", &from, to]);
    yard.git(&["-C", to, "fetch", "-q", "--depth=1", "origin", "tag", "base"]);
    let audit = |range: &str, status: i32| {
        let mut locked = yard.locked();
        locked.current_dir(to).args(["audit", range]);
        let output = ends(&mut locked, status);
        text(&output.stdout) + &text(&output.stderr)
    };
    for range in ["base..HEAD", "HEAD"] {
        let said = audit(range, 64);
        assert!(said.contains("goes back to where this shallow clone begins"), "{said}");
        assert!(said.ends_with("next:  git fetch --unshallow\n"), "{said}");
    }
    yard.git(&["-C", to, "fetch", "-q", "--unshallow"]);
    assert!(audit("base..HEAD", 72).contains("the file is plaintext"));
    // What lies within it is looked at as ever.
    yard.git(&["-C", to, "fetch", "-q", "--depth=2", "origin", "main"]);
    assert!(audit("HEAD~1..HEAD", 0).contains("1 commit, 1 version"));
}
