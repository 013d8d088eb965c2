//! What other programs put over a SOPS file: what is known of its origin is its base.

use std::path::Path;

use super::stage::{At, FILE, Stage, ends, next, says};

/// Copies it past `locked`.
fn copy(from: &Path, to: &Path) {
    std::fs::copy(from, to).expect("copied");
}

/// `locked -n` with these words, refused as what is older; what it says to do next.
#[track_caller]
fn refused(stage: &Stage, session: u32, place: &Path, words: &[&str]) -> String {
    let said = says(stage.locked(session, place).arg("-n").args(words), 74);
    assert!(said.starts_with("REFUSED: ") && said.contains("would lose a newer one"), "{words:?}: {said}");
    next(&said)
}

#[track_caller]
fn goes(stage: &Stage, session: u32, place: &Path, words: &[&str]) -> String {
    says(stage.locked(session, place).arg("-n").args(words), 0)
}

#[test]
fn a_file_that_is_older_here_is_overwritten_by_nobody_and_the_newest_may_always_come() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    copy(&b.join(FILE), &b.join("other.yaml"));
    goes(&stage, 2, &b, &["sops", "set", "other.yaml", "[\"X\"]", "1"]);
    stage.sets(1, &a, "A1");
    stage.push(&a);
    let other = b.join("other.yaml");
    let other = other.to_str().expect("UTF-8");
    let script = format!("cat other.yaml > {FILE}");
    let lines: [&[&str]; 6] = [
        &["tee", FILE],
        &["sh", "-c", &script],
        &["sed", "-i", "s/x/y/", FILE],
        &["dd", &format!("of={FILE}"), &format!("if={other}")],
        // Made from the version that everybody began with.
        &["cp", other, FILE],
        &["mv", other, "secrets/app.yaml"],
    ];
    let before = std::fs::read(b.join(FILE)).expect("file");
    for words in lines {
        assert!(refused(&stage, 2, &b, words).contains("git "), "{words:?}");
        assert_eq!(std::fs::read(b.join(FILE)).expect("file"), before, "{words:?}");
    }
    // Who takes it away puts nothing in its place, and the newest may come in any way that is seen.
    let newest = a.join(FILE);
    assert_eq!(goes(&stage, 2, &b, &["cp", newest.to_str().expect("UTF-8"), FILE]), "");
    assert_eq!(stage.sets(2, &b, "B1"), "");
    copy(&newest, &b.join(FILE));
    assert!(goes(&stage, 2, &b, &["rm", FILE]).is_empty());
}

#[test]
fn what_is_put_over_it_is_not_older_than_what_others_have_written_there() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let saved = a.join("saved");
    copy(&a.join(FILE), &saved);
    stage.sets(1, &a, "A1");
    let line = refused(&stage, 2, &a, &["cp", "saved", FILE]);
    assert!(line.starts_with(&format!("locked sops decrypt {FILE}")), "{line}");
    assert!(goes(&stage, 2, &a, &["--accept-stale", "cp", "saved", FILE]).contains("which is recorded"));
    assert_eq!(stage.keys(&a), ["first"]);
    // What one wrote oneself one may take back; and what HEAD has had since is a revert.
    stage.sets(2, &a, "B1");
    assert!(goes(&stage, 2, &a, &["cp", "saved", FILE]).contains("was discarded"));
    stage.sets(1, &a, "A2");
    stage.commit(&a, "A2");
    assert_eq!(goes(&stage, 2, &a, &["cp", "saved", FILE]), "");
    assert_eq!(stage.keys(&a), ["first"]);
}

#[test]
fn what_a_session_has_read_is_the_base_of_what_it_puts_there_by_a_pipe() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let plain = stage.dir("plain.yaml");
    let script = format!("sops encrypt --filename-override x.yaml '{}' | tee {FILE} > /dev/null", plain.display());
    let reads = || {
        let output = std::fs::File::create(&plain).expect("plaintext");
        ends(stage.locked(1, &a).args(["sops", "decrypt", FILE]).stdout(output), 0);
    };
    stage.sets(9, &a, "CHAIN");
    reads();
    stage.sets(2, &a, "B1");
    let line = refused(&stage, 1, &a, &["sh", "-c", &script]);
    assert!(line.starts_with(&format!("locked sops decrypt {FILE}")), "{line}");
    reads();
    assert_eq!(goes(&stage, 1, &a, &["sh", "-c", &script]), "");
    // What came of it is the base of the next round.
    assert_eq!(goes(&stage, 1, &a, &["sh", "-c", &script]), "");
    assert_eq!(stage.keys(&a), ["first", "CHAIN", "B1"]);
    stage.sets(2, &a, "B2");
    refused(&stage, 1, &a, &["sh", "-c", &script]);
    assert_eq!(stage.keys(&a), ["first", "CHAIN", "B1", "B2"]);
}

#[test]
fn what_comes_by_whatever_way_is_no_older_version_of_the_file() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(9, &a, "CHAIN");
    let saved = stage.dir("saved.yaml");
    copy(&a.join(FILE), &saved);
    stage.sets(2, &a, "B1");
    let newest = std::fs::read(a.join(FILE)).expect("file");
    let from = saved.to_str().expect("UTF-8");
    // Where the line tells what comes, nothing is run.
    for line in [
        format!("locked -n tee {FILE} < {from}"),
        format!("locked -n dd of={FILE} if={from}"),
        format!("locked -n dd of={FILE} < {from}"),
        format!("locked -n sh -c 'cat {from} > {FILE}'"),
        format!("locked -n sh -c 'cat < {from} > {FILE}'"),
        format!("locked -n sh -c 'cat {from} | tee {FILE}'"),
        format!("locked -n cp {from} {FILE}"),
        format!("locked -n ln -sf {from} {FILE}"),
        format!("locked -n install -m 600 {from} {FILE}"),
    ] {
        let said = says(&mut stage.line(1, &a, &line), 74);
        assert!(said.contains("would lose a newer one"), "{line}: {said}");
        assert_eq!(std::fs::read(a.join(FILE)).expect("file"), newest, "{line}");
    }
    // Where it does not, it is seen when it has come, and nobody goes on from it.
    for line in [
        format!("locked -n sh -c 'cp {from} secrets/x && mv secrets/x {FILE}'"),
        format!("locked -n sh -c 'exec 3< {from}; cat <&3 > {FILE}'"),
        format!("locked -n sh -c 'printf %s \"$(cat {from})\" > {FILE}; echo >> {FILE}'"),
        format!("locked -n ln -sf ../../saved.yaml {FILE}"),
    ] {
        let said = says(&mut stage.line(1, &a, &line), 72);
        assert!(
            said.contains("an older version was put over the newest one: the newer one was written by "),
            "{line}: {said}"
        );
        if !a.join(FILE).is_symlink() {
            ends(&mut stage.set(3, &a, "C1"), 72);
        } else {
            // What it leads to is another file; the one that is bad is put back here.
            std::fs::remove_file(a.join(FILE)).expect("removed");
            std::fs::write(a.join(FILE), std::fs::read(&saved).expect("saved")).expect("written");
        }
        ends(stage.locked(3, &a).args(["restore", FILE]), 0);
        assert_eq!(std::fs::read(a.join(FILE)).expect("file"), newest, "{line}");
    }
    assert_eq!(stage.sets(3, &a, "C1"), "");
    // A word lets it in.
    let said = says(
        &mut stage.line(1, &a, &format!("locked -n --accept-stale sh -c 'cp {from} y.yaml && mv y.yaml {FILE}'")),
        0,
    );
    assert!(!said.contains("QUARANTINED"), "{said}");
    assert_eq!(stage.keys(&a), ["first", "CHAIN"]);
}
