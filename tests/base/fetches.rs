//! What is known of a remote: which fetch proves that a version was pushed to nobody, and which line brings what was.

use std::path::Path;

use super::stage::{At, FILE, Stage};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const FAR: &str = "host = 'far', worktree = '/srv/it'";
const DISCARDED: &str = "a newer version was discarded, which nobody has any more; it was written by 01010101";

#[test]
fn only_a_fetch_of_that_branch_of_that_remote_counts_and_only_if_it_succeeds() {
    let stage = Stage::new(At::Here);
    let (b, c) = (stage.clone("b", &[]), stage.clone("c", &[]));
    let (origin, away) = (stage.dir("origin.git"), stage.dir("away.git"));
    let url = |path: &Path| format!("file://{}", path.display());
    stage.git(&b, &["push", "-q", "origin", "main:other"]);
    stage.git(&b, &["clone", "-q", "--bare", &url(&origin), stage.dir("colleague.git").to_str().expect("UTF-8")]);
    stage.git(&b, &["remote", "add", "colleague", &url(&stage.dir("colleague.git"))]);
    stage.git(&b, &["fetch", "-q", "origin"]);
    stage.sets(1, &c, "C1");
    std::fs::remove_dir_all(&c).expect("removed");
    type Deed<'a> = &'a dyn Fn();
    let fails = || {
        std::fs::rename(&origin, &away).expect("away");
        let pulled = stage.world.command("git").current_dir(&b).args(["pull", "-q"]).output().expect("git");
        assert!(!pulled.status.success());
        std::fs::rename(&away, &origin).expect("back");
    };
    let deeds: [(&str, Deed<'_>); 4] = [
        ("none", &|| {}),
        ("another branch", &|| drop(stage.git(&b, &["fetch", "-q", "origin", "other"]))),
        ("another remote", &|| drop(stage.git(&b, &["fetch", "-q", "colleague"]))),
        ("one that failed", &fails),
    ];
    for (deed, does) in deeds {
        does();
        let (said, line) = stage.refused(2, &b);
        assert_eq!(line, "git pull", "{deed}: {said}");
    }
    stage.runs(&b, "git pull -q");
    // What comes and goes beside the place is not its going.
    std::fs::create_dir(stage.dir("beside")).expect("made");
    let said = stage.sets(2, &b, "B1");
    assert!(said.contains(DISCARDED), "{said}");
}

#[test]
fn a_day_alone_proves_nothing() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    stage.newest_is(FAR);
    stage.newest_is_older_by(DAY_MS);
    // Nothing says when it was cloned.
    std::fs::remove_dir_all(b.join(".git/logs")).expect("forgotten");
    let (said, line) = stage.refused(2, &b);
    assert_eq!(line, "git pull", "{said}");
    stage.runs(&b, &line);
    let said = stage.sets(2, &b, "B1");
    assert!(said.contains(DISCARDED), "{said}");
}

#[test]
fn a_file_that_has_gone_on_elsewhere_has_discarded_nothing() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    stage.newest_is(FAR);
    stage.push(&a);
    stage.git(&a, &["checkout", "-q", "-b", "topic"]);
    stage.sets(1, &a, "T1");
    stage.newest_is(FAR);
    let (said, line) = stage.refused(2, &b);
    assert_eq!(line, "git pull", "{said}");
    stage.runs(&b, &line);
    let said = stage.sets(2, &b, "B1");
    assert!(said.contains("a newer version is on another branch (topic)"), "{said}");
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
}

/// Two machines of one name: here another state directory.
#[test]
fn a_name_of_a_host_is_no_machine() {
    let stage = Stage::new(At::Server);
    let (b, c) = (stage.clone("b", &[]), stage.clone("c", &[]));
    super::stage::says(stage.set(1, &c, "C1").env("LOCKED_STATE_DIR", stage.dir("state-of-another")), 0);
    std::fs::remove_dir_all(&c).expect("removed");
    stage.newest_is_older_by(3_600_000);
    for _ in 0..2 {
        let (said, line) = stage.refused(2, &b);
        assert!(said.contains("\nretry: yes, once it was committed and pushed on "), "{said}");
        assert_eq!(line, "git pull");
        stage.runs(&b, &line);
    }
}

/// And a machine that was started anew is the same one: what is gone there is known to be gone.
#[test]
fn a_machine_that_was_started_anew_is_the_same_one() {
    let stage = Stage::new(At::Here);
    let (b, c) = (stage.clone("b", &[]), stage.clone("c", &[]));
    stage.sets(1, &c, "C1");
    std::fs::remove_dir_all(&c).expect("removed");
    let booted = "update leases set host_id = substr(host_id, 1, 16) || 'ffffffffffffffff'";
    assert_eq!(stage.world.database().execute(booted, []).expect("another boot"), 1);
    stage.git(&b, &["fetch", "-q"]);
    // Of one that it does not remember nobody knows: machines made from one image have all the rest in common.
    assert!(stage.refused(2, &b).0.contains("an older version here"));
    let boots = stage.world.state().join("boots");
    let known = std::fs::read_to_string(&boots).expect("boots");
    std::fs::write(&boots, format!("ffffffffffffffff\n{known}")).expect("remembered");
    let said = stage.sets(2, &b, "B1");
    assert!(said.contains("a newer version was discarded"), "{said}");
}

#[test]
fn what_lies_behind_the_beginning_of_a_shallow_clone_is_fetched() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(1, &a, "A1");
    stage.newest_is(FAR);
    stage.newest_is_older_by(3_600_000);
    stage.push(&a);
    stage.git(&a, &["revert", "--no-edit", "HEAD"]);
    stage.git(&a, &["push", "-q"]);
    let b = stage.clone("b", &["--depth=1"]);
    let (said, line) = stage.refused(2, &b);
    let all = "'+refs/heads/*:refs/remotes/origin/*'";
    assert_eq!(line, format!("git fetch --unshallow origin {all} && git merge origin/main"), "{said}");
    stage.runs(&b, &line);
    assert_eq!(stage.sets(2, &b, "B1"), "");
}

#[test]
fn what_its_own_clone_has_taken_back_is_no_newer_version() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    stage.commit(&a, "A1");
    stage.git(&a, &["revert", "--no-edit", "HEAD"]);
    assert_eq!(stage.sets(2, &b, "B1"), "");
}

#[test]
fn what_was_never_committed_is_gone_with_its_work_tree_and_a_clone_is_a_fetch() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let tree = stage.worktree(&a, "agent");
    stage.sets(1, &tree, "A1");
    stage.git(&a, &["worktree", "remove", "--force", tree.to_str().expect("UTF-8")]);
    let said = stage.sets(2, &a, "B1");
    assert!(said.contains(DISCARDED), "{said}");
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(1, &a, "A1");
    // The clock of files may be a tick behind the store's.
    stage.newest_is_older_by(1_000);
    std::fs::remove_dir_all(&a).expect("removed");
    let a = stage.clone("a", &[]);
    let said = stage.sets(2, &a, "B1");
    assert!(said.contains(DISCARDED), "{said}");
}

/// What stands there now says nothing of when the other one went: it is a work tree of a repository that is older.
#[test]
fn a_work_tree_that_is_made_anew_in_its_place_proves_nothing() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    let tree = stage.worktree(&a, "agent");
    stage.sets(1, &tree, "A1");
    stage.git(&b, &["fetch", "-q"]);
    stage.commit(&tree, "A1");
    stage.git(&tree, &["push", "-q", "origin", "HEAD:main"]);
    let place = tree.to_str().expect("UTF-8");
    stage.git(&a, &["worktree", "remove", "--force", place]);
    stage.git(&a, &["worktree", "add", "-q", "-f", "-B", "agent", place, "main"]);
    stage.refused(2, &b);
}

#[test]
fn a_push_that_is_rejected_is_not_asked_for_for_ever() {
    let stage = Stage::new(At::Here);
    let (a, b, c) = (stage.clone("a", &[]), stage.clone("b", &[]), stage.clone("c", &[]));
    stage.sets(1, &a, "A1");
    stage.commit(&a, "A1");
    std::fs::write(c.join("note"), "x").expect("written");
    stage.push(&c);
    let there = a.display();
    assert_eq!(stage.refused(2, &b).1, format!("git -C {there} push && git pull"));
    let line = stage.refused(2, &b).1;
    assert_eq!(line, format!("git pull --no-rebase {there} main"));
    stage.runs(&b, &line);
    assert_eq!(stage.sets(2, &b, "B1"), "");
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
}

/// What each of these has checked out, and the line that works there.
#[test]
fn the_line_fits_what_is_known_of_the_remote() {
    type Scene = fn(&Stage) -> std::path::PathBuf;
    let scenes: [(&str, Scene, &str); 3] = [
        (
            "one branch alone, detached",
            |stage| {
                let b = stage.clone("b", &["--single-branch", "-b", "rel"]);
                stage.git(&b, &["checkout", "-q", "--detach"]);
                b
            },
            "git pull --no-rebase origin main",
        ),
        (
            "a remote with a slash in its name",
            |stage| {
                let b = stage.clone("b", &["-o", "team/alice"]);
                stage.git(&b, &["checkout", "-q", "-b", "topic"]);
                b
            },
            "git pull --no-rebase team/alice main",
        ),
        (
            "its own branch, which somebody else has pushed anew",
            |stage| {
                let b = stage.clone("b", &[]);
                stage.git(&stage.dir("a"), &["commit", "-q", "--amend", "-m", "anew"]);
                stage.git(&stage.dir("a"), &["push", "-q", "--force"]);
                b
            },
            "git pull --no-rebase",
        ),
    ];
    for (scene, set, expected) in scenes {
        let stage = Stage::new(At::Here);
        let a = stage.clone("a", &[]);
        std::fs::write(a.join("note"), "x").expect("written");
        stage.push(&a);
        stage.git(&a, &["push", "-q", "origin", "main:rel"]);
        let b = set(&stage);
        stage.sets(1, &a, "A1");
        stage.push(&a);
        let (said, line) = stage.refused(2, &b);
        assert_eq!(line, expected, "{scene}: {said}");
        stage.runs(&b, &line);
        assert_eq!(stage.sets(2, &b, "B1"), "", "{scene}");
        assert_eq!(stage.keys(&b), ["first", "A1", "B1"], "{scene}");
    }
}

#[test]
fn a_branch_that_was_never_pushed_is_looked_for_once() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    for place in [&a, &b] {
        stage.git(place, &["checkout", "-q", "-b", "topic"]);
    }
    stage.sets(1, &a, "A1");
    stage.commit(&a, "A1");
    std::fs::rename(&a, stage.dir("moved")).expect("moved");
    let (said, line) = stage.refused(2, &b);
    assert_eq!(line, "git fetch origin", "{said}");
    stage.runs(&b, &line);
    let said = stage.sets(2, &b, "B1");
    assert!(said.contains(DISCARDED), "{said}");
}

/// A runner has fetched one branch, and nothing says which one is the default.
#[test]
fn a_detached_head_is_of_the_branch_that_it_lies_on() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.git(&a, &["checkout", "-q", "-b", "develop"]);
    stage.git(&a, &["push", "-q", "-u", "origin", "develop"]);
    let b = stage.dir("runner");
    let fetch = "git fetch -q origin +refs/heads/develop:refs/remotes/origin/develop";
    let url = format!("file://{}", stage.dir("origin.git").display());
    stage.runs(
        stage.world.root(),
        &format!(
            "git init -q '{0}' && cd '{0}' && git remote add origin '{url}' && {fetch} && git checkout -q --detach origin/develop",
            b.display()
        ),
    );
    stage.sets(1, &a, "A1");
    stage.push(&a);
    stage.runs(&b, fetch);
    let (said, line) = stage.refused(2, &b);
    assert_eq!(line, format!("git checkout origin/develop -- {FILE}"), "{said}");
    stage.runs(&b, &line);
    assert_eq!(stage.sets(2, &b, "B1"), "");
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
}
