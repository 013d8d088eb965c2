//! Checkouts of every kind: each does the sensible thing.

use std::path::Path;

use super::stage::{At, FILE, Stage, on_either_store, says};

on_either_store! {
    a_fresh_clone_has_the_newest,
    a_clone_without_blobs_or_history,
    a_detached_head_takes_the_file_and_stays_where_it_is,
    line_ends_of_a_checkout_make_no_other_version,
    a_renamed_file_begins_a_chain_of_its_own_and_a_copy_too,
    a_deleted_file_that_is_made_anew_is_a_revert_and_one_that_is_not_here_yet_is_not,
    a_sparse_checkout_leaves_a_file_out_and_does_not_delete_it,
    a_rebase_that_has_met_a_conflict_goes_on_from_either_side,
    a_repository_with_longer_names_of_objects,
    a_submodule_is_a_repository_of_its_own,
    without_git_an_old_version_is_refused_and_the_newest_is_not,
    outside_of_any_repository_a_file_is_what_it_is,
}

/// A sets a key and pushes.
fn pushed(stage: &Stage) {
    let a = stage.clone("a", &[]);
    stage.sets(1, &a, "A1");
    stage.push(&a);
}

/// B is refused, runs the line, goes through, and has what A has set.
#[track_caller]
fn comes_along(stage: &Stage, b: &Path) -> String {
    let (_, line) = stage.refused(2, b);
    stage.runs(b, &line);
    assert_eq!(stage.sets(2, b, "B1"), "", "{line}");
    assert_eq!(stage.keys(b), ["first", "A1", "B1"]);
    line
}

fn a_fresh_clone_has_the_newest(at: At) {
    let stage = Stage::new(at);
    pushed(&stage);
    assert_eq!(stage.sets(2, &stage.clone("b", &[]), "B1"), "");
}

fn a_clone_without_blobs_or_history(at: At) {
    let stage = Stage::new(at);
    stage.git(&stage.dir("origin.git"), &["config", "uploadpack.allowFilter", "true"]);
    let early = [stage.clone("partial", &["--filter=blob:none"]), stage.clone("shallow", &["--depth=1"])];
    pushed(&stage);
    for b in &early {
        // Both ways: what has not been fetched, and what has without its content.
        let (_, line) = stage.refused(2, b);
        assert_eq!(line, "git pull", "{}", b.display());
        stage.git(b, &["fetch", "-q"]);
        let (_, line) = stage.refused(2, b);
        assert_eq!(line, "git merge origin/main", "{}", b.display());
    }
    comes_along(&stage, &early[0]);
}

fn a_detached_head_takes_the_file_and_stays_where_it_is(at: At) {
    let stage = Stage::new(at);
    let b = stage.clone("b", &[]);
    stage.git(&b, &["checkout", "-q", "--detach"]);
    pushed(&stage);
    let line = comes_along(&stage, &b);
    assert_eq!(line, format!("git fetch origin && git checkout origin/main -- {FILE}"));
    assert_eq!(stage.git(&b, &["branch", "--show-current"]), "");
}

fn line_ends_of_a_checkout_make_no_other_version(at: At) {
    let stage = Stage::new(at);
    let crlf = ["-c", "core.autocrlf=true"];
    let (a, b) = (stage.clone("a", &crlf), stage.clone("b", &crlf));
    let content = std::fs::read(a.join(FILE)).expect("file");
    assert!(content.windows(2).any(|pair| pair == b"\r\n"), "git has converted it");
    // The chain begins on LF, and goes on from CRLF.
    let plain = stage.clone("plain", &[]);
    assert_eq!(stage.sets(1, &plain, "A1"), "");
    stage.push(&plain);
    stage.git(&a, &["pull", "-q"]);
    assert_eq!(stage.sets(1, &a, "A2"), "");
    stage.git(&a, &["checkout", "-q", "--", FILE]);
    let (_, line) = stage.refused(2, &b);
    stage.runs(&b, &line);
    stage.sets(2, &b, "B1");
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
    // And git finds what is older by the name that it gave it.
    stage.push(&b);
    stage.git(&b, &["checkout", "-q", "HEAD~2", "--", FILE]);
    let said = stage.sets(2, &b, "B2");
    assert!(
        said.contains("a newer version was discarded, which nobody has any more; it was written by 01010101")
            && !said.contains("02020202"),
        "a revert: {said}"
    );
}

fn a_renamed_file_begins_a_chain_of_its_own_and_a_copy_too(at: At) {
    let stage = Stage::new(at);
    let a = stage.clone("a", &[]);
    stage.sets(1, &a, "A1");
    stage.commit(&a, "A1");
    stage.git(&a, &["mv", FILE, "secrets/new.yaml"]);
    std::fs::copy(a.join("secrets/new.yaml"), a.join("secrets/copy.yaml")).expect("copied");
    for file in ["secrets/new.yaml", "secrets/copy.yaml"] {
        for key in ["B1", "B2"] {
            let line = ["-n", "sops", "set", file, &format!("[\"{key}\"]"), "\"x\""];
            assert_eq!(says(stage.locked(2, &a).args(line), 0), "", "{file}");
        }
    }
}

fn a_deleted_file_that_is_made_anew_is_a_revert_and_one_that_is_not_here_yet_is_not(at: At) {
    let stage = Stage::new(at);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    let plain = stage.dir("plain.yaml");
    std::fs::write(&plain, "fresh: 1\n").expect("plaintext");
    let make = |session: u32, place: &Path, file: &str| {
        let mut command = stage.locked(session, place);
        command.args(["-n", "sops", "encrypt", "--filename-override", "x.yaml", "--output", file]).arg(&plain);
        command
    };
    assert_eq!(says(&mut make(1, &a, "secrets/made.yaml"), 0), "");
    let said = says(&mut make(2, &b, "secrets/made.yaml"), 74);
    assert!(said.contains("secrets/made.yaml is an older version here"), "{said}");
    stage.push(&a);
    stage.git(&b, &["pull", "-q"]);
    stage.git(&b, &["rm", "-q", "secrets/made.yaml"]);
    assert_eq!(says(&mut make(2, &b, "secrets/made.yaml"), 0), "");
}

fn a_sparse_checkout_leaves_a_file_out_and_does_not_delete_it(at: At) {
    let stage = Stage::new(at);
    pushed(&stage);
    let b = stage.clone("b", &["--sparse"]);
    assert!(!b.join(FILE).exists());
    let plain = stage.dir("plain.yaml");
    std::fs::write(&plain, "fresh: 1\n").expect("plaintext");
    std::fs::create_dir(b.join("secrets")).expect("directory");
    let mut make = stage.locked(2, &b);
    make.args(["-n", "sops", "encrypt", "--filename-override", "x.yaml", "--output", FILE]).arg(&plain);
    let said = says(&mut make, 74);
    let line = super::stage::next(&said);
    assert_eq!(line, format!("git checkout --ignore-skip-worktree-bits HEAD -- {FILE}"));
    stage.runs(&b, &line);
    assert_eq!(stage.sets(2, &b, "B1"), "");
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
}

fn a_rebase_that_has_met_a_conflict_goes_on_from_either_side(at: At) {
    let stage = Stage::new(at);
    let b = stage.clone("b", &[]);
    pushed(&stage);
    says(&mut stage.set_with(2, &b, &["--accept-stale"], "B1"), 0);
    stage.commit(&b, "B1");
    stage.git(&b, &["fetch", "-q"]);
    let rebase = || {
        let output = stage.world.command("git").current_dir(&b).args(["rebase", "-q", "origin/main"]).output();
        assert!(!output.expect("git").status.success(), "both have changed the file");
    };
    // What is being made anew is on the branch still, and git has asked: neither side is the older one.
    rebase();
    stage.git(&b, &["checkout", "-q", "--theirs", "--", FILE]);
    assert_eq!(stage.sets(2, &b, "B2"), "");
    stage.git(&b, &["rebase", "--abort"]);
    rebase();
    stage.git(&b, &["checkout", "-q", "--ours", "--", FILE]);
    let said = stage.sets(2, &b, "B1");
    assert!(said.contains("a newer version is on another branch (main)"), "{said}");
    stage.git(&b, &["add", "-A"]);
    stage.git(&b, &["-c", "core.editor=true", "rebase", "--continue"]);
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
    assert_eq!(stage.git(&b, &["status", "--porcelain"]), "");
}

fn a_repository_with_longer_names_of_objects(at: At) {
    let stage = Stage::new(at);
    let (seed, a) = (stage.dir("long"), stage.dir("long-topic"));
    stage.git(
        stage.world.root(),
        &["init", "-q", "-b", "main", "--object-format=sha256", seed.to_str().expect("UTF-8")],
    );
    std::fs::create_dir(seed.join("secrets")).expect("directory");
    std::fs::copy(stage.world.work().join(FILE), seed.join(FILE)).expect("copied");
    stage.commit(&seed, "start");
    stage.git(&seed, &["worktree", "add", "-q", "-b", "topic", a.to_str().expect("UTF-8")]);
    stage.sets(1, &seed, "A1");
    stage.commit(&seed, "A1");
    assert_eq!(comes_along(&stage, &a), "git merge main");
}

fn a_submodule_is_a_repository_of_its_own(at: At) {
    let stage = Stage::new(at);
    let outer = stage.dir("outer");
    stage.git(stage.world.root(), &["init", "-q", "-b", "main", outer.to_str().expect("UTF-8")]);
    let origin = format!("file://{}", stage.dir("origin.git").display());
    stage.git(&outer, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", &origin, "inner"]);
    stage.commit(&outer, "start");
    pushed(&stage);
    let inner = outer.join("inner");
    stage.refused(2, &inner);
    // From the outer one the line says where.
    let path = format!("inner/{FILE}");
    let said = says(stage.locked(2, &outer).args(["-n", "sops", "set", &path, "[\"B1\"]", "\"x\""]), 74);
    let line = super::stage::next(&said);
    assert_eq!(line, format!("git -C {} pull", inner.display()));
    stage.runs(&outer, &line);
    assert_eq!(stage.sets(2, &inner, "B1"), "");
}

fn without_git_an_old_version_is_refused_and_the_newest_is_not(at: At) {
    let stage = Stage::new(at);
    pushed(&stage);
    let (a, b) = (stage.dir("a"), stage.clone("b", &[]));
    stage.git(&b, &["reset", "-q", "--hard", "HEAD~1"]);
    let bin = stage.dir("bin");
    std::fs::create_dir(&bin).expect("directory");
    std::os::unix::fs::symlink(crate::world::real_sops(), bin.join("sops")).expect("link");
    assert_eq!(says(stage.set(1, &a, "A2").env("PATH", &bin), 0), "");
    let said = says(stage.set(2, &b, "B1").env("PATH", &bin), 74);
    assert!(said.contains("\nretry: yes, once git works here"), "{said}");
}

fn outside_of_any_repository_a_file_is_what_it_is(at: At) {
    let stage = Stage::new(at);
    let place = stage.dir("loose");
    std::fs::create_dir_all(place.join("secrets")).expect("directory");
    let file = place.join(FILE);
    std::fs::copy(stage.world.work().join(FILE), &file).expect("copied");
    let before = std::fs::read(&file).expect("file");
    assert_eq!(stage.sets(1, &place, "A1"), "");
    std::fs::write(&file, before).expect("back");
    let said = stage.sets(2, &place, "B1");
    assert!(said.contains("a newer version was discarded"), "{said}");
}
