//! Committed work of one's own: no line throws it away, and where git asks, the side that was taken is kept.

use std::path::{Path, PathBuf};

use super::stage::{At, FILE, Stage, next, says};

/// B has a key of its own on a branch, A another one on main.
fn parted(stage: &Stage) -> (PathBuf, PathBuf) {
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.git(&b, &["checkout", "-q", "-b", "topic"]);
    stage.sets(2, &b, "B1");
    stage.commit(&b, "B1");
    stage.sets(1, &a, "A1");
    stage.push(&a);
    (a, b)
}

fn tries(stage: &Stage, place: &Path, line: &str) {
    let _it_meets = stage.world.command("sh").current_dir(place).args(["-c", line]).output().expect("sh");
}

#[test]
fn what_one_has_committed_is_joined_and_not_replaced() {
    type Scene = fn(&Stage, &Path);
    let scenes: [(&str, Scene, &str); 5] = [
        ("fetched", |stage, b| drop(stage.git(b, &["fetch", "-q"])), "git merge origin/main"),
        ("not fetched", |_, _| {}, "git pull --no-rebase origin main"),
        (
            "detached",
            |stage, b| {
                stage.git(b, &["checkout", "-q", "--detach"]);
                stage.git(b, &["fetch", "-q"]);
            },
            "git merge origin/main",
        ),
        (
            "detached, not fetched",
            |stage, b| drop(stage.git(b, &["checkout", "-q", "--detach"])),
            "git pull --no-rebase origin main",
        ),
        (
            "an older version lies here",
            |stage, b| {
                stage.git(b, &["fetch", "-q"]);
                stage.git(b, &["checkout", "-q", "HEAD~1", "--", FILE]);
            },
            "git checkout HEAD -- secrets/app.yaml && git merge origin/main",
        ),
    ];
    for (scene, set, expected) in scenes {
        let stage = Stage::new(At::Here);
        let (_, b) = parted(&stage);
        set(&stage, &b);
        let (said, line) = stage.refused(2, &b);
        assert_eq!(line, expected, "{scene}: {said}");
        tries(&stage, &b, &line);
        assert_eq!(stage.git(&b, &["diff", "--name-only", "--diff-filter=U"]).trim(), FILE, "{scene}: git asks");
        // One side whole, and then the other one's keys.
        stage.git(&b, &["checkout", "-q", "--ours", "--", FILE]);
        assert_eq!(stage.sets(2, &b, "A1"), "", "{scene}");
        assert_eq!(stage.keys(&b), ["first", "B1", "A1"], "{scene}");
    }
}

#[test]
fn in_a_conflict_the_side_that_was_taken_is_kept() {
    let begin = ["git merge origin/main", "git cherry-pick origin/main"];
    for (how, side) in begin.iter().flat_map(|how| [(how, "--ours"), (how, "--theirs")]) {
        let stage = Stage::new(At::Here);
        let (_, b) = parted(&stage);
        stage.git(&b, &["fetch", "-q"]);
        tries(&stage, &b, how);
        stage.git(&b, &["checkout", "-q", side, "--", FILE]);
        assert_eq!(stage.sets(2, &b, "MORE"), "", "{how} {side}");
    }
    // What is of neither side is older than both.
    let stage = Stage::new(At::Here);
    let (_, b) = parted(&stage);
    stage.git(&b, &["fetch", "-q"]);
    tries(&stage, &b, begin[0]);
    stage.git(&b, &["checkout", "-q", "HEAD~1", "--", FILE]);
    let (_, line) = stage.refused(2, &b);
    assert_eq!(line, "git status");
}

#[test]
fn nothing_is_merged_into_a_stash_that_git_asks_about() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    for (change, line) in [("one\n", "git add note && git stash -q"), ("two\n", "git add note && git commit -qm two")] {
        std::fs::write(b.join("note"), change).expect("written");
        stage.runs(&b, line);
    }
    stage.sets(1, &a, "A1");
    stage.push(&a);
    stage.git(&b, &["fetch", "-q"]);
    assert_eq!(stage.refused(2, &b).1, "git merge origin/main");
    tries(&stage, &b, "git stash pop");
    let (said, line) = stage.refused(2, &b);
    assert_eq!(line, "git status", "{said}");
    stage.runs(&b, "git checkout -q --ours note && git add note && git stash drop -q");
    assert_eq!(stage.refused(2, &b).1, "git merge origin/main");
}

/// Encrypting in place is about what was read, and that is what belongs here.
#[test]
fn in_place_after_another_branch_or_a_revert_it_goes() {
    type Scene = fn(&Stage, &Path);
    let scenes: [(&str, Scene, &str); 3] = [
        (
            "another branch",
            |stage, a| {
                stage.git(a, &["checkout", "-q", "-b", "topic"]);
                stage.sets(2, a, "B1");
                stage.commit(a, "B1");
                stage.git(a, &["checkout", "-q", "main"]);
            },
            "a newer version is on another branch (topic)",
        ),
        (
            "a revert",
            |stage, a| {
                stage.sets(2, a, "B1");
                stage.commit(a, "B1");
                stage.git(a, &["revert", "--no-edit", "HEAD"]);
            },
            "",
        ),
        (
            "a stash",
            |stage, a| {
                stage.sets(2, a, "B1");
                stage.git(a, &["stash", "-q"]);
            },
            "a newer version is on another branch (stash)",
        ),
    ];
    for (scene, set, expected) in scenes {
        let stage = Stage::new(At::Here);
        let a = stage.clone("a", &[]);
        set(&stage, &a);
        let plain = stage.dir("plain.yaml");
        let output = std::fs::File::create(&plain).expect("plaintext");
        super::stage::ends(stage.locked(1, &a).args(["sops", "decrypt", FILE]).stdout(output), 0);
        let text = std::fs::read_to_string(&plain).expect("plaintext");
        std::fs::write(a.join(FILE), format!("{text}A1: 1\n")).expect("edited");
        let said = says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 0);
        assert!(said.contains(expected) && (!expected.is_empty() || said.is_empty()), "{scene}: {said}");
        assert_eq!(stage.keys(&a), ["first", "A1"], "{scene}");
    }
    // What was written after the reading is lost all the same.
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let plain = super::stage::text(&super::stage::ends(stage.locked(1, &a).args(["sops", "decrypt", FILE]), 0).stdout);
    stage.sets(2, &a, "B1");
    std::fs::write(a.join(FILE), format!("{plain}A1: 1\n")).expect("edited");
    let said = says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 74);
    assert!(next(&said).contains("locked restore"), "{said}");
    // What was thrown away before the reading may be there again below the plaintext: who knows that it is not says so.
    stage.follows(1, &a, &next(&said));
    assert_eq!(stage.keys(&a), ["first", "B1"]);
    stage.git(&a, &["checkout", "-q", "--", FILE]);
    let plain = super::stage::text(&super::stage::ends(stage.locked(1, &a).args(["sops", "decrypt", FILE]), 0).stdout);
    std::fs::write(a.join(FILE), format!("{plain}A1: 1\n")).expect("edited");
    let said = says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 74);
    assert!(said.contains("if the newer one is to go, with --accept-stale"), "{said}");
    says(stage.locked(1, &a).args(["-n", "--accept-stale", "sops", "encrypt", "-i", FILE]), 0);
    assert_eq!(stage.keys(&a), ["first", "A1"]);
}

/// git takes a path letter by letter.
#[test]
fn a_name_that_looks_like_a_pattern_is_a_name() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let odd = a.join(":(top)magic.yaml");
    std::fs::copy(a.join(FILE), &odd).expect("copied");
    stage.runs(&a, "git --literal-pathspecs add -A && git commit -qm odd");
    let repository = locked::git::Repository::around(&a).expect("read").expect("a repository");
    let env = |name: &str| std::env::var_os(name);
    let blob = repository.blob_at("HEAD", &odd, &env).expect("asked");
    assert!(blob.is_some() && blob == repository.blob_at("HEAD", &a.join(FILE), &env).expect("asked"));
    assert!(repository.head_content(&odd, &env).expect("asked").is_some());
}
