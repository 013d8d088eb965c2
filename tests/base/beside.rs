//! Uncommitted work in other files: the line that brings the newer version works all the same, and nothing of that is lost.

use std::path::Path;

use super::stage::{At, FILE, Stage, ends, next, says};

const OTHER: &str = "secrets/other.yaml";
const ALONE: &str = "git fetch origin && git checkout origin/main -- secrets/app.yaml";
const ALONE_FETCHED: &str = "git checkout origin/main -- secrets/app.yaml";

/// Clones with more files than the one.
fn clones(stage: &Stage) -> (std::path::PathBuf, std::path::PathBuf) {
    let a = stage.clone("a", &[]);
    std::fs::write(a.join("note"), "one\ntwo\nthree\nfour\nfive\n").expect("written");
    std::fs::copy(a.join(FILE), a.join(OTHER)).expect("copied");
    stage.push(&a);
    (a, stage.clone("b", &[]))
}

fn noted(place: &Path) {
    std::fs::write(place.join("note"), "ONE\ntwo\nthree\nfour\nfive\n").expect("written");
}

type Scene = fn(&Stage, &Path, &Path);

/// What is uncommitted in B, what A brings besides, whether B has fetched it, and the line.
const SCENES: [(&str, Scene, bool, &str); 12] = [
    ("nothing", |_, _, _| {}, false, "git pull"),
    ("a text", |_, _, b| noted(b), false, "git pull --autostash"),
    (
        "a staged text",
        |stage, _, b| {
            noted(b);
            stage.git(b, &["add", "note"]);
        },
        false,
        "git pull --autostash",
    ),
    (
        "a text, where a pull rebases",
        |stage, _, b| {
            noted(b);
            stage.git(b, &["config", "pull.rebase", "true"]);
        },
        false,
        "git pull --autostash",
    ),
    (
        "a text that A changes elsewhere",
        |_, a, b| {
            noted(b);
            std::fs::write(a.join("note"), "one\ntwo\nthree\nfour\nFIVE\n").expect("written");
        },
        false,
        "git pull --autostash",
    ),
    (
        "another SOPS file",
        |stage, _, b| drop(says(stage.locked(3, b).args(["-n", "sops", "set", OTHER, "[\"B\"]", "1"]), 0)),
        false,
        ALONE,
    ),
    (
        "another open edit",
        |stage, _, b| drop(ends(stage.locked(3, b).args(["-n", "sops", "decrypt", "-i", OTHER]), 0)),
        false,
        ALONE,
    ),
    ("a text, fetched", |_, _, b| noted(b), true, "git merge origin/main"),
    (
        "a text that A changes, fetched",
        |_, a, b| {
            noted(b);
            std::fs::write(a.join("note"), "another\n").expect("written");
        },
        true,
        ALONE_FETCHED,
    ),
    (
        "a new file that A has as well, fetched",
        |_, a, b| {
            std::fs::write(b.join("new"), "of B\n").expect("written");
            std::fs::write(a.join("new"), "of A\n").expect("written");
        },
        true,
        ALONE_FETCHED,
    ),
    (
        "a staged text, and a commit, fetched",
        |stage, _, b| {
            std::fs::write(b.join("more"), "of B\n").expect("written");
            stage.commit(b, "B's own");
            noted(b);
            stage.git(b, &["add", "note"]);
        },
        true,
        "git merge --autostash origin/main",
    ),
    (
        "another SOPS file, and a commit, fetched",
        |stage, _, b| {
            std::fs::write(b.join("more"), "of B\n").expect("written");
            stage.commit(b, "B's own");
            says(stage.locked(3, b).args(["-n", "sops", "set", OTHER, "[\"B\"]", "1"]), 0);
        },
        true,
        "git merge origin/main",
    ),
];

#[test]
fn the_line_works_beside_uncommitted_work_and_leaves_it() {
    for (scene, set, fetched, expected) in SCENES {
        let stage = Stage::new(At::Here);
        let (a, b) = clones(&stage);
        set(&stage, &a, &b);
        let uncommitted =
            |place: &Path| ["note", OTHER, "new"].map(|name| std::fs::read_to_string(place.join(name)).ok());
        let before = uncommitted(&b);
        stage.sets(1, &a, "A1");
        stage.push(&a);
        if fetched {
            stage.git(&b, &["fetch", "-q"]);
        }
        let (said, line) = stage.refused(2, &b);
        assert_eq!(line, expected, "{scene}: {said}");
        stage.runs(&b, &line);
        assert_eq!(stage.sets(2, &b, "B1"), "", "{scene}");
        assert_eq!(stage.keys(&b), ["first", "A1", "B1"], "{scene}");
        let after = uncommitted(&b);
        if scene.starts_with("a text that A changes elsewhere") {
            assert_eq!(after[0].as_deref(), Some("ONE\ntwo\nthree\nfour\nFIVE\n"), "{scene}");
        } else {
            assert_eq!(after, before, "{scene}");
        }
        assert_eq!(stage.git(&b, &["stash", "list"]), "", "{scene}");
    }
}

#[test]
fn a_write_of_one_s_own_is_committed_and_the_rest_put_aside() {
    let stage = Stage::new(At::Here);
    let (a, b) = clones(&stage);
    stage.git(&b, &["checkout", "-q", "-b", "topic"]);
    stage.sets(2, &b, "B1");
    noted(&b);
    stage.sets(1, &a, "A1");
    stage.push(&a);
    let said = says(&mut stage.set(2, &b, "B2"), 74);
    let line = next(&said);
    assert_eq!(
        line,
        format!("git commit -m 'Update {FILE}' -- {FILE} && git pull --no-rebase --autostash origin main"),
        "{said}"
    );
    // Both have changed it, so git asks; what was put aside comes back when that has been answered.
    let _it_meets = stage.world.command("sh").current_dir(&b).args(["-c", &line]).output().expect("sh");
    stage.git(&b, &["checkout", "-q", "--theirs", "--", FILE]);
    stage.git(&b, &["add", FILE]);
    stage.git(&b, &["commit", "-q", "-m", "merged"]);
    assert!(std::fs::read_to_string(b.join("note")).expect("note").starts_with("ONE\n"));
}
