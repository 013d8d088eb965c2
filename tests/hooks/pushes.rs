//! Pushes: the commits that no remote has.
#![forbid(unsafe_code)]

use super::yard::{FILE, Yard, ends, versions};

#[test]
fn a_push_is_refused_for_what_was_committed_past_the_hook() {
    let yard = Yard::new();
    yard.git(&["init", "-q", "--bare", "../o.git"]);
    yard.git(&["config", "url.../o.git.pushInsteadOf", "git@host:infra"]);
    yard.is(&["push", "-q", "origin", "main"], None);
    yard.write(FILE, &versions().second);
    yard.git(&["commit", "-q", "--no-verify", "-am", "x"]);
    yard.is(&["push", "-q", "origin", "main"], Some("locked adopt secrets/a.env"));
    yard.knows(FILE, &versions().second, Some(&versions().first));
    yard.is(&["push", "-q", "origin", "main"], None);
    // Plaintext in between stays in the history, though the last version is right.
    yard.write(FILE, b"A=1\n");
    yard.git(&["commit", "-q", "--no-verify", "-am", "plaintext"]);
    yard.write(FILE, &versions().second);
    yard.git(&["commit", "-q", "--no-verify", "-am", "right again"]);
    yard.is(&["push", "-q", "origin", "main"], Some("cannot be pushed: the file is plaintext"));
    // Versions in between that nobody can adopt any more are the past.
    yard.git(&["reset", "-q", "--hard", "HEAD^^"]);
    yard.write(FILE, &versions().other);
    yard.git(&["commit", "-q", "--no-verify", "-am", "unknown"]);
    yard.write(FILE, &versions().second);
    yard.git(&["commit", "-q", "--no-verify", "-am", "known"]);
    yard.is(&["push", "-q", "origin", "main"], None);
    // A lease in this session's hands.
    yard.write(FILE, &versions().other);
    yard.git(&["commit", "-q", "--no-verify", "-am", "unknown"]);
    yard.write(FILE, &[&*versions().other, b"E=\n"].concat());
    yard.git(&["commit", "-q", "--no-verify", "-am", "unknown"]);
    yard.is(&["push", "-q", "origin", "main"], Some("written without locked"));
    ends(yard.locked().args(["acquire", "sops:a"]), 0);
    yard.is(&["push", "-q", "origin", "main"], None);
    yard.is(&["push", "-q", "origin", ":main"], None);
}

#[test]
fn the_manager_pre_commit_tells_a_push_by_variables() {
    let yard = Yard::new();
    yard.write(FILE, b"A=1\n");
    yard.git(&["commit", "-q", "--no-verify", "-am", "x"]);
    let head = yard.git(&["rev-parse", "HEAD"]);
    let mut run = yard.locked();
    run.args(["hooks", "run", "pre-push"])
        .env("PRE_COMMIT_TO_REF", head.trim())
        .env("PRE_COMMIT_REMOTE_NAME", "origin");
    let said = super::yard::says(&mut run, 72);
    assert!(said.contains("cannot be pushed: the file is plaintext"), "{said}");
}
