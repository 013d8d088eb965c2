//! Work that nothing but the working tree has: no line that we name throws it away. And places that are gone.

use std::path::Path;

use super::stage::{At, FILE, Stage, ends, next, on_either_store, says};

on_either_store! {
    a_write_that_is_committed_nowhere_is_committed_before_anything_comes_over_it,
    a_place_that_is_gone_proves_nothing,
    the_first_write_as_an_open_edit_has_the_version_that_was_opened_as_its_base,
    an_older_version_is_accepted_and_adopted_by_nobody,
}

/// The version of the file that some commit here has, under this key.
fn some_commit_has(stage: &Stage, place: &Path, key: &str) -> bool {
    let commits = stage.git(place, &["log", "--all", "--format=%H", "--", FILE]);
    commits.lines().any(|commit| stage.git(place, &["show", &format!("{commit}:{FILE}")]).contains(&format!("{key}:")))
}

fn a_write_that_is_committed_nowhere_is_committed_before_anything_comes_over_it(at: At) {
    type Scene = fn(&Stage, &Path, &Path);
    let scenes: [(&str, Scene, &str); 4] = [
        (
            "a branch, fetched",
            |stage, a, b| {
                stage.git(b, &["checkout", "-q", "-b", "topic"]);
                stage.sets(2, b, "B1");
                stage.sets(1, a, "A1");
                stage.push(a);
                stage.git(b, &["fetch", "-q"]);
            },
            "git merge origin/main",
        ),
        (
            "a branch, not fetched",
            |stage, a, b| {
                stage.git(b, &["checkout", "-q", "-b", "topic"]);
                stage.sets(2, b, "B1");
                stage.sets(1, a, "A1");
                stage.push(a);
            },
            "git pull --no-rebase origin main",
        ),
        (
            "out of the stash",
            |stage, a, b| {
                stage.sets(2, b, "B1");
                stage.git(b, &["stash", "-q"]);
                stage.sets(1, a, "A1");
                stage.push(a);
                stage.git(b, &["stash", "pop", "-q"]);
            },
            "git pull --no-rebase",
        ),
        (
            "detached",
            |stage, a, b| {
                stage.git(b, &["checkout", "-q", "--detach"]);
                stage.sets(2, b, "B1");
                stage.sets(1, a, "A1");
                stage.push(a);
            },
            "git pull --no-rebase origin main",
        ),
    ];
    for (scene, set, then) in scenes {
        let stage = Stage::new(at);
        let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
        set(&stage, &a, &b);
        let said = says(&mut stage.set(2, &b, "B2"), 74);
        let line = next(&said);
        assert_eq!(line, format!("git commit -m 'Update {FILE}' -- {FILE} && {then}"), "{scene}: {said}");
        // Both have changed it, so git asks; nothing of either is lost with that.
        let _it_meets = stage.world.command("sh").current_dir(&b).args(["-c", &line]).output().expect("sh");
        assert!(some_commit_has(&stage, &b, "B1") && some_commit_has(&stage, &b, "A1"), "{scene}");
        assert_eq!(stage.git(&b, &["diff", "--name-only", "--diff-filter=U"]).trim(), FILE, "{scene}: git asks");
    }
}

fn a_place_that_is_gone_proves_nothing(at: At) {
    type Scene = fn(&Stage, &Path);
    let scenes: [(&str, Scene); 3] = [
        ("the clone was removed", |_, a| std::fs::remove_dir_all(a).expect("removed")),
        ("another clone lies there", |stage, a| {
            std::fs::rename(a, stage.dir("old")).expect("moved");
            stage.git(
                stage.world.root(),
                &["clone", "-q", stage.dir("b").to_str().expect("UTF-8"), a.to_str().expect("UTF-8")],
            );
        }),
        ("its old copy lies there", |stage, a| {
            std::fs::remove_dir_all(a).expect("removed");
            std::fs::rename(stage.dir("copy"), a).expect("moved");
        }),
    ];
    for (scene, gone) in scenes {
        let stage = Stage::new(at);
        let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
        stage.clone("copy", &[]);
        stage.sets(1, &a, "A1");
        stage.push(&a);
        gone(&stage, &a);
        let (said, line) = stage.refused(2, &b);
        assert_eq!(line, "git pull", "{scene}: {said}");
        if scene == "its old copy lies there" {
            let (said, line) = stage.refused(2, &a);
            assert_eq!(line, "git pull", "{scene}, from itself: {said}");
        }
        stage.runs(&b, &line);
        assert_eq!(stage.sets(2, &b, "B1"), "", "{scene}");
        assert_eq!(stage.keys(&b), ["first", "A1", "B1"], "{scene}");
    }
    // A work tree whose branch nobody here has: it may have been pushed to any.
    let stage = Stage::new(at);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    let tree = stage.worktree(&a, "topic");
    stage.sets(1, &tree, "A1");
    stage.commit(&tree, "A1");
    stage.git(&tree, &["push", "-q", "origin", "topic:main"]);
    stage.git(&a, &["worktree", "remove", tree.to_str().expect("UTF-8")]);
    stage.git(&a, &["branch", "-q", "-D", "topic"]);
    let (_, line) = stage.refused(2, &b);
    stage.runs(&b, &line);
    assert_eq!(stage.sets(2, &b, "B1"), "");
    // What was never pushed is gone with its place: a fetch after that proves it.
    stage.push(&b);
    let c = stage.clone("c", &[]);
    stage.sets(1, &c, "C1");
    std::fs::remove_dir_all(&c).expect("removed");
    let (_, line) = stage.refused(2, &b);
    assert_eq!(line, "git pull");
    stage.runs(&b, &line);
    let said = stage.sets(2, &b, "B2");
    assert!(said.contains("a newer version was discarded"), "{said}");
}

fn the_first_write_as_an_open_edit_has_the_version_that_was_opened_as_its_base(at: At) {
    type Write = fn(&Stage, &Path);
    let writes: [(&str, Write); 3] = [
        ("an open edit", |stage, a| {
            ends(stage.locked(1, a).args(["-n", "sops", "decrypt", "-i", FILE]), 0);
            let plain = std::fs::read_to_string(a.join(FILE)).expect("plaintext");
            std::fs::write(a.join(FILE), format!("{plain}A1: 1\n")).expect("edited");
            ends(stage.locked(1, a).args(["-n", "sops", "encrypt", "-i", FILE]), 0);
        }),
        ("a redirection", |stage, a| {
            let plain = stage.dir("p.yaml");
            std::fs::write(&plain, "first: one\nA1: 1\n").expect("plaintext");
            let output = std::fs::File::create(a.join(FILE)).expect("emptied");
            let mut locked = stage.locked(1, a);
            locked.args(["-n", "sops", "encrypt", "--filename-override", FILE]).arg(&plain).stdout(output);
            ends(&mut locked, 0);
        }),
        ("past us, and adopted", |stage, a| {
            says(stage.world.sops().current_dir(a).args(["set", FILE, "[\"A1\"]", "1"]), 0);
            ends(stage.locked(1, a).args(["adopt", FILE]), 0);
        }),
    ];
    for (how, write) in writes {
        let stage = Stage::new(at);
        let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
        write(&stage, &a);
        stage.push(&a);
        let (said, line) = stage.refused(2, &b);
        assert_eq!(line, "git pull", "{how}: {said}");
        stage.runs(&b, &line);
        assert_eq!(stage.sets(2, &b, "B1"), "", "{how}");
        stage.push(&b);
        if at == At::Server {
            let said = says(stage.locked(2, &b).args(["audit", "HEAD~2..HEAD"]), 0);
            assert!(said.is_empty(), "{how}: {said}");
        }
    }
}

fn an_older_version_is_accepted_and_adopted_by_nobody(at: At) {
    let stage = Stage::new(at);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    stage.push(&a);
    let said = says(stage.locked(2, &b).args(["restore", "--accept", FILE]), 74);
    assert_eq!(next(&said), "git pull");
    // Made past us from the older one: it is not the newest either.
    says(stage.world.sops().current_dir(&b).args(["set", FILE, "[\"RAW\"]", "1"]), 0);
    for words in [&["adopt", FILE][..], &["restore", "--accept", FILE]] {
        let said = says(stage.locked(2, &b).args(words), 74);
        assert!(said.starts_with(&format!("REFUSED: {FILE} was made from an older version here")), "{said}");
        assert_eq!(next(&said), format!("git stash push -- {FILE} && git pull --no-rebase"), "{said}");
    }
    assert_eq!(stage.kinds(), ["proven"]);
    // Brought back from an old copy, it does not pass for the newest.
    std::fs::write(b.join(FILE), "").expect("emptied");
    let said = ends(stage.locked(2, &b).args(["restore", FILE]), 0);
    assert!(super::stage::text(&said.stdout).contains("a newer version is known: git pull"), "{said:?}");
    assert_eq!(stage.kinds(), ["proven"]);
    let (_, line) = stage.refused(2, &b);
    stage.runs(&b, &line);
    assert_eq!(stage.sets(2, &b, "B1"), "");
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
}

/// What a quarantine elsewhere leads to in a checkout that is behind.
#[test]
fn a_quarantine_is_not_ended_by_an_older_version() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    stage.push(&a);
    let path = crate::world::board::in_front(&stage.world.script("sops", &format!(": > {FILE}; kill -9 $$")));
    says(stage.set(1, &a, "BAD").env("PATH", path), 72);
    for words in [&["restore", FILE][..], &["restore", "--accept", FILE]] {
        let said = says(stage.locked(2, &b).args(words), 74);
        assert_eq!(next(&said), "git pull", "{words:?}: {said}");
    }
    stage.runs(&b, "git pull");
    ends(stage.locked(2, &b).args(["restore", "--accept", FILE]), 0);
    assert_eq!(stage.sets(2, &b, "B1"), "");
}

/// The version is committed in a clone that cannot simply push: each time the line brings it.
#[test]
fn the_line_fits_what_the_other_clone_is_about() {
    type Scene = fn(&Stage, &Path);
    let scenes: [(&str, Scene); 5] = [
        ("as it was", |_, _| {}),
        ("another branch", |stage, b| drop(stage.git(b, &["checkout", "-q", "-b", "feature"]))),
        ("detached", |stage, b| drop(stage.git(b, &["checkout", "-q", "--detach"]))),
        ("no upstream", |stage, b| drop(stage.git(b, &["branch", "-q", "--unset-upstream"]))),
        ("behind its remote", |stage, _| {
            let c = stage.clone("c", &[]);
            std::fs::write(c.join("note"), "x").expect("written");
            stage.push(&c);
            stage.git(&stage.dir("b"), &["fetch", "-q"]);
        }),
    ];
    for (scene, set) in scenes {
        let stage = Stage::new(At::Here);
        let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
        stage.sets(2, &b, "B1");
        stage.commit(&b, "B1");
        set(&stage, &b);
        let (_, line) = stage.refused(1, &a);
        let shown = b.display();
        let expected = match scene {
            "as it was" => format!("git -C {shown} push && git pull"),
            _ => format!("git pull --no-rebase {shown} main"),
        };
        assert_eq!(line, expected, "{scene}");
        stage.runs(&a, &line);
        assert_eq!(stage.sets(1, &a, "A1"), "", "{scene}");
        assert_eq!(stage.keys(&a), ["first", "B1", "A1"], "{scene}");
    }
}

/// A copy that is of an older version, in a tree that is merely behind.
#[test]
fn who_copies_over_an_older_file_is_told_to_pull_and_not_to_copy_again() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    std::fs::copy(b.join(FILE), b.join("c.yaml")).expect("copied");
    stage.sets(1, &a, "A1");
    stage.push(&a);
    for words in [["cp", "c.yaml", FILE], ["mv", "c.yaml", FILE]] {
        ends(stage.locked(2, &b).args(["-n", "sops", "set", "c.yaml", "[\"Q\"]", "1"]), 0);
        let said = says(stage.locked(2, &b).arg("-n").args(words), 74);
        assert_eq!(next(&said), "git pull", "{said}");
        assert!(said.contains("\nretry: no, not with that file"), "{said}");
    }
}

#[test]
fn an_open_edit_of_one_s_own_is_ended_by_encrypting() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    ends(stage.locked(1, &a).args(["-n", "sops", "decrypt", "-i", FILE]), 0);
    let said = says(stage.locked(1, &a).args(["restore", FILE]), 72);
    assert_eq!(next(&said), format!("locked sops encrypt -i {FILE}"), "{said}");
    stage.follows(1, &a, &next(&said));
    assert_eq!(says(stage.locked(1, &a).args(["restore", FILE]), 0), "", "a sound file needs nothing");
}
