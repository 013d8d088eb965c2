//! Versions that no ref of their writer's clone has any more: what may have been pushed is not called discarded.

use std::path::Path;

use super::stage::{At, FILE, Stage};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn url(stage: &Stage) -> String {
    format!("file://{}", stage.dir("origin.git").display())
}

/// The remote, as it was, of which nothing is known.
fn anew(stage: &Stage, a: &Path) {
    stage.git(a, &["remote", "remove", "origin"]);
    stage.git(a, &["remote", "add", "origin", &url(stage)]);
}

/// A writes and commits; what it has of that is gone.
fn gone(stage: &Stage, a: &Path, pushes: bool) {
    stage.sets(1, a, "A1");
    stage.commit(a, "A1");
    if pushes {
        stage.git(a, &["push", "-q"]);
    }
    stage.git(a, &["reset", "-q", "--hard", "HEAD~1"]);
}

#[test]
fn what_was_pushed_is_brought_whatever_became_of_the_remote() {
    type Scene = fn(&Stage, &Path);
    let scenes: [(&str, Scene); 4] = [
        ("removed", |stage, a| drop(stage.git(a, &["remote", "remove", "origin"]))),
        ("renamed", |stage, a| drop(stage.git(a, &["remote", "rename", "origin", "up"]))),
        ("set anew", anew),
        ("its branch was dropped", |stage, a| {
            // It went by another branch, which somebody has merged and taken away.
            stage.git(a, &["checkout", "-q", "-b", "gone", "ORIG_HEAD"]);
            stage.git(a, &["update-ref", "-d", "refs/remotes/origin/main"]);
            stage.git(a, &["update-ref", "refs/remotes/origin/main", "main"]);
            stage.git(a, &["checkout", "-q", "-B", "main", "main"]);
            stage.git(a, &["branch", "-q", "-D", "gone"]);
            std::fs::remove_file(a.join(".git/logs/refs/heads/main")).expect("what main had been at");
        }),
    ];
    for (scene, became) in scenes {
        let stage = Stage::new(At::Here);
        let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
        gone(&stage, &a, true);
        became(&stage, &a);
        let (said, line) = stage.refused(2, &b);
        assert_eq!(line, "git pull", "{scene}: {said}");
        stage.runs(&b, &line);
        assert_eq!(stage.sets(2, &b, "B1"), "", "{scene}");
        assert_eq!(stage.keys(&b), ["first", "A1", "B1"], "{scene}");
    }
}

#[test]
fn what_was_not_pushed_is_discarded_once_a_fetch_has_not_brought_it_or_a_day_has_passed() {
    for waits in [false, true] {
        let stage = Stage::new(At::Here);
        let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
        gone(&stage, &a, false);
        stage.git(&a, &["remote", "remove", "origin"]);
        let (_, line) = stage.refused(2, &b);
        if waits {
            stage.newest_is_older_by(DAY_MS);
        } else {
            stage.runs(&b, &line);
        }
        let said = stage.sets(2, &b, "B1");
        assert!(
            said.contains("a newer version was discarded, which nobody has any more; it was written by 01010101"),
            "{said}"
        );
    }
}

#[test]
fn the_checkout_itself_is_told_which_commit_it_was() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    gone(&stage, &a, true);
    anew(&stage, &a);
    let commit = stage.git(&a, &["rev-parse", "--short=12", "ORIG_HEAD"]);
    let (_, line) = stage.refused(2, &a);
    assert_eq!(line, format!("git checkout {} -- {FILE}", commit.trim()));
    stage.runs(&a, &line);
    assert_eq!(stage.sets(2, &a, "B1"), "");
    assert_eq!(stage.keys(&a), ["first", "A1", "B1"]);
}

#[test]
fn every_stash_has_what_it_has() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(1, &a, "A1");
    stage.git(&a, &["stash", "-q"]);
    std::fs::write(a.join(".sops.yaml"), "# another change\n").expect("written");
    stage.git(&a, &["stash", "-q"]);
    let said = stage.sets(2, &a, "B1");
    assert!(said.contains(&format!("a newer version is on another branch ('a stash in {}')", a.display())), "{said}");
}

/// Of a clone that has no remote of its own any more.
#[test]
fn without_a_remote_here_it_is_taken_from_the_clone_that_has_it() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    stage.push(&a);
    let board = stage.world.database();
    let scope: String = board.query_row("select scope from receipts", [], |row| row.get(0)).expect("a scope");
    std::fs::write(b.join(".locked.toml"), format!("scope = {scope:?}\n")).expect("settings");
    stage.git(&b, &["remote", "remove", "origin"]);
    let mut set = stage.set(2, &b, "B1");
    let said = super::stage::says(set.env("LOCKED_TRUST", &b), 74);
    let line = super::stage::next(&said);
    assert_eq!(line, format!("git pull --no-rebase {} main", a.display()));
    stage.runs(&b, &line);
    assert_eq!(super::stage::says(stage.set(2, &b, "B1").env("LOCKED_TRUST", &b), 0), "");
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
}
