//! Two who work on one file in checkouts of their own: nobody's change is lost, whoever was told "ok".

use super::stage::{At, Stage, on_either_store};

on_either_store! {
    two_clones_in_turn,
    what_is_not_pushed_or_committed_yet_is_brought_by_the_line_as_well,
    two_work_trees_in_turn,
    two_work_trees_with_the_newer_version_on_the_default_branch,
    a_merge_that_would_not_bring_it_is_not_named,
    commits_of_one_s_own_do_not_stand_in_the_way,
}

/// Each in turn, always from where they were before: refused, told what to run, and then nothing is lost.
fn two_clones_in_turn(at: At) {
    let stage = Stage::new(at);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    assert_eq!(stage.sets(1, &a, "A1"), "");
    stage.push(&a);
    let (said, line) = stage.refused(2, &b);
    for word in ["01010101", " on main (", &format!(":{})", a.display())] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(line, "git pull");
    stage.runs(&b, &line);
    assert_eq!(stage.sets(2, &b, "B1"), "");
    stage.push(&b);
    let (_, line) = stage.refused(1, &a);
    stage.runs(&a, &line);
    assert_eq!(stage.sets(1, &a, "A2"), "");
    assert_eq!(stage.keys(&a), ["first", "A1", "B1", "A2"]);
}

fn what_is_not_pushed_or_committed_yet_is_brought_by_the_line_as_well(at: At) {
    let stage = Stage::new(at);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    let (_, line) = stage.refused(2, &b);
    let there = format!("git -C {}", a.display());
    assert_eq!(
        line,
        format!("{there} commit -m 'Update {FILE}' -- {FILE} && {there} push && git pull", FILE = super::stage::FILE)
    );
    stage.commit(&a, "not pushed");
    let (_, line) = stage.refused(2, &b);
    assert_eq!(line, format!("{there} push && git pull"));
    stage.runs(&b, &line);
    stage.sets(2, &b, "B1");
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
    // A's clone has gone on to something else meanwhile; what it has pushed is there all the same.
    stage.push(&b);
    stage.git(&a, &["reset", "-q", "--hard", "HEAD~1"]);
    let (_, line) = stage.refused(1, &a);
    stage.runs(&a, &line);
    assert_eq!(stage.keys(&a), ["first", "A1", "B1"]);
}

fn two_work_trees_in_turn(at: At) {
    let stage = Stage::new(at);
    let main = stage.clone("a", &[]);
    let topic = stage.worktree(&main, "topic");
    assert_eq!(stage.sets(1, &main, "A1"), "");
    stage.push(&main);
    let (_, line) = stage.refused(2, &topic);
    assert_eq!(line, "git merge origin/main", "what one work tree has pushed all of them have");
    stage.runs(&topic, &line);
    assert_eq!(stage.sets(2, &topic, "B1"), "");
    stage.commit(&topic, "B1");
    stage.git(&main, &["merge", "-q", "topic"]);
    assert_eq!(stage.sets(1, &main, "A2"), "");
    assert_eq!(stage.keys(&main), ["first", "A1", "B1", "A2"]);
}

fn two_work_trees_with_the_newer_version_on_the_default_branch(at: At) {
    let stage = Stage::new(at);
    let main = stage.clone("a", &[]);
    let topic = stage.worktree(&main, "topic");
    stage.sets(1, &main, "A1");
    let (_, line) = stage.refused(2, &topic);
    assert!(
        line.ends_with(" && git merge main") && line.starts_with(&format!("git -C {} commit ", main.display())),
        "{line}"
    );
    stage.commit(&main, "committed");
    let (_, line) = stage.refused(2, &topic);
    assert_eq!(line, "git merge main");
    stage.runs(&topic, &line);
    stage.sets(2, &topic, "B1");
    assert_eq!(stage.keys(&topic), ["first", "A1", "B1"]);
    // From another directory, the line says where.
    stage.commit(&topic, "B1");
    stage.sets(1, &main, "A2");
}

fn a_merge_that_would_not_bring_it_is_not_named(at: At) {
    let stage = Stage::new(at);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    stage.push(&a);
    // B has changed the file by itself, so that a merge would meet a conflict; and comes back to where it was.
    stage.git(&b, &["fetch", "-q"]);
    std::fs::copy(b.join(FILE_OF_SEED), b.join("saved")).expect("saved");
    std::fs::write(b.join(FILE_OF_SEED), "conflict: 1\n").expect("written");
    stage.commit(&b, "a change of B's");
    std::fs::rename(b.join("saved"), b.join(FILE_OF_SEED)).expect("back");
    let (_, line) = stage.refused(2, &b);
    // What B has committed is nowhere else: git asks.
    assert_eq!(line, format!("git checkout HEAD -- {FILE_OF_SEED} && git merge origin/main"));
    let _it_meets = stage.world.command("sh").current_dir(&b).args(["-c", &line]).output().expect("sh");
    stage.git(&b, &["checkout", "-q", "--theirs", "--", FILE_OF_SEED]);
    stage.sets(2, &b, "B1");
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
}

const FILE_OF_SEED: &str = super::stage::FILE;

fn commits_of_one_s_own_do_not_stand_in_the_way(at: At) {
    let stage = Stage::new(at);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    std::fs::write(b.join("other"), "x").expect("written");
    stage.commit(&b, "B's own");
    stage.sets(1, &a, "A1");
    stage.push(&a);
    let (_, line) = stage.refused(2, &b);
    assert_eq!(line, "git pull --no-rebase");
    stage.runs(&b, &line);
    stage.sets(2, &b, "B1");
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
}
