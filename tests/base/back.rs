//! A version that is not in the file just now, and still is somebody's: it comes back, the file is taken away or emptied, or it
//! waits in the index.

use super::stage::{At, FILE, Stage, next, says};

/// What another session does after the reading; `$X` is a place for a copy.
type Between = (&'static str, &'static str);

const APART: &str =
    "echo 'own: 1' >> $P; locked -n sops encrypt --filename-override x.yaml --output secrets/app.yaml $P";
const IN_PLACE: &str = "echo 'own: 1' >> $P; cp $P secrets/app.yaml; locked -n sops encrypt -i secrets/app.yaml";

/// Session 1 reads at the end of `before`, and encrypts by `line` after `between`: it is refused, the line that is named brings the
/// version of session 2 back, and what is read then goes.
#[track_caller]
fn refused(before: &str, (story, between): Between, line: &str) {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(9, &a, "CHAIN");
    stage.commit(&a, "chain");
    let with = |line: &str| format!("P=../plain.yaml; X=../other.yaml; F={FILE}; {line}");
    let set = format!("locked -n sops set {FILE} '[\"ka\"]' 1");
    if !before.is_empty() {
        stage.follows(2, &a, &with(&format!("{set} && {before}")));
    }
    stage.follows(1, &a, &with("locked sops decrypt $F > $P"));
    let between = if before.is_empty() { format!("{set} && {between}") } else { between.to_owned() };
    stage.follows(2, &a, &with(&between));
    let said = says(&mut stage.line(1, &a, &with(line)), 74);
    assert!(said.contains("the plaintext for"), "{story}, {line}: {said}");
    stage.follows(1, &a, &with(&format!("{} > $P", next(&said))));
    assert_eq!(stage.keys(&a), ["first", "CHAIN", "ka"], "{story}, {line}: {said}");
    stage.follows(1, &a, &with(line));
    assert_eq!(stage.keys(&a), ["first", "CHAIN", "ka", "own"], "{story}, {line}");
}

#[test]
fn a_version_that_went_away_and_came_back_is_not_discarded() {
    for line in [APART, IN_PLACE] {
        refused("git stash -q", ("a stash that is taken out again", "git stash pop -q"), line);
    }
    refused("cp $F $X && git checkout -q -- $F", ("a copy", "cat $X > $F"), APART);
    refused("cp $F $X && git checkout -q -- $F", ("a copy", "cat $X > $F"), IN_PLACE);
}

#[test]
fn a_file_that_is_not_there_or_empty_takes_no_older_plaintext() {
    for between in [
        ("removed", "git commit -qam ka && rm $F"),
        ("removed and not committed", "rm $F"),
        ("moved away", "git commit -qam ka && mv $F $X"),
        ("emptied", "git commit -qam ka && : > $F"),
        ("renamed", "git commit -qam ka && git mv $F secrets/other.yaml"),
        ("removed under a lease", "git commit -qam ka && locked -n rm $F"),
    ] {
        refused("", between, APART);
    }
}

#[test]
fn what_is_staged_is_not_discarded() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(9, &a, "CHAIN");
    stage.commit(&a, "chain");
    let b = stage.worktree(&a, "other");
    stage.git(&b, &["checkout", "-q", "--detach"]);
    let old = std::fs::read(a.join(FILE)).expect("the file");
    let over = || std::fs::write(a.join(FILE), &old).expect("put over");
    stage.sets(1, &a, "ka");
    stage.git(&a, &["add", FILE]);
    over();
    let (_, line) = stage.refused(2, &a);
    assert_eq!(line, format!("git checkout -- {FILE}"));
    // From another work tree of the same branch.
    stage.git(&a, &["checkout", "-q", "--detach"]);
    stage.git(&b, &["checkout", "-q", "main"]);
    stage.git(&a, &["checkout", "-q", "--ignore-other-worktrees", "main"]);
    let (said, line) = stage.refused(2, &b);
    assert_eq!(line, format!("git -C {} status", a.display()), "{said}");
    stage.runs(&a, &format!("git checkout -- {FILE}"));
    assert_eq!(stage.sets(2, &a, "kb"), "");
    assert_eq!(stage.keys(&a), ["first", "CHAIN", "ka", "kb"]);
    // What is staged no more is.
    over();
    stage.git(&a, &["reset", "-q"]);
    assert!(stage.sets(2, &a, "kc").contains("a newer version was discarded"));
}
